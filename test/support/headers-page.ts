/** The tables of docs/headers.md: what clients may send, what they get, and what is between our own processes. */
import { markdownTable } from "./reference-page.js";

/** What a stream that begins early cannot say. */
const EARLY = "; absent if the stream began before the upstream answered (`stream_head_ms`)";

export interface DocumentedHeader {
  readonly name: string;
  readonly what: string;
}

export const ASKED: readonly DocumentedHeader[] = [
  { name: "authorization", what: "`Bearer sk-...`: the API key" },
  { name: "x-api-key", what: "the API key, as Anthropic's clients send it" },
  { name: "x-goog-api-key", what: "the API key, as Gemini's clients send it; the query parameter `key` also works" },
  {
    name: "idempotency-key",
    what:
      "your own id of the request; a request with the same id within 24 hours gets the first answer and is not " +
      "charged again",
  },
  {
    name: "x-tollgate-resumable",
    what: "`1`: numbers the events of the stream, so that you can resume it after a lost connection",
  },
  { name: "last-event-id", what: "when you resume a stream: the id of the last event that you received" },
  {
    name: "x-tollgate-clamp",
    what:
      "what happens if the balance does not cover the output limit: `1` lowers the limit, `0` refuses the request; " +
      "default: the setting of the key",
  },
  {
    name: "x-tollgate-timeout",
    what:
      "the longest that the request may take, such as `500ms`, `30s` or `5m`; it can only shorten the timeout of the " +
      "model ([routing.md](routing.md))",
  },
  {
    name: "x-tollgate-require",
    what:
      "what the request demands of its target, such as `region=eu, retention=none, trains=no`; it can only tighten the " +
      "demands of the key and the account ([routing.md](routing.md))",
  },
  {
    name: "x-tollgate-match-",
    what:
      "with any name behind it: headers by which your operator can keep targets for some requests " +
      "([routing.md](routing.md))",
  },
  { name: "user-agent", what: "the client program, for reports; over gRPC send `x-tollgate-client`" },
  {
    name: "traceparent",
    what: "the trace that the request belongs to; the gateway also reads `tracestate` ([traces.md](traces.md))",
  },
  { name: "x-tollgate-tags", what: "your own tags for reports, such as `team=search,env=prod`" },
  { name: "x-tollgate-user", what: "your end user, for reports" },
  {
    name: "x-tollgate-conversation",
    what:
      "the session that the request belongs to; over HTTP the gateway also reads the session headers of known clients " +
      "([records.md](records.md))",
  },
  { name: "x-claude-code-session-id", what: "the session, as Claude Code sends it" },
  { name: "x-session-affinity", what: "the session, as opencode sends it" },
  { name: "x-opencode-session", what: "the session, as opencode sends it to its own models" },
  { name: "x-session-id", what: "the session, as OpenRouter defines it" },
  { name: "x-client-request-id", what: "your own id of the request, for reports" },
  {
    name: "x-tollgate-log",
    what:
      "`none`: the gateway stores no content of the request, and no end user, tags, session, address or client " +
      "request id ([records.md](records.md))",
  },
  { name: "x-tollgate-account", what: "the account in which a signed-in person acts" },
  {
    name: "x-tollgate-console",
    what: "`1`: sent by pages of the console; a session cookie is accepted only together with it",
  },
  {
    name: "x-stainless-retry-count",
    what: "sent by the official SDKs with an automatic retry; the retry then waits for the answer of the lost attempt",
  },
  {
    name: "x-forwarded-for",
    what: "the client's address; used only if a proxy in `TOLLGATE_TRUSTED_PROXIES` sends it",
  },
];

export const ANSWERED: readonly DocumentedHeader[] = [
  { name: "x-request-id", what: "the id of the request, in the log and in `/api/v1/requests/{id}`" },
  { name: "x-tollgate-reason", what: "errors: the reason, one of [errors.md](errors.md)" },
  {
    name: "x-should-retry",
    what: "errors: whether a client should retry automatically; `false` if an upstream asks to wait over a minute",
  },
  { name: "retry-after", what: "errors: the seconds to wait before a retry" },
  { name: "retry-after-ms", what: "errors: the same in milliseconds" },
  {
    name: "x-ratelimit-limit-requests",
    what: "the limit that is closest to being reached; `x-ratelimit-limit-tokens` for tokens",
  },
  { name: "x-ratelimit-remaining-requests", what: "how much of that limit remains; `-tokens` for tokens" },
  {
    name: "x-ratelimit-reset-requests",
    what: "the time until all of that limit is available again, such as `1.2s`; `-tokens` for tokens",
  },
  {
    name: "anthropic-ratelimit-requests-limit",
    what:
      "the same limit, as Anthropic's clients read it; also `-remaining`, and `-reset` as a time; `-tokens-` for " +
      "tokens. If the upstream sets `unified_limits: pass`, Anthropic's clients also get the limits of the " +
      "operator's own account as `anthropic-ratelimit-unified-`, and other clients as `x-ratelimit-unified-`",
  },
  {
    name: "x-tollgate-degraded",
    what:
      "`limits`: this node cannot reach the store of the limits that nodes share, so it enforces its own share of " +
      "each limit",
  },
  {
    name: "x-tollgate-upstream",
    what: "the upstream that answered" + EARLY,
  },
  {
    name: "x-tollgate-model",
    what: "the model that the gateway requested from the upstream, by the upstream's name" + EARLY,
  },
  {
    name: "x-tollgate-attempts",
    what: "the number of attempts at upstreams" + EARLY,
  },
  {
    name: "x-tollgate-overhead-ms",
    what: "the gateway's own time before it called the upstream" + EARLY,
  },
  {
    name: "x-tollgate-cost-nanos",
    what: "the cost of the request in nano-USD (10^-9 USD), if it is known before the answer begins",
  },
  { name: "x-tollgate-clamped", what: "the output limit that the gateway set because the balance covers no more" },
  { name: "x-tollgate-quota", what: "the fullest quota that reached its `warn_percent`, and when it starts again" },
  { name: "x-tollgate-dropped", what: "the parameters that the upstream does not support and that were removed" },
  { name: "x-tollgate-token-count", what: "token counts: `exact` or `estimated`" },
  {
    name: "x-tollgate-pending-seconds",
    what: "changes: the change is stored, and takes effect on every node within that many seconds",
  },
  {
    name: "x-tollgate-lost-attempt",
    what: "retries: the id of the earlier attempt, which was charged too because its answer was too large to store",
  },
  { name: "x-tollgate-original-request", what: "repeated answers: the id of the first request, which ran" },
  { name: "idempotent-replayed", what: "`true`: this is the answer of an earlier request with the same key" },
  { name: "x-tollgate-next-page-token", what: "CSV pages: the `page_token` of the next page" },
];

/** What no client sends or sees: between our own processes, to upstreams, and for browsers and proxies. */
export const OTHERS: readonly string[] = [
  "x-accel-buffering",
  "x-ai",
  "x-amz-content-sha256",
  "x-amzn-errortype",
  "x-anthropic-billing-header",
  "x-content-type-options",
  "x-frame-options",
  "x-identity-header",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-tokens",
  "x-tollgate-client-address",
  "x-tollgate-client",
  "x-tollgate-front",
  "x-tollgate-route",
  "x-tollgate-path-model",
  "x-tollgate-path-stream",
];

/** Everything below the head of the page. */
export function headersPage(): string {
  const table = (rows: readonly DocumentedHeader[]): string =>
    markdownTable(
      ["header", "meaning"],
      rows.map(({ name, what }) => [`\`${name}\``, what]),
    );
  return `## Request headers\n\n${table(ASKED)}\n## Response headers\n\n${table(ANSWERED)}`;
}

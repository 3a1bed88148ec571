/** The tables of docs/headers.md: what clients may send, what they get, and what is between our own processes. */
import { markdownTable } from "./reference-page.js";

export interface DocumentedHeader {
  readonly name: string;
  readonly what: string;
}

export const ASKED: readonly DocumentedHeader[] = [
  { name: "authorization", what: "`Bearer sk-...`: the key" },
  { name: "x-api-key", what: "the key, as Anthropic's clients send it" },
  { name: "x-goog-api-key", what: "the key, as Gemini's clients send it; the query `key` too" },
  { name: "idempotency-key", what: "the request runs and is paid once, however often it is sent within 24 hours" },
  {
    name: "x-tollgate-resumable",
    what: "`1`: the events of a stream are numbered, and it can be read on after a lost connection",
  },
  { name: "last-event-id", what: "the last event that came, where a stream is read on" },
  {
    name: "x-tollgate-clamp",
    what: "`1` lowers an output limit that the money does not cover, `0` refuses; default: as the key says",
  },
  { name: "user-agent", what: "which program asks, for reports; over gRPC `x-tollgate-client`" },
  { name: "traceparent", what: "the trace that the request belongs to ([traces.md](traces.md)); `tracestate` too" },
  { name: "x-tollgate-tags", what: "what the request is for: `team=search,env=prod`" },
  { name: "x-tollgate-user", what: "the person behind the request, for reports" },
  {
    name: "x-tollgate-conversation",
    what: "the session that the request belongs to; over HTTP those of clients are read too ([records.md](records.md))",
  },
  { name: "x-claude-code-session-id", what: "the same, as Claude Code sends it" },
  { name: "x-session-affinity", what: "the same, as opencode sends it" },
  { name: "x-opencode-session", what: "the same, as opencode sends it to its own models" },
  { name: "x-session-id", what: "the same, as OpenRouter has it" },
  { name: "x-client-request-id", what: "the client's own id of the request, for reports" },
  {
    name: "x-tollgate-log",
    what: "`none`: neither what the request says nor whom it is for is kept ([records.md](records.md))",
  },
  { name: "x-tollgate-account", what: "the account in which a signed-in person acts" },
  { name: "x-tollgate-console", what: "`1`: that a page of the console asks; without it no session is taken" },
  { name: "x-stainless-retry-count", what: "what SDKs send with a retry, which waits for the attempt that was lost" },
  { name: "x-forwarded-for", what: "the client's address, from proxies of `TOLLGATE_TRUSTED_PROXIES` alone" },
];

export const ANSWERED: readonly DocumentedHeader[] = [
  { name: "x-request-id", what: "the id of the request, by which it stands in the log and in `/api/v1/requests/{id}`" },
  { name: "x-tollgate-reason", what: "of a refusal: why, as [errors.md](errors.md) lists it" },
  {
    name: "x-should-retry",
    what: "of a refusal: whether a client should try again by itself; not where upstreams cause a wait over a minute",
  },
  { name: "retry-after", what: "of a refusal: the seconds to wait" },
  { name: "retry-after-ms", what: "the same in milliseconds" },
  { name: "x-ratelimit-limit-requests", what: "the limit that is nearest; `-tokens` too" },
  { name: "x-ratelimit-remaining-requests", what: "what is left of it; `-tokens` too" },
  { name: "x-ratelimit-reset-requests", what: "when it is whole again, such as `1.2s`; `-tokens` too" },
  {
    name: "anthropic-ratelimit-requests-limit",
    what:
      "the same for clients of messages; `-remaining`, `-reset` as a time, and `-tokens-` too; `-unified-` are the " +
      "limits of the operator's own account, where `unified_limits` of the upstream says so, and for other clients " +
      "`x-ratelimit-unified-`",
  },
  { name: "x-tollgate-degraded", what: "`limits`: this node counts its share alone, since what nodes share is away" },
  { name: "x-tollgate-upstream", what: "which upstream answered" },
  {
    name: "x-tollgate-model",
    what: "the model that the upstream was asked for, by the upstream's name; absent where a stream began early",
  },
  { name: "x-tollgate-attempts", what: "how many attempts at upstreams it took" },
  { name: "x-tollgate-overhead-ms", what: "the gateway's own time until the upstream was asked" },
  {
    name: "x-tollgate-cost-nanos",
    what: "what the request cost, in nano-USD, where that is known before the answer begins",
  },
  { name: "x-tollgate-clamped", what: "the output limit that the money covers, where it was lowered to that" },
  { name: "x-tollgate-dropped", what: "the parameters that the upstream has no place for" },
  { name: "x-tollgate-token-count", what: "of counted tokens: `exact` or `estimated`" },
  { name: "x-tollgate-pending-seconds", what: "of a change: it is durable, and holds on every node within that time" },
  {
    name: "x-tollgate-lost-attempt",
    what: "the attempt before that was charged, where its answer was too large to wait",
  },
  { name: "x-tollgate-original-request", what: "of an answer that came again: the request that ran" },
  { name: "idempotent-replayed", what: "`true`: the answer is that of an earlier request with the same key" },
  { name: "x-tollgate-next-page-token", what: "of a CSV page: what asks for the next" },
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
      ["header", "what it says"],
      rows.map(({ name, what }) => [`\`${name}\``, what]),
    );
  return `## Of requests\n\n${table(ASKED)}\n## Of answers\n\n${table(ANSWERED)}`;
}

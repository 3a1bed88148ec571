/** The metadata by which a client, or a front end for it, says what a request is for and who sends it. */

/** Which program asks. It is its own word, and nothing is allowed for it. */
export const CLIENT_HEADER = "x-tollgate-client";
export const TAGS_HEADER = "x-tollgate-tags";
/** The person behind the request. */
export const USER_HEADER = "x-tollgate-user";
/** What the request belongs to, as the client names it. It is no person's session. */
export const CONVERSATION_HEADER = "x-tollgate-conversation";
/**
 * The same in the headers of known clients. The first of them that came with a session is the request's, and
 * `x-tollgate-conversation` goes before all.
 */
export const CONVERSATION_HEADERS = [
  // OpenRouter's.
  "x-session-id",
  // Claude Code.
  "x-claude-code-session-id",
  // Codex: the run, then the conversation in it. Older releases wrote it with a line below.
  "session-id",
  "session_id",
  "thread-id",
  // opencode, to models of others and to its own.
  "x-session-affinity",
  "x-opencode-session",
] as const;
/** The client's own id of the request. */
export const CLIENT_REQUEST_HEADER = "x-client-request-id";
/** `none`: neither what the request says nor whom it is for is kept. */
export const LOG_HEADER = "x-tollgate-log";
/** What the request demands of its target, such as `region=eu, retention=none, trains=no`. */
export const REQUIRE_HEADER = "x-tollgate-require";
/** Headers by which targets may be kept for some requests. */
export const MATCH_HEADER_PREFIX = "x-tollgate-match-";
export const MATCH_HEADER = new RegExp(`^${MATCH_HEADER_PREFIX}[a-z0-9-]{1,47}$`);
/** The route of HTTP that a front end of ours took a request by. From anybody else it says nothing. */
export const ROUTE_HEADER = "x-tollgate-route";
/** That a page of the console asks. No form and no link can send it, and no script of another origin may. */
export const CONSOLE_HEADER = "x-tollgate-console";
/** Whoever asks again with the same key gets the same answer. */
export const IDEMPOTENCY_HEADER = "idempotency-key";

/**
 * What records say of a request beside what it asks: by the header that a client sends, the name that the service reads
 * it under. Of two that mean the same the first stands.
 */
export const RECORD_HEADERS = [
  ["user-agent", CLIENT_HEADER],
  [CLIENT_REQUEST_HEADER, CLIENT_REQUEST_HEADER],
  [TAGS_HEADER, TAGS_HEADER],
  [USER_HEADER, USER_HEADER],
  [CONVERSATION_HEADER, CONVERSATION_HEADER],
  ...CONVERSATION_HEADERS.map((name) => [name, CONVERSATION_HEADER] as const),
  [LOG_HEADER, LOG_HEADER],
  [REQUIRE_HEADER, REQUIRE_HEADER],
  // Of W3C Trace Context.
  ["traceparent", "traceparent"],
  ["tracestate", "tracestate"],
] as const;

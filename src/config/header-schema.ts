/** The headers that an upstream gets with each request, as settings say them: a line for each, as in HTTP. */
import { reading } from "./values.js";

const LINES_MAX = 20;
const CHARACTERS_MAX = 4_096;
const LINE = /^([A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}):[ \t]*([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)[ \t]*$/;

/** What the gateway writes itself, or what decides how a message is read. */
const OWN: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "anthropic-version",
  "api-key",
  "authorization",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "te",
  "traceparent",
  "tracestate",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "x-api-key",
  "x-goog-api-key",
]);

const RULE =
  `must be 1 to ${LINES_MAX} lines such as "X-Team: blue", each header once, without those that the gateway writes ` +
  "itself, such as Authorization, Host and Content-Length";

/**
 * By their names, in lower case. All of it is a secret: a header may be a credential. `unchangedBy`: the fields that do
 * not change where it goes.
 */
export function upstreamHeaders(unchangedBy: readonly string[]) {
  return reading(RULE, parseHeaders, { type: "string" }, { secret: { isSent: true, unchangedBy: [...unchangedBy] } });
}

function parseHeaders(text: string): Readonly<Record<string, string>> | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (text.length > CHARACTERS_MAX || lines.length === 0 || lines.length > LINES_MAX) return undefined;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, written = "", value = ""] = LINE.exec(line.trim()) ?? [];
    const name = written.toLowerCase();
    if (name === "" || OWN.has(name) || Object.hasOwn(headers, name)) return undefined;
    headers[name] = value;
  }
  return headers;
}

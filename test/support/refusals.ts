/** Refusals as each family's upstream would word them: with a code where the wire has its place, or in words alone. */
import type { Family } from "../../src/families/family.js";

export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What a hostile client may make an upstream repeat. */
export const HOSTILE_WORDS = [
  "Insufficient Balance",
  "insufficient_quota",
  "Your credit balance is too low",
  "You exceeded your current quota, billing hard limit reached",
  "invalid_api_key: Incorrect API key provided",
  "API key not valid API_KEY_INVALID UNAUTHENTICATED",
  "authentication_error: invalid x-api-key",
  "ExpiredTokenException: The security token included in the request is expired",
  "model_not_found: The provided model identifier is invalid.",
  "rate limit reached, try again in 3600s",
] as const;

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));

/** The words in the sentence, in what it is about, and in whatever else an upstream repeats; in no code's place. */
export function inWords(family: Family, status: number, words: string): Refusal {
  const echo = { message: words, param: words, input: words, echoed: { code: words, type: words, reason: words } };
  switch (family.wire.name) {
    case "anthropic":
      return { status, headers: {}, body: json({ type: "error", error: { type: "", ...echo }, request_id: words }) };
    case "gemini": {
      const violation = { fieldViolations: [{ field: words, description: words, reason: words }] };
      const details = [{ "@type": "type.googleapis.com/google.rpc.BadRequest", ...violation, reason: words }];
      return { status, headers: {}, body: json({ error: { code: status, status: "", details, ...echo } }) };
    }
    case "bedrock-converse":
      return { status, headers: {}, body: json({ ...echo }) };
    default:
      return { status, headers: {}, body: json({ error: { type: null, code: null, ...echo } }) };
  }
}

/** The code where the wire has its place. */
export function withCode(family: Family, status: number, code: string, message = "Told."): Refusal {
  switch (family.wire.name) {
    case "anthropic": {
      const isType = code.endsWith("_error");
      const error = { type: isType ? code : "rate_limit_error", message, details: { error_code: isType ? "" : code } };
      return { status, headers: {}, body: json({ type: "error", error }) };
    }
    case "gemini": {
      const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: code, domain: "googleapis.com" }];
      return { status, headers: {}, body: json({ error: { code: status, message, status: code, details } }) };
    }
    case "bedrock-converse":
      return { status, headers: { "x-amzn-errortype": code }, body: json({ message }) };
    default:
      return { status, headers: {}, body: json({ error: { message, type: code, param: null, code } }) };
  }
}

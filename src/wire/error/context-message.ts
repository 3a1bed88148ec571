/** How a client's wire words an input that is too long for the model. */
import type { GatewayError } from "../../base/errors.js";
import { wordsIn } from "./server-words.js";

export interface ContextWording {
  /** The sentence with how many tokens the request has, and how many it may have. */
  counted(actual: string, limit: string): string;
  /** Its beginning where nobody told them. */
  readonly uncounted: string;
}

/** The message of a refusal: of one of the context in the wire's own words, where it does not hold `known` already. */
export function contextMessage(error: GatewayError, known: RegExp, wording: ContextWording): string {
  const { message, metadata, reason } = error;
  if (reason !== "ERROR_REASON_CONTEXT_TOO_LONG" || known.test(message)) return message;
  const { actual, limit } = metadata["actual"] === undefined ? (wordsIn(message) ?? {}) : metadata;
  return actual === undefined || limit === undefined
    ? `${wording.uncounted}: ${message}`
    : wording.counted(actual, limit);
}

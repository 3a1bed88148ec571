/** The most that a request may have of each thing, in every client format and in the typed form. */
import type { GatewayError } from "../../base/errors.js";
import { wrongValue } from "../json/node.js";

export const MODEL_CHARACTERS_MAX = 256;
/** No upstream takes as many messages or tools. */
export const MESSAGES_MAX = 20_000;
export const TOOLS_MAX = 2_000;

/** The refusal of more messages than are read. */
export function tooManyMessages(param: string): GatewayError {
  return wrongValue(param, `it must hold at most ${MESSAGES_MAX} messages`);
}

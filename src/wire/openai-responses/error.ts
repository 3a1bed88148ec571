/** Our refusal of one message of a WebSocket. All else of errors is as in every wire of OpenAI's. */
import type { GatewayError } from "../../base/errors.js";
import { codeOf } from "../error/code.js";
import { messageOf, typeOf } from "../openai/error.js";

/** Our refusal of one message, as the event that clients know: some read the one form of it, some the other. */
export function encodeRefusal(error: GatewayError, headers: Readonly<Record<string, string>>): Buffer {
  const { param, http } = error;
  const message = messageOf(error);
  const [type, code] = [typeOf(error), codeOf(error)];
  const told = { code, message, param, sequence_number: 0 };
  return Buffer.from(
    JSON.stringify({ type: "error", status: http, ...told, error: { type, code, message, param }, headers }),
  );
}

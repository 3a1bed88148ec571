/** Writes what the gateway itself says in a stream of events. */
import type { GatewayError } from "../../../base/errors.js";
import { eventText } from "../../events/writer.js";
import { encodeError } from "../../openai/error.js";
import type { SourceBody } from "../../wire.js";
import { scanRequest } from "../request/scan.js";

/** The event that says why a stream ends early; undefined for a client that reads bytes, which have no place for it. */
export function failureEvent(source: SourceBody, error: GatewayError): Buffer | undefined {
  if (!scanRequest(source.body).wantsEvents) return undefined;
  return Buffer.from(eventText("error", encodeError(error).body.toString()));
}

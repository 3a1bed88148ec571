/** What a call tells of the device that somebody signs in from. */
import { USER_AGENT_HEADER } from "../../api/session-headers.js";
import type { Device } from "../../identity/new-session.js";
import type { ServiceCall } from "../call/handler.js";

export function deviceOf({ address, metadata }: ServiceCall, userAgent: string): Device {
  return { address, userAgent: metadata[USER_AGENT_HEADER] ?? userAgent };
}

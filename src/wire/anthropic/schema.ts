/** Names and shapes of the wire: what the other side says, before any of it is believed. */

export const WIRE_NAME = "anthropic";
export const VERSION_HEADER = "anthropic-version";
export const BETA_HEADER = "anthropic-beta";

/** The version that clients speak where they name none, and that we speak to upstreams for clients of other wires. */
export const VERSION_DEFAULT = "2023-06-01";
/** The version that has no sampling, no documents of the model's, and no citations of the user's. */
export const VERSION_STRICT = "2026-10-21";
export const VERSIONS: readonly string[] = [VERSION_DEFAULT, VERSION_STRICT];

/** One event as the wire has it: its name twice. */
export function eventText(type: string, json: string): string {
  return `event: ${type}\ndata: ${json}\n\n`;
}

export const STREAM_END = Buffer.from(eventText("message_stop", '{"type":"message_stop"}'));
export const HEARTBEAT = Buffer.from(eventText("ping", '{"type":"ping"}'));

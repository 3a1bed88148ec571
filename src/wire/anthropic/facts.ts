/** The facts of the wire: its name, headers and versions, and the events that are always the same. */
import { eventBytes } from "../events/writer.js";

export const WIRE_NAME = "anthropic";
export const VERSION_HEADER = "anthropic-version";
export const BETA_HEADER = "anthropic-beta";

/** The version that clients speak where they name none, and that we speak to upstreams for clients of other wires. */
export const VERSION_DEFAULT = "2023-06-01";
/** The version that has no sampling, no documents of the model's, and no citations of the user's. */
export const VERSION_STRICT = "2026-10-21";
export const VERSIONS: readonly string[] = [VERSION_DEFAULT, VERSION_STRICT];

export const LAST_EVENT = { name: "message_stop", json: '{"type":"message_stop"}' } as const;
export const STREAM_END = eventBytes(LAST_EVENT.name, LAST_EVENT.json);
export const HEARTBEAT = eventBytes("ping", '{"type":"ping"}');

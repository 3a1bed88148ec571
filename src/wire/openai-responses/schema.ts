/** Names and shapes of the wire: what the other side says, before any of it is believed. */

export const WIRE_NAME = "openai-responses";

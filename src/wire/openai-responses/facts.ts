/** The name that the wire goes by. */

export const WIRE_NAME = "openai-responses";

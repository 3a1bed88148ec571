/** What is fixed of the wire. */

export const WIRE_NAME = "openai-moderations";
/** What OpenAI takes where a request names no model. */
export const MODEL_DEFAULT = "omni-moderation-latest";

/** How clients of OpenAI's responses have a long conversation made short. */
import { compaction as wire } from "../wire/openai-responses/index.js";
import type { Format } from "./format.js";

export const openaiCompaction: Format = {
  name: "openai-compaction",
  wire,
  routes: [{ method: "POST", path: "/v1/responses/compact", kind: "generate" }],
  wireHeaders: () => ({}),
  recognises: () => false,
  encodeError: (error) => wire.encodeError(error),
  replyHeaders: () => ({}),
};

/** Writes the vectors as their client asked for them. */
import type { EmbedResponse } from "../../../api/index.js";
import { NO_USAGE } from "../../../api/usage.js";
import type { WireRequest } from "../../wire.js";
import { vectorText } from "./write-vector.js";

/** Writes the vectors as their client asked for them. */
export function encodeAnswer(answer: EmbedResponse, asked: WireRequest): Buffer {
  const encoding = asked.embedding?.encoding ?? "float";
  const data = answer.embeddings.map(
    ({ values }, index) => `{"object":"embedding","index":${index},"embedding":${vectorText(values, encoding)}}`,
  );
  const { inputTokens = 0n, cacheReadTokens = 0n } = answer.usage ?? NO_USAGE;
  const tokens = Number(inputTokens + cacheReadTokens);
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  const model = JSON.stringify(answer.model);
  return Buffer.from(`{"object":"list","data":[${data.join(",")}],"model":${model},"usage":${JSON.stringify(usage)}}`);
}

/** Whole answers for a client: the item that stands for the conversation from then on. */
import type { Answer } from "../../../../api/index.js";
import { GatewayError } from "../../../../base/errors.js";
import { listOf, objectOf, parsed } from "../../../json/value.js";
import { encodeAnswer as encodeResponse } from "../../answer/write.js";
import type { WireRequest } from "../../../wire.js";

/** Throws UPSTREAM_FAILED where the model wrote no summary: the client must not lose its conversation. */
export function encodeAnswer(answer: Answer, asked?: () => WireRequest): Buffer {
  const { id, created_at, output, usage } = objectOf(parsed(encodeResponse(answer, asked).toString())) ?? {};
  if (listOf(output).length === 0) {
    const metadata = { model: asked?.().facts.model ?? "", problem: "the model wrote no whole summary" };
    throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED", metadata);
  }
  return Buffer.from(JSON.stringify({ id, object: "response.compaction", created_at, output, usage }));
}

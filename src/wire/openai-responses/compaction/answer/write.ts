/** Whole answers for a client: the summary that a model wrote, as a message that any model reads. */
import type { Answer } from "../../../../api/index.js";
import { GatewayError } from "../../../../errors.js";
import { type JsonObject, listOf, objectOf, parsed, textOf } from "../../../json/value.js";
import { encodeAnswer as encodeResponse } from "../../answer/write.js";
import type { WireRequest } from "../../../wire.js";

/** So that nobody takes it for what the model said in its turn. */
const HEADING = "Summary of the conversation so far:\n\n";

/** Throws UPSTREAM_FAILED where the model wrote nothing: the client must not lose its conversation. */
export function encodeAnswer(answer: Answer, asked?: () => WireRequest): Buffer {
  const response = objectOf(parsed(encodeResponse(answer, asked).toString())) ?? {};
  const output = listOf(response["output"]).map(objectOf).filter(isMessage).map(headed);
  if (output.length === 0) {
    const metadata = { model: asked?.().facts.model ?? "", problem: "the model wrote no summary" };
    throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED", metadata);
  }
  const { id, created_at, usage } = response;
  return Buffer.from(JSON.stringify({ id, object: "response.compaction", created_at, output, usage }));
}

function isMessage(item: JsonObject | undefined): item is JsonObject {
  return item?.["type"] === "message";
}

/** The first of them with the heading before its text. */
function headed(item: JsonObject, place: number): JsonObject {
  const [first, ...others] = listOf(item["content"]);
  const part = objectOf(first);
  if (place > 0 || part?.["type"] !== "output_text") return item;
  return { ...item, content: [{ ...part, text: HEADING + textOf(part["text"]) }, ...others] };
}

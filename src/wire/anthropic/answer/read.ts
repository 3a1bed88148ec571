/** Reads whole answers. */
import { upstreamFailed } from "../../error/refusals.js";
import { type JsonNode, readTree } from "../../json/node.js";
import { type JsonObject, listOf, objectOf, parsed } from "../../json/value.js";
import type { DecodedAnswer, WireRequest } from "../../wire.js";
import { AnswerReader } from "./read-steps.js";
import { decodeToldError } from "../error.js";

/** Reads a whole answer. Throws the error that it tells, and UPSTREAM_FAILED where it is no answer. */
export function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  const answer = objectOf(parsed(body.toString()));
  if (answer === undefined) throw upstreamFailed("its answer is no JSON object");
  if (answer["type"] === "error" || objectOf(answer["error"]) !== undefined) throw decodeToldError(answer["error"]);
  if (!Array.isArray(answer["content"])) throw upstreamFailed("its answer holds no content");
  const report = read(answer, [], new AnswerReader(false, asked));
  return { report, events: () => read(answer, inputsOf(body), new AnswerReader(true, asked)).takeEvents() };
}

function read(answer: JsonObject, inputs: readonly (string | undefined)[], reader: AnswerReader): AnswerReader {
  reader.start(answer);
  for (const [index, block] of listOf(answer["content"]).entries())
    reader.block(index, objectOf(block) ?? {}, inputs[index]);
  reader.noteUsage(answer["usage"]);
  reader.noteEnd(answer);
  // A body that can be read at all is whole, whatever reasons it gives.
  reader.finish();
  return reader;
}

/** The inputs of calls as the upstream wrote them: no double holds all of their numbers. */
function inputsOf(body: Buffer): (string | undefined)[] {
  let content: JsonNode | undefined;
  try {
    content = readTree(body).members.get("content");
  } catch {
    // What the strict reader refuses is told as it was parsed.
  }
  return content?.items.map((block) => block.members.get("input")?.raw()) ?? [];
}

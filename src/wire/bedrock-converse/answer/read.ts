/** Reads whole answers. */
import { upstreamFailed } from "../../error/refusals.js";
import { type JsonNode, readTree } from "../../json/node.js";
import { objectOf, parsed } from "../../json/value.js";
import type { DecodedAnswer, WireRequest } from "../../wire.js";
import { AnswerReader } from "./read-steps.js";

/** Reads a whole answer. Throws UPSTREAM_FAILED where it is none. */
export function decodeAnswer(body: Buffer, asked: WireRequest | undefined, ids: () => string): DecodedAnswer {
  const answer = objectOf(parsed(body.toString()));
  if (answer === undefined) throw upstreamFailed("its answer is no JSON object");
  const content = objectOf(objectOf(answer["output"])?.["message"])?.["content"];
  if (!Array.isArray(content)) throw upstreamFailed("its answer holds no content");
  const read = (isTyped: boolean): AnswerReader => {
    const reader = new AnswerReader(isTyped, asked, ids);
    reader.readWhole(answer, content, isTyped ? inputsOf(body) : []);
    return reader;
  };
  return { report: read(false), events: () => read(true).takeEvents() };
}

/** The inputs of calls as the upstream wrote them: no double holds all of their numbers. */
function inputsOf(body: Buffer): (string | undefined)[] {
  let content: JsonNode | undefined;
  try {
    content = readTree(body).members.get("output")?.members.get("message")?.members.get("content");
  } catch {
    // What the strict reader refuses is told as it was parsed.
  }
  return content?.items.map((block) => block.members.get("toolUse")?.members.get("input")?.raw()) ?? [];
}

/** Reads whole answers. */
import type { GatewayError } from "../../../base/errors.js";
import { upstreamFailed } from "../../error/refusals.js";
import { type JsonObject, objectOf, parsed } from "../../json/value.js";
import type { DecodedAnswer, WireRequest } from "../../wire.js";
import { AnswerReader } from "./read-steps.js";

/** Reads a whole answer. Throws the error that it tells, and UPSTREAM_FAILED where it is no answer. */
export function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  const value = parsed(body.toString());
  const chunks = (Array.isArray(value) ? value : [value]).map(objectOf);
  const read = (isTyped: boolean): AnswerReader => {
    const reader = new WholeReader(isTyped, 0, asked);
    readAll(chunks, reader, (chunk) => reader.read(chunk, body, value));
    return reader;
  };
  return { report: read(false), events: () => read(true).takeEvents() };
}

/** A body that can be read at all is whole, whatever reasons it gives. */
class WholeReader extends AnswerReader {
  override get complete(): boolean {
    return true;
  }
}

function readAll(
  chunks: readonly (JsonObject | undefined)[],
  reader: AnswerReader,
  read: (chunk: JsonObject) => GatewayError | undefined,
): void {
  let isAnswer = false;
  for (const chunk of chunks) {
    if (chunk === undefined) throw upstreamFailed("its answer is no JSON object");
    const error = read(chunk);
    if (error !== undefined) throw error;
    isAnswer ||= Array.isArray(chunk["candidates"]) && chunk["candidates"].length > 0;
  }
  if (!isAnswer && !reader.isBlocked) throw upstreamFailed("its answer holds no candidates");
  reader.finish(true);
}

/** Reads whole answers. */
import { upstreamFailed } from "../../error/refusals.js";
import { objectOf, parsed } from "../../json/value.js";
import type { DecodedAnswer, WireRequest } from "../../wire.js";
import { AnswerReader } from "./read-steps.js";

/** Reads a whole answer. Throws the error that it tells, and UPSTREAM_FAILED where it is no answer. */
export function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  const response = objectOf(parsed(body.toString()));
  if (response === undefined) throw upstreamFailed("its answer is no JSON object");
  const read = (reader: AnswerReader): AnswerReader => {
    const error = reader.readWhole(response);
    if (error !== undefined) throw error;
    if (!reader.complete) throw upstreamFailed("its answer holds no output");
    return reader;
  };
  return {
    report: read(new AnswerReader(false, asked)),
    events: () => read(new AnswerReader(true, asked)).takeEvents(),
  };
}

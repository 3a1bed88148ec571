/** Reads a whole answer of the wires that stream in chunks: it is one chunk that says everything. */
import { upstreamFailed } from "../../error/refusals.js";
import { type JsonObject, listOf, objectOf, parsed } from "../../json/value.js";
import type { ChunkReader } from "../events/read-chunks.js";
import type { DecodedAnswer } from "../../wire.js";

/**
 * `readerOf` makes the wire's reader, with or without steps: they are read for those alone who ask for them. `fit`
 * writes anew what is not as clients of the wire are promised. Throws the error that the answer tells, and
 * UPSTREAM_FAILED where it is no answer.
 */
export function decodeWhole(
  body: Buffer,
  readerOf: (isTyped: boolean) => ChunkReader,
  fit?: (answer: JsonObject, data: Buffer) => JsonObject,
): DecodedAnswer {
  const answer = objectOf(parsed(body.toString()));
  if (answer === undefined) throw upstreamFailed("its answer is no JSON object");
  const fitted = fit?.(answer, body);
  return {
    source: fitted === undefined || fitted === answer ? undefined : Buffer.from(JSON.stringify(fitted)),
    report: read(answer, body, readerOf(false)),
    events: () => read(answer, body, readerOf(true)).takeEvents(),
  };
}

function read(answer: JsonObject, body: Buffer, reader: ChunkReader): ChunkReader {
  const error = reader.read(answer, body);
  if (error !== undefined) throw error;
  if (listOf(answer["choices"]).length === 0) throw upstreamFailed("its answer holds no choices");
  // A body that can be read at all is whole, whatever reasons it gives.
  reader.isDone = true;
  reader.finish();
  return reader;
}

/** Streams, both directions: the upstream's chunks to batches, and typed steps to a client's events. */
import { ChunkStreamDecoder, type ChunkWire } from "../openai-stream.js";
import type { AnswerForm, RequestFacts, StreamDecoder, WireRequest } from "../wire.js";
import { decodeAnswer } from "./answer.js";
import { AnswerReader } from "./answer-reader.js";
import { AnswerFitter } from "./fit-answer.js";
import { ChatStreamEncoder, encodeStream } from "./events-encode.js";
import { TEXT_CHUNKS } from "./text-chunks.js";

export { encodeStream };

const CHUNKS: ChunkWire = {
  decodeAnswer,
  encodeStream: (request) => new ChatStreamEncoder(request),
  textChunks: TEXT_CHUNKS,
};

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(request: RequestFacts, form: AnswerForm, asked?: WireRequest): StreamDecoder {
  const reader = new AnswerReader(form === "events", request.candidateCount, asked);
  if (form !== "fitted") return new ChunkStreamDecoder(request, form, reader, CHUNKS, asked);
  const fitter = new AnswerFitter();
  return new ChunkStreamDecoder(request, form, reader, CHUNKS, asked, (chunk) => fitter.chunk(chunk));
}

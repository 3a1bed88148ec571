/** Reads streams: the upstream's chunks to batches. */
import { ChunkStreamDecoder, type ChunkWire } from "../../openai/events/read-chunks.js";
import type { AnswerForm, RequestFacts, StreamDecoder, WireRequest } from "../../wire.js";
import { decodeAnswer } from "../answer/read.js";
import { AnswerReader } from "../answer/read-steps.js";
import { AnswerFitter } from "../answer/read-fitted.js";
import { ChatStreamEncoder } from "./write.js";
import { TEXT_CHUNKS } from "./read-text-chunks.js";

const CHUNKS: ChunkWire = {
  decodeAnswer,
  encodeStream: (request) => new ChatStreamEncoder(request),
  textChunks: TEXT_CHUNKS,
};

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(request: RequestFacts, form: AnswerForm, asked?: WireRequest): StreamDecoder {
  const reader = new AnswerReader(form === "events", request.candidateCount, asked);
  if (form !== "fitted") return new ChunkStreamDecoder(request, form, reader, CHUNKS, asked);
  const fitter = new AnswerFitter(asked);
  return new ChunkStreamDecoder(request, form, reader, CHUNKS, asked, (chunk, data) => fitter.chunk(chunk, data));
}

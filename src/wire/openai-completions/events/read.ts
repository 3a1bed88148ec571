/** Reads streams: the upstream's events to batches. */
import { ChunkStreamDecoder, type ChunkWire } from "../../openai/events/read-chunks.js";
import type { AnswerForm, RequestFacts, StreamDecoder, WireRequest } from "../../wire.js";
import { decodeAnswer } from "../answer/read.js";
import { CompletionReader } from "../answer/read-steps.js";
import { CompletionEncoder } from "./write.js";

const CHUNKS: ChunkWire = { decodeAnswer, encodeStream: (request) => new CompletionEncoder(request) };

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(request: RequestFacts, form: AnswerForm, asked?: WireRequest): StreamDecoder {
  const reader = new CompletionReader(form === "events", request.candidateCount, asked);
  return new ChunkStreamDecoder(request, form, reader, CHUNKS, asked);
}

/** Streams, both directions: chunks of the same shape as whole answers. */
import type { LogprobsDelta } from "../../api/index.js";
import { type CandidateKind, ChunkStreamEncoder } from "../openai-chunks.js";
import { ChunkStreamDecoder, type ChunkWire } from "../openai-stream.js";
import type { AnswerForm, RequestFacts, StreamDecoder, StreamEncoder, WireRequest } from "../wire.js";
import { decodeAnswer, finishName } from "./answer.js";
import { CompletionReader } from "./answer-reader.js";
import { encodeLogprobs } from "./logprobs.js";

const CHUNKS: ChunkWire = { decodeAnswer, encodeStream: (request) => new CompletionEncoder(request) };

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(request: RequestFacts, form: AnswerForm, asked?: WireRequest): StreamDecoder {
  const reader = new CompletionReader(form === "events", request.candidateCount);
  return new ChunkStreamDecoder(request, form, reader, CHUNKS, asked);
}

export function encodeStream(request: RequestFacts): StreamEncoder {
  return new CompletionEncoder(request);
}

/** Writes text, probabilities and ends. What else a chat may say has no place in a text. */
class CompletionEncoder extends ChunkStreamEncoder {
  /** How many characters of each candidate have probabilities. */
  private readonly offsets = new Map<number, number>();

  constructor(request: RequestFacts) {
    super("text_completion", request);
  }

  protected override encode(kind: CandidateKind, logprobs?: LogprobsDelta): void {
    switch (kind.$case) {
      case "text":
      case "refusal":
        return this.choice(kind.value.candidate, kind.value.text, logprobs);
      case "logprobs":
        return this.choice(kind.value.candidate, "", kind.value);
      case "part": {
        const { candidate, part } = kind.value;
        if (part?.kind?.$case === "text") this.choice(candidate, part.kind.value.text, undefined);
        return;
      }
      case "candidateEnd": {
        const { candidate, reason, stopString } = kind.value;
        const stop = stopString === undefined ? "" : `,"stop_reason":${JSON.stringify(stopString)}`;
        return this.choice(candidate, "", undefined, `"${finishName(reason)}"${stop}`);
      }
      case "thinking":
      case "toolCallStart":
      case "toolCallDelta":
        return;
      default:
        return kind satisfies never;
    }
  }

  private choice(candidate: number, text: string, logprobs: LogprobsDelta | undefined, reason = "null"): void {
    const told = logprobs === undefined ? "null" : JSON.stringify(this.columns(candidate, logprobs));
    const textJson = JSON.stringify(text);
    this.chunk(`{"text":${textJson},"index":${candidate},"logprobs":${told},"finish_reason":${reason}}`);
  }

  private columns(candidate: number, logprobs: LogprobsDelta): object {
    const offset = this.offsets.get(candidate) ?? 0;
    const length = logprobs.content.reduce((sum, { token }) => sum + token.length, 0);
    this.offsets.set(candidate, offset + length);
    return encodeLogprobs(logprobs, offset);
  }
}

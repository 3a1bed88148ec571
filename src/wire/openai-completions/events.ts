/** Streams, both directions: chunks of the same shape as whole answers. */
import type { Event, LogprobsDelta, Usage } from "../../api/index.js";
import type { GatewayError } from "../../errors.js";
import { errorText } from "../openai-error.js";
import { ChunkStreamDecoder, type ChunkWire } from "../openai-stream.js";
import { encodeUsage } from "../openai-usage.js";
import type { RequestFacts, StreamDecoder, StreamEncoder, WireRequest } from "../wire.js";
import { decodeAnswer, finishName } from "./answer.js";
import { CompletionReader } from "./answer-reader.js";
import { encodeLogprobs } from "./logprobs.js";

const STREAM_END = "data: [DONE]\n\n";
const CHUNKS: ChunkWire = { decodeAnswer, encodeStream: (request) => new CompletionEncoder(request) };

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(request: RequestFacts, form: "events" | "source", asked?: WireRequest): StreamDecoder {
  const reader = new CompletionReader(form === "events", request.candidateCount);
  return new ChunkStreamDecoder(request, form, reader, CHUNKS, asked);
}

export function encodeStream(request: RequestFacts): StreamEncoder {
  return new CompletionEncoder(request);
}

/** Writes text, probabilities and ends. What else a chat may say has no place in a text. */
class CompletionEncoder implements StreamEncoder {
  /** What every chunk begins with. */
  private head = chunkHead("", "", 0);
  /** What every chunk but the last of usage ends with. */
  private readonly tail: string;
  /** How many characters of each candidate have probabilities. */
  private readonly offsets = new Map<number, number>();

  constructor(private readonly request: RequestFacts) {
    this.tail = request.includeUsage ? '],"usage":null}\n\n' : "]}\n\n";
  }

  push(events: readonly Event[]): Buffer {
    let text = "";
    for (let place = 0; place < events.length; place++) {
      const kind = events[place]?.kind;
      if (kind === undefined) continue;
      // The probabilities of a text are told in the text's own chunk.
      const next = events[place + 1]?.kind;
      const isText = kind.$case === "text" || kind.$case === "refusal";
      if (isText && next?.$case === "logprobs" && next.value.candidate === kind.value.candidate) {
        text += this.choice(kind.value.candidate, kind.value.text, next.value);
        place++;
      } else text += this.encode(kind);
    }
    return Buffer.from(text);
  }

  fail(error: GatewayError): Buffer {
    return Buffer.from(`data: ${errorText(error)}\n\n`);
  }

  /** The chunk that tells the usage, where the client asked for it. */
  usage(usage: Usage | undefined): Buffer {
    return Buffer.from(this.usageChunk(usage));
  }

  private usageChunk(usage: Usage | undefined): string {
    if (!this.request.includeUsage || usage === undefined) return "";
    return `${this.head}],"usage":${JSON.stringify(encodeUsage(usage))}}\n\n`;
  }

  private encode(kind: NonNullable<Event["kind"]>): string {
    switch (kind.$case) {
      case "start": {
        const { id, model, createTime } = kind.value;
        this.head = chunkHead(id, model, Math.floor((createTime?.getTime() ?? 0) / 1000));
        return "";
      }
      case "text":
      case "refusal":
        return this.choice(kind.value.candidate, kind.value.text, undefined);
      case "logprobs":
        return this.choice(kind.value.candidate, "", kind.value);
      case "part": {
        const { candidate, part } = kind.value;
        return part?.kind?.$case === "text" ? this.choice(candidate, part.kind.value.text, undefined) : "";
      }
      case "candidateEnd": {
        const { candidate, reason, stopString } = kind.value;
        const stop = stopString === undefined ? "" : `,"stop_reason":${JSON.stringify(stopString)}`;
        return this.choice(candidate, "", undefined, `"${finishName(reason)}"${stop}`);
      }
      case "finish":
        return this.usageChunk(kind.value.usage) + STREAM_END;
      case "thinking":
      case "toolCallStart":
      case "toolCallDelta":
        return "";
      default:
        return kind satisfies never;
    }
  }

  private choice(candidate: number, text: string, logprobs: LogprobsDelta | undefined, reason = "null"): string {
    const told = logprobs === undefined ? "null" : JSON.stringify(this.columns(candidate, logprobs));
    const choice = `{"text":${JSON.stringify(text)},"index":${candidate},"logprobs":${told},"finish_reason":${reason}}`;
    return this.head + choice + this.tail;
  }

  private columns(candidate: number, logprobs: LogprobsDelta): object {
    const offset = this.offsets.get(candidate) ?? 0;
    const length = logprobs.content.reduce((sum, { token }) => sum + token.length, 0);
    this.offsets.set(candidate, offset + length);
    return encodeLogprobs(logprobs, offset);
  }
}

function chunkHead(id: string, model: string, createdSeconds: number): string {
  const fixed = JSON.stringify({ id, object: "text_completion", created: createdSeconds, model });
  return `data: ${fixed.slice(0, -1)},"choices":[`;
}

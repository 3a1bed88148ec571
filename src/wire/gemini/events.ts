/** Streams, both directions: the upstream's server-sent events to batches, and typed steps to a client's events. */
import { parsed } from "../json/value.js";
import { SseStreamDecoder } from "../sse-decoder.js";
import type { RequestFacts, StreamDecoder, WireRequest } from "../wire.js";
import { AnswerReader } from "./answer-reader.js";
import { encodeStream } from "./events-encode.js";

export { encodeStream };

const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(request: RequestFacts, form: "events" | "source", asked?: WireRequest): StreamDecoder {
  const reader = new AnswerReader(form === "events", request.candidateCount, asked);
  return new GeminiStreamDecoder(reader, form, [OPEN_OBJECT, OPEN_ARRAY]);
}

class GeminiStreamDecoder extends SseStreamDecoder<AnswerReader> {
  protected override get isDone(): boolean {
    return false;
  }

  protected override forward(_chunk: object, _data: Buffer, raw: Buffer): void {
    this.isVisible = true;
    if (!this.isTyped) this.spans.add(raw);
  }

  protected override close(): void {
    this.reader.finish(false);
  }

  /** Tells a list of chunks, or one whole answer, as the stream that was asked for. */
  protected override unfold(body: Buffer): void {
    const value = parsed(body.toString());
    const chunks = Array.isArray(value) ? value : [value];
    for (const chunk of chunks) {
      if (this.error !== undefined) return;
      const data = Buffer.from(JSON.stringify(chunk) ?? "");
      this.takeEvent(data, Buffer.concat([Buffer.from("data: "), data, Buffer.from("\n\n")]));
    }
  }
}

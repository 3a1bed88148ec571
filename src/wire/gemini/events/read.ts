/** Reads streams: the upstream's server-sent events to batches. */
import { type JsonObject, listOf, objectOf, parsed, textOf } from "../../json/value.js";
import { ExactJson } from "../../json/exact.js";
import { eventBytes } from "../../events/writer.js";
import { SseStreamDecoder } from "../../events/decoder.js";
import type { AnswerForm, RequestFacts, StreamDecoder, WireRequest } from "../../wire.js";
import { AnswerReader } from "../answer/read-steps.js";

const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(request: RequestFacts, form: AnswerForm, asked?: WireRequest): StreamDecoder {
  const reader = new AnswerReader(form === "events", request.candidateCount, asked);
  return new GeminiStreamDecoder(reader, form, [OPEN_OBJECT, OPEN_ARRAY]);
}

class GeminiStreamDecoder extends SseStreamDecoder<AnswerReader> {
  /** True once a chunk held a part, an end or a refusal. */
  private hasOutput = false;

  /** There is no word for the end. */
  override get isDone(): boolean {
    return false;
  }

  protected override forward(chunk: JsonObject, _data: Buffer, raw: Buffer): void {
    if (this.isTyped) return;
    this.hasOutput ||= !isOpening(chunk);
    this.isVisible = this.hasOutput;
    this.spans.add(raw);
  }

  protected override close(): void {
    this.reader.finish(false);
  }

  /** Tells a list of chunks, or one whole answer, as the stream that was asked for. */
  protected override unfold(body: Buffer): void {
    const value = parsed(body.toString());
    const chunks: readonly unknown[] = Array.isArray(value) ? value : [value];
    const exact = new ExactJson(value, body);
    for (const chunk of chunks) {
      if (this.error !== undefined) return;
      const json = typeof chunk === "object" && chunk !== null ? exact.textOf(chunk) : "null";
      this.takeEvent(Buffer.from(json), eventBytes("", json));
    }
  }
}

/** True of a chunk that generates and ends nothing. */
function isOpening(chunk: JsonObject): boolean {
  if (textOf(objectOf(chunk["promptFeedback"])?.["blockReason"]) !== "") return false;
  for (const entry of listOf(chunk["candidates"])) {
    const candidate = objectOf(entry);
    if (textOf(candidate?.["finishReason"]) !== "") return false;
    for (const part of listOf(objectOf(candidate?.["content"])?.["parts"]))
      for (const [name, value] of Object.entries(objectOf(part) ?? {}))
        if (name !== "thought" && value !== "") return false;
  }
  return true;
}

/** Streams, both directions: the upstream's server-sent events to batches, and typed steps to a client's events. */
import { type JsonObject, objectOf, textOf } from "../json/value.js";
import { SseStreamDecoder } from "../sse-decoder.js";
import type { RequestFacts, StreamDecoder, WireRequest } from "../wire.js";
import { AnswerReader } from "./answer-reader.js";

export { encodeStream } from "./events-encode.js";

const EMPTY_AT_FIRST: ReadonlySet<string> = new Set(["text", "thinking"]);

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(_request: RequestFacts, form: "events" | "source", asked?: WireRequest): StreamDecoder {
  return new MessagesStreamDecoder(new AnswerReader(form === "events", asked), form, []);
}

class MessagesStreamDecoder extends SseStreamDecoder<AnswerReader> {
  /** True once an event said more than that an answer begins. */
  private hasOutput = false;

  override get isDone(): boolean {
    return this.reader.complete;
  }

  /** The mark that ends a stream of another wire says nothing here. */
  protected override isMark(data: Buffer): boolean {
    return data.toString("latin1").trim() === "[DONE]";
  }

  protected override forward(event: JsonObject, _data: Buffer, raw: Buffer): void {
    // The end is held back: the gateway tells it itself, once the answer is settled.
    if (this.isTyped || this.reader.complete) return;
    this.hasOutput ||= !isOpening(event);
    if (this.hasOutput && event["type"] !== "ping") this.isVisible = true;
    this.spans.add(raw);
  }

  protected override unfold(): void {
    // Nothing but a page is told from a stream of this wire.
  }
}

/** True of what comes before anything is generated. */
function isOpening(event: JsonObject): boolean {
  switch (event["type"]) {
    case "message_start":
    case "ping":
    case "content_block_stop":
      return true;
    case "content_block_start": {
      // Text and thoughts begin empty; the name of a tool is an answer already.
      const block = objectOf(event["content_block"]);
      return (
        textOf(block?.["text"]) + textOf(block?.["thinking"]) === "" && EMPTY_AT_FIRST.has(textOf(block?.["type"]))
      );
    }
    default:
      return false;
  }
}

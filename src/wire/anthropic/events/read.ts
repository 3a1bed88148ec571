/** Reads streams: the upstream's server-sent events to batches. */
import { eventBytes } from "../../events/writer.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";
import { SseStreamDecoder } from "../../events/decoder.js";
import type { AnswerForm, RequestFacts, StreamDecoder, WireRequest } from "../../wire.js";
import { AnswerReader } from "../answer/read-steps.js";
import { MessageOrder } from "./read-order.js";

export { encodeStream } from "./write.js";

const NAME = "event: ";
const EMPTY_AT_FIRST: ReadonlySet<string> = new Set(["text", "thinking"]);

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(request: RequestFacts, form: AnswerForm, asked?: WireRequest): StreamDecoder {
  return new MessagesStreamDecoder(new AnswerReader(form === "events", asked), form, request.model);
}

class MessagesStreamDecoder extends SseStreamDecoder<AnswerReader> {
  /** True once an event said more than that an answer begins. */
  private hasOutput = false;
  private readonly order: MessageOrder;

  constructor(reader: AnswerReader, form: AnswerForm, model: string) {
    super(reader, form, []);
    this.order = new MessageOrder(model);
  }

  override get isDone(): boolean {
    return this.reader.complete;
  }

  /** The mark that ends a stream of another wire says nothing here. */
  protected override isMark(data: Buffer): boolean {
    return data.toString("latin1").trim() === "[DONE]";
  }

  protected override accept(event: JsonObject, data: Buffer, raw: Buffer): void {
    const told = this.order.take(event, raw);
    if (told === undefined) {
      super.accept(event, data, raw);
      return;
    }
    for (const piece of told) {
      if (this.error !== undefined) return;
      // What the upstream never said of its message, its usage above all, is for the client's eyes alone.
      const isAdded = piece.raw === undefined && isOfMessage(piece.event);
      if (!isAdded) this.error = this.reader.read(piece.event);
      if (this.error === undefined) this.tell(piece.event, piece.raw);
    }
  }

  protected override forward(event: JsonObject, _data: Buffer, raw: Buffer): void {
    this.tell(event, raw);
  }

  private tell(event: JsonObject, raw: Buffer | undefined): void {
    // The end is held back: the gateway tells it itself, once the answer is settled.
    if (this.isTyped || this.reader.complete) return;
    this.hasOutput ||= !isOpening(event);
    if (this.hasOutput && event["type"] !== "ping") this.isVisible = true;
    this.spans.add(raw !== undefined && isNamed(raw, textOf(event["type"])) ? raw : bytesOf(event));
  }

  protected override unfold(): void {
    // Nothing but a page is told from a stream of this wire.
  }
}

/** True where the bytes name the event: clients pass over one that bears its name in its data alone. */
function isNamed(raw: Buffer, type: string): boolean {
  return type === "" || raw.toString("latin1", 0, NAME.length + type.length) === NAME + type;
}

function bytesOf(event: JsonObject): Buffer {
  return eventBytes(textOf(event["type"]), JSON.stringify(event));
}

function isOfMessage({ type }: JsonObject): boolean {
  return type === "message_start" || type === "message_delta";
}

/** True of what comes before anything is generated. */
function isOpening(event: JsonObject): boolean {
  switch (event["type"]) {
    case "message_start":
      return listOf(objectOf(event["message"])?.["content"]).length === 0;
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

/** Reads streams: the upstream's server-sent events to batches. */
import { type JsonObject, objectOf, parsed, textOf } from "../../json/value.js";
import { UsageSource } from "../../../api/index.js";
import { readableEvents } from "../../events/writer.js";
import { SseStreamDecoder } from "../../events/decoder.js";
import type { AnswerForm, RequestFacts, StreamDecoder, WireRequest } from "../../wire.js";
import { AnswerReader } from "../answer/read-steps.js";
import { decodeAnswer } from "../answer/read.js";
import { ResponsesStreamEncoder } from "./write.js";

const OPEN_OBJECT = 0x7b;

/** Events before anything is generated. */
const OPENINGS: ReadonlySet<string> = new Set(["response.created", "response.in_progress", "response.queued"]);
/** Items that begin empty; what others begin with is an answer already. */
const EMPTY_AT_FIRST: ReadonlySet<string> = new Set(["message", "reasoning"]);

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(request: RequestFacts, form: AnswerForm, asked?: WireRequest): StreamDecoder {
  return new ResponsesStreamDecoder(request, form, asked);
}

class ResponsesStreamDecoder extends SseStreamDecoder<AnswerReader> {
  /** True once an event said more than that an answer, or a part of it, begins. */
  private hasOutput = false;

  constructor(
    private readonly request: RequestFacts,
    form: AnswerForm,
    private readonly asked: WireRequest | undefined,
  ) {
    super(new AnswerReader(form === "events", asked), form, [OPEN_OBJECT]);
  }

  override get isDone(): boolean {
    return this.reader.complete;
  }

  /** Some servers end this stream too as they end chat completions. */
  protected override isMark(data: Buffer): boolean {
    return data.toString("latin1", 0, 16).trim() === "[DONE]";
  }

  protected override forward(event: JsonObject, _data: Buffer, raw: Buffer): void {
    if (this.isTyped) return;
    this.hasOutput ||= !isOpening(event);
    this.isVisible = this.hasOutput;
    // The end is held back: the gateway tells it once the answer is settled.
    if (this.reader.complete) this.reader.ending = Buffer.from(readableEvents(raw));
    else this.spans.add(raw);
  }

  /** Tells an answer that came whole step by step, as the stream that was asked for. */
  protected override unfold(body: Buffer): void {
    const response = objectOf(parsed(body.toString()));
    if (response === undefined) return;
    this.error = this.reader.readWhole(response);
    if (this.error !== undefined || this.isTyped || !this.reader.complete) return;
    this.isVisible = true;
    const { report, events } = decodeAnswer(body, this.asked);
    const encoder = new ResponsesStreamEncoder(this.request, this.asked);
    this.spans.add(encoder.push(events()));
    const finish = { usage: report.usage, usageSource: UsageSource.USAGE_SOURCE_REPORTED, costNanos: 0n };
    this.reader.ending = encoder.push([{ kind: { $case: "finish", value: finish } }]);
  }
}

/** True of what comes before anything is generated. */
function isOpening(event: JsonObject): boolean {
  const type = textOf(event["type"]);
  if (type === "response.output_item.added") return EMPTY_AT_FIRST.has(textOf(objectOf(event["item"])?.["type"]));
  if (type === "response.content_part.added") return textOf(objectOf(event["part"])?.["text"]) === "";
  return OPENINGS.has(type);
}

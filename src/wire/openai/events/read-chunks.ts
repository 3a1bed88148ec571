/** Reads a stream of OpenAI's chunks, of whichever wire they are: server-sent events to batches. */
import type { Event } from "../../../api/index.js";
import { eventBytes } from "../../events/writer.js";
import { type JsonObject, listOf, objectOf } from "../../json/value.js";
import { isSaid, newWords, saysMore } from "../answer/read-said.js";
import type { ChunkStreamEncoder } from "./write-chunks.js";
import { withoutNullUsage } from "./read-usage-cut.js";
import { RepeatedEvents, type TextEvents } from "../../events/repeated.js";
import { type EventReader, SseStreamDecoder } from "../../events/decoder.js";
import type { AnswerForm, AnswerReport, DecodedAnswer, RequestFacts, WireRequest } from "../../wire.js";

/** Reads the chunks of one wire, or one whole answer, into text and steps. */
export interface ChunkReader extends EventReader {
  /** True once the upstream said in so many words that nothing follows. */
  isDone: boolean;
  /** True once the upstream closed. */
  isClosed: boolean;
  /** Nothing follows: what was held back comes out. */
  finish(): void;
  /** The chunk that ends the choices that began and never said why they end; none where all did. */
  untoldEnds(): readonly JsonObject[];
  /** The last chunk came again, with another text; for a wire that tells which chunks say a text alone. */
  readAgain?(text: string): void;
}

/** What a wire of chunks does with an answer that came whole although a stream was asked for. */
export interface ChunkWire {
  decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer;
  encodeStream(request: RequestFacts): ChunkStreamEncoder;
  readonly textChunks?: TextEvents;
}

const DONE = Buffer.from("[DONE]");
const OPEN_OBJECT = 0x7b;

export class ChunkStreamDecoder extends SseStreamDecoder<ChunkReader> {
  /** True once a chunk said more than who speaks. */
  private hasOutput = false;
  /** What an answer told that came in one piece. */
  private whole: { readonly report: AnswerReport; events: Event[] } | undefined;
  private readonly repeated: RepeatedEvents | undefined;
  /** The chunk that was parsed last. */
  private last: JsonObject = {};
  /** True where it was written anew for its client. */
  private isRewritten = false;

  constructor(
    private readonly request: RequestFacts,
    form: AnswerForm,
    reader: ChunkReader,
    private readonly wire: ChunkWire,
    private readonly asked: WireRequest | undefined,
    /** Writes chunks anew that are not as clients are promised. */
    private readonly fit?: (chunk: JsonObject, data: Buffer) => JsonObject,
  ) {
    super(reader, form, [OPEN_OBJECT]);
    if (wire.textChunks !== undefined) this.repeated = new RepeatedEvents(wire.textChunks);
  }

  override get report(): AnswerReport {
    return this.whole?.report ?? this.reader;
  }

  override get isDone(): boolean {
    return this.reader.isDone;
  }

  protected override takeEvent(data: Buffer, raw: Buffer): void {
    const text = this.repeated?.textOf(data);
    if (text !== undefined) return this.takeText(text, data, raw);
    if (!isDone(data)) return super.takeEvent(data, raw);
    // Clients wait for a reason. The mark itself is held back: the gateway tells it once the answer is settled.
    if (!this.isTyped)
      for (const end of this.reader.untoldEnds()) {
        const json = JSON.stringify(end);
        this.pass(end, Buffer.from(json), eventBytes("", json));
      }
    this.reader.isDone = true;
    this.reader.finish();
  }

  protected override accept(chunk: JsonObject, data: Buffer, raw: Buffer): void {
    this.isRewritten = false;
    super.accept(chunk, data, raw);
    this.last = chunk;
    // The bytes of one that comes again pass as they are, so they must have passed as they were.
    if (!this.isRewritten) this.repeated?.note(chunk, data);
    else this.repeated?.forget();
  }

  protected override close(): void {
    if (this.whole !== undefined) return;
    this.reader.isClosed = true;
    this.reader.finish();
  }

  protected override takeEvents(): Event[] {
    const { whole } = this;
    if (whole === undefined) return super.takeEvents();
    return whole.events.splice(0);
  }

  /** Adds an event's own bytes, without the usage that the client did not ask for. */
  protected override forward(chunk: JsonObject, data: Buffer, raw: Buffer): void {
    if (this.isTyped) return;
    this.hasOutput ||= !isOpening(chunk);
    const fitted = this.fit?.(chunk, data);
    if (fitted !== undefined && fitted !== chunk) {
      this.isRewritten = true;
      const json = JSON.stringify(fitted);
      return this.pass(fitted, Buffer.from(json), eventBytes("", json));
    }
    this.pass(chunk, data, raw);
  }

  /** The last chunk came again, with another text. It fits as that one did. */
  private takeText(text: string, data: Buffer, raw: Buffer): void {
    this.reader.readAgain?.(text);
    if (this.isTyped) return;
    this.hasOutput ||= text !== "";
    this.pass(this.last, data, raw);
  }

  private pass(chunk: JsonObject, data: Buffer, raw: Buffer): void {
    if (!this.request.includeUsage && "usage" in chunk) {
      const isEmpty = listOf(chunk["choices"]).length === 0;
      if (isEmpty && objectOf(chunk["usage"]) !== undefined) return;
      if (chunk["usage"] === null) {
        this.isVisible = this.hasOutput;
        for (const span of withoutNullUsage(data, raw)) this.spans.add(span);
        return;
      }
    }
    this.isVisible = this.hasOutput;
    this.spans.add(raw);
  }

  /** Tells an answer that came whole as the stream that was asked for. */
  protected override unfold(body: Buffer): void {
    const answer = this.wire.decodeAnswer(body, this.asked);
    const events = answer.events();
    this.whole = { report: answer.report, events };
    this.isVisible = true;
    if (this.isTyped) return;
    const encoder = this.wire.encodeStream(this.request);
    this.spans.add(Buffer.concat([encoder.push(events), encoder.usage(answer.report.usage)]));
  }
}

/** True of a chunk that generates and ends nothing: it says who speaks, or what was found of the prompt. */
function isOpening(chunk: JsonObject): boolean {
  for (const entry of listOf(chunk["choices"])) {
    const choice = objectOf(entry);
    if (choice === undefined) continue;
    if (isSaid(choice["finish_reason"]) || isSaid(choice["text"])) return false;
    if (saysMore(newWords(choice, false) ?? {})) return false;
  }
  return true;
}

/** What a chunk that goes on with this one begins with. */
export function chunkHead({ id, object, created, model }: JsonObject): JsonObject {
  return { id, object, created, model };
}

function isDone(data: Buffer): boolean {
  return data.length >= DONE.length && data.length < 16 && data.toString("latin1").trim() === "[DONE]";
}

/**
 * The model's name in an answer, where its client is to read the name that it asked for: an agent that goes on with a
 * conversation asks the model that the answer named.
 */
import type { Event } from "../../api/index.js";
import { SseFramer } from "../events/framer.js";
import { joinedEvent } from "../events/writer.js";
import { JsonCursor } from "../json/cursor.js";
import type { AnswerReport, Batch, StreamDecoder } from "../wire.js";

/** Where the wires name the model: at the top of an answer or an event, or at the top of one of these members. */
const NAMES: ReadonlySet<string> = new Set(["model", "modelVersion"]);
const WITHIN: ReadonlySet<string> = new Set(["response", "message"]);
/** Every such name ends so. An event without it is as it is to be. */
const TELLS = /"model(?:Version)?"/;

/** Writes the name over the upstream's own. One for each answer. */
export class ToldModel {
  readonly #json: Buffer;
  #pieces: Buffer[] = [];
  readonly #framer = new SseFramer((data, raw, isSplit) => this.#event(data, raw, isSplit));

  constructor(private readonly name: string) {
    this.#json = Buffer.from(JSON.stringify(name));
  }

  /** The batch of a stream, with whole events as its source. Its own steps are changed. */
  streamed(batch: Batch): Batch {
    this.steps(batch.events);
    return batch.source.length === 0 ? batch : { ...batch, source: this.events(batch.source) };
  }

  /** Whole events of a stream. */
  events(bytes: Buffer): Buffer {
    this.#framer.push(bytes);
    return Buffer.concat(this.#pieces.splice(0));
  }

  /** The batch of a whole answer. */
  whole(batch: Batch): Batch {
    this.steps(batch.events);
    return batch.source.length === 0 ? batch : { ...batch, source: this.body(batch.source) };
  }

  steps(events: readonly Event[]): void {
    for (const { kind } of events) if (kind?.$case === "start") kind.value.model = this.name;
  }

  /** The JSON of an answer or of one event, with every other byte kept; the same bytes where it names no model. */
  body(json: Buffer): Buffer {
    const places = placesIn(json);
    if (places.length === 0) return json;
    const pieces: Buffer[] = [];
    let kept = 0;
    for (const [start, end] of places) {
      pieces.push(json.subarray(kept, start), this.#json);
      kept = end;
    }
    pieces.push(json.subarray(kept));
    return Buffer.concat(pieces);
  }

  #event(data: Buffer | undefined, raw: Buffer, isSplit: boolean): void {
    if (data === undefined || !TELLS.test(data.toString("latin1"))) return void this.#pieces.push(Buffer.from(raw));
    const event = isSplit ? joinedEvent(data, raw) : { data, raw };
    const told = this.body(event.data);
    if (told === event.data) return void this.#pieces.push(Buffer.from(event.raw));
    const start = event.raw.indexOf(event.data);
    // Copied, for the framer's memory is reused.
    this.#pieces.push(
      Buffer.from(event.raw.subarray(0, start)),
      told,
      Buffer.from(event.raw.subarray(start + event.data.length)),
    );
  }
}

/** The stream under the name; as it is where there is none to write. */
export function namedStream(stream: StreamDecoder | undefined, name: string | undefined): StreamDecoder | undefined {
  return stream === undefined || name === undefined ? stream : new NamedStream(stream, new ToldModel(name));
}

class NamedStream implements StreamDecoder {
  constructor(
    private readonly stream: StreamDecoder,
    private readonly told: ToldModel,
  ) {}

  #ending: Buffer | undefined;

  get report(): AnswerReport {
    return this.stream.report;
  }

  get isDone(): boolean {
    return this.stream.isDone;
  }

  push(chunk: Buffer): Batch {
    return this.#named(this.stream.push(chunk));
  }

  cut(outputTokens: number): Batch {
    return this.#named(this.stream.cut(outputTokens));
  }

  end(): Batch {
    return this.#named(this.stream.end());
  }

  #named(batch: Batch): Batch {
    const { report } = this;
    if (report.ending !== undefined && report.ending !== this.#ending)
      this.#ending = report.ending = this.told.events(report.ending);
    return this.told.streamed(batch);
  }
}

/** Where the texts stand that name the model, in their order. None in what our strict reader of requests refuses. */
function placesIn(json: Buffer): [start: number, end: number][] {
  const places: [start: number, end: number][] = [];
  try {
    // An answer of vectors may hold millions of numbers.
    const cursor = new JsonCursor(json, Infinity);
    if (cursor.kind() === "object") look(cursor, places, true);
  } catch {
    // An upstream's answer is told as it came: it is none of the client's mistakes.
    return [];
  }
  return places;
}

function look(cursor: JsonCursor, places: [start: number, end: number][], isTop: boolean): void {
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    const kind = cursor.kind();
    if (isTop && kind === "object" && WITHIN.has(key)) {
      look(cursor, places, false);
      continue;
    }
    const start = cursor.at;
    cursor.skip();
    if (kind === "string" && NAMES.has(key)) places.push([start, cursor.at]);
  }
}

/**
 * Reads speech as an upstream sends it, as bytes of sound or as events, and writes it in the form that the client asked
 * for. Bytes report no usage, so the gateway asks for events where the upstream has them.
 */
import type { Usage } from "../../../api/index.js";
import { NO_USAGE } from "../../../api/usage.js";
import type { GatewayError } from "../../../base/errors.js";
import { hasBrokenCount, tokenCount } from "../../answer/token-count.js";
import { unreadable, upstreamFailed } from "../../error/refusals.js";
import { SseFramer } from "../../events/framer.js";
import { eventText } from "../../events/writer.js";
import { objectOf, parsed, textOf } from "../../json/value.js";
import type {
  AnswerForm,
  AnswerReport,
  Batch,
  OutputProgress,
  RequestFacts,
  StreamDecoder,
  WireRequest,
} from "../../wire.js";
import { wantsEvents } from "../request/decode.js";

/** How a stream of events begins. Samples without a header may begin with any byte, so that a colon is not enough. */
const EVENT_STARTS = ["data:", "event:", ": "];
/** As long as the longest of them. */
const START_BYTES = 6;
const NO_BYTES = Buffer.alloc(0);

/** Reads a streamed answer: its batches carry the bytes for the client. */
export function decodeStream(_request: RequestFacts, _form: AnswerForm, asked?: WireRequest): StreamDecoder {
  return new SpeechStreamDecoder(wantsEvents(asked));
}

interface SpeechReport extends AnswerReport {
  made: OutputProgress;
  usage: Usage | undefined;
  usageBroken: boolean;
  complete: boolean;
}

class SpeechStreamDecoder implements StreamDecoder {
  readonly report: SpeechReport = { made: "nothing", usage: undefined, usageBroken: false, complete: false, text: "" };
  isDone = false;
  readonly #framer = new SseFramer((data, raw) => this.#take(data, raw));
  /** What came before it is known whether it is sound or events. */
  #start: Buffer = NO_BYTES;
  #comesAs: "sound" | "events" | undefined;
  #pieces: Buffer[] = [];
  #error: GatewayError | undefined;

  /** True where the client reads events. */
  constructor(private readonly writesEvents: boolean) {}

  push(chunk: Buffer): Batch {
    this.#recognize(chunk, START_BYTES);
    return this.#batch();
  }

  end(): Batch {
    this.#recognize(NO_BYTES, 1);
    if (this.#comesAs === "events") this.#guard(() => this.#framer.end());
    if (!this.#holdsNoSound() && this.#comesAs !== "events") this.#complete();
    return this.#batch();
  }

  /** An answer without sound is a failure, whatever usage it reports. */
  #holdsNoSound(): boolean {
    if (this.report.made !== "nothing") return false;
    this.#error ??= upstreamFailed("its answer holds no sound");
    return true;
  }

  cut(): Batch {
    this.#complete();
    return this.#batch();
  }

  /** Waits for so many bytes, and reads all that came once they are there. */
  #recognize(chunk: Buffer, bytesMin: number): void {
    if (this.#comesAs !== undefined) return this.#read(chunk);
    this.#start = this.#start.length === 0 ? chunk : Buffer.concat([this.#start, chunk]);
    if (this.#start.length < bytesMin) return;
    const start = this.#start.toString("latin1", 0, START_BYTES);
    this.#comesAs = EVENT_STARTS.some((one) => start.startsWith(one)) ? "events" : "sound";
    this.#read(this.#start);
  }

  #read(chunk: Buffer): void {
    if (this.#comesAs === "events") this.#guard(() => this.#framer.push(chunk));
    else if (chunk.length > 0) {
      this.report.made = "content";
      this.#pieces.push(this.writesEvents ? eventOf({ type: DELTA, audio: chunk.toString("base64") }) : chunk);
    }
  }

  #take(data: Buffer | undefined, raw: Buffer): void {
    if (this.isDone || this.#error !== undefined || data === undefined) return;
    const event = objectOf(parsed(data.toString("utf8")));
    if (event === undefined) return;
    if (event["type"] === "error" || (event["error"] ?? null) !== null) {
      this.#error = upstreamFailed("its stream ended with an error");
      return;
    }
    if (event["type"] === DELTA) {
      const sound = Buffer.from(textOf(event["audio"]), "base64");
      if (sound.length === 0) return;
      this.report.made = "content";
      // Copied, for the framer's memory is reused.
      this.#pieces.push(this.writesEvents ? Buffer.from(raw) : sound);
    } else if (event["type"] === DONE) {
      if (this.#holdsNoSound()) return;
      const usage = objectOf(event["usage"]);
      const [input, output] = [tokenCount(usage?.["input_tokens"]), tokenCount(usage?.["output_tokens"])];
      this.report.usageBroken = hasBrokenCount(usage, ["input_tokens", "output_tokens"]);
      if (input !== undefined || output !== undefined)
        this.report.usage = { ...NO_USAGE, inputTokens: BigInt(input ?? 0), audioOutputTokens: BigInt(output ?? 0) };
      this.report.complete = true;
      this.isDone = true;
      if (this.writesEvents) this.#pieces.push(Buffer.from(raw));
    }
  }

  /** The end of an answer that does not say its own. What was not reported is not written. */
  #complete(): void {
    if (this.report.complete) return;
    this.report.complete = true;
    if (this.writesEvents) this.#pieces.push(eventOf({ type: DONE }));
  }

  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#error = unreadable(error);
    }
  }

  #batch(): Batch {
    const source = Buffer.concat(this.#pieces.splice(0));
    return { events: [], source, visible: source.length > 0, error: this.#error };
  }
}

const DELTA = "speech.audio.delta";
const DONE = "speech.audio.done";

function eventOf(event: object): Buffer {
  return Buffer.from(eventText("", JSON.stringify(event)));
}

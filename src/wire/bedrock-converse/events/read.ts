/** Reads streams: the upstream's binary messages to batches of typed steps. */
import { GatewayError } from "../../../base/errors.js";
import { upstreamFailed } from "../../error/refusals.js";
import { objectOf, parsed } from "../../json/value.js";
import { isHeavyEvent } from "../../json/weight.js";
import { holdsOutput } from "../../events/decoder.js";
import type { AnswerReport, Batch, StreamDecoder, WireRequest } from "../../wire.js";
import { AnswerReader } from "../answer/read-steps.js";
import { decodeToldError } from "../error.js";
import { type Frame, FrameReader } from "./read-frames.js";

const NO_SOURCE = Buffer.alloc(0);

/** Reads a streamed answer. No client takes the wire's own bytes, so the batches carry steps. */
export function decodeStream(asked: WireRequest | undefined, ids: () => string): StreamDecoder {
  return new ConverseStreamDecoder(new AnswerReader(true, asked, ids));
}

class ConverseStreamDecoder implements StreamDecoder {
  private readonly frames = new FrameReader();
  private error: GatewayError | undefined;

  constructor(private readonly reader: AnswerReader) {}

  /** The usage comes behind the end. */
  get isDone(): boolean {
    return this.reader.complete && this.reader.usage !== undefined && !this.frames.isCut;
  }

  get report(): AnswerReport {
    return this.reader;
  }

  push(chunk: Buffer): Batch {
    if (this.error === undefined) {
      try {
        for (const frame of this.frames.push(chunk)) {
          this.error = this.take(frame);
          if (this.error !== undefined) break;
        }
      } catch (error) {
        this.error =
          error instanceof GatewayError ? error : upstreamFailed("its stream holds what is no message of it");
      }
    }
    return this.batch();
  }

  end(): Batch {
    // Whoever is cut amid a message may have said all of the answer, and not what it cost.
    if (this.error === undefined && this.frames.isCut) this.error = upstreamFailed("its answer was cut");
    if (this.error === undefined) this.reader.finish();
    return this.batch();
  }

  cut(): Batch {
    this.reader.read("messageStop", { stopReason: "max_tokens" });
    this.reader.finish();
    return this.batch();
  }

  /** Takes one message. Returns the error that it tells. */
  private take(frame: Frame): GatewayError | undefined {
    switch (frame.header(":message-type")) {
      case "exception":
        return decodeToldError(frame.header(":exception-type"), frame.body);
      case "error":
        return decodeToldError(frame.header(":error-code"), NO_SOURCE);
      default: {
        if (isHeavyEvent(frame.body)) return upstreamFailed("an event of its stream holds too many values");
        const event = objectOf(parsed(frame.body.toString("utf8")));
        if (event === undefined) return upstreamFailed("its stream holds an event that cannot be read");
        this.reader.read(frame.header(":event-type"), event);
        return undefined;
      }
    }
  }

  /** What was taken since the last batch. */
  private batch(): Batch {
    const events = this.reader.takeEvents();
    return { events, source: NO_SOURCE, visible: holdsOutput(events), error: this.error };
  }
}

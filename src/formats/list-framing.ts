/** A stream as one long JSON list, an element for each event: Google's servers' way where no events are asked for. */
import { oneLine } from "../wire/events/writer.js";
import { SseFramer } from "../wire/events/framer.js";
import type { StreamFraming } from "./format.js";

const OPEN = Buffer.from("[");
const BETWEEN = Buffer.from(",\r\n");
const CLOSE = Buffer.from("]\n");

export class ListFraming implements StreamFraming {
  readonly contentType = "application/json; charset=utf-8";
  // Space is nothing between the elements of a list, nor before its first.
  readonly heartbeat = Buffer.from("\n");
  private isEmpty = true;
  private pieces: Buffer[] = [];
  private readonly framer = new SseFramer((data, _raw, isSplit) => {
    if (data === undefined || data.length === 0) return;
    // Copied, for the framer's memory is reused.
    this.pieces.push(this.isEmpty ? OPEN : BETWEEN, Buffer.from(isSplit ? oneLine(data.toString()) : data));
    this.isEmpty = false;
  });

  push(events: Buffer): Buffer {
    this.framer.push(events);
    return this.take();
  }

  end(): Buffer {
    this.framer.end();
    if (this.isEmpty) this.pieces.push(OPEN);
    this.pieces.push(CLOSE);
    return this.take();
  }

  private take(): Buffer {
    return Buffer.concat(this.pieces.splice(0));
  }
}

/** A stream that can be resumed: each of its events says its number, and those before one are left out. */
import type { StreamFraming } from "../formats/format.js";

/** One event: its lines, each with its end, and the empty line that ends it. */
const EVENT = /((?:[^\r\n]+(?:\r\n|\r|\n))+)(\r\n|\r|\n)/g;
const LAST_EVENT_ID = /^(req_[0-9a-f]{32}):(\d{1,15})$/;
const NO_BYTES = Buffer.alloc(0);

export class EventNumbers implements StreamFraming {
  readonly contentType = "text/event-stream; charset=utf-8";
  #number = 0;

  /** `requestId` is known once the answer began. The first `after` events are left out. */
  constructor(
    readonly heartbeat: Buffer,
    private readonly requestId: () => string,
    private readonly after = 0,
  ) {}

  push(events: Buffer): Buffer {
    // One byte is one character here, so that no text is changed.
    const text = events.toString("latin1");
    let numbered = "";
    for (const [, lines, end] of text.matchAll(EVENT)) {
      this.#number += 1;
      // The last id of an event counts, so an upstream's own does not hide it.
      if (this.#number > this.after) numbered += `${lines}id: ${this.requestId()}:${this.#number}${end}${end}`;
    }
    return Buffer.from(numbered, "latin1");
  }

  end(): Buffer {
    return NO_BYTES;
  }
}

/** What a client says that it has read last; undefined where that is no id of ours. */
export function readEventId(text: string): { readonly requestId: string; readonly number: number } | undefined {
  const match = LAST_EVENT_ID.exec(text);
  return match === null ? undefined : { requestId: match[1] ?? "", number: Number(match[2]) };
}

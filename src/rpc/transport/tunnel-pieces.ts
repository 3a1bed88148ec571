/** Messages of one call in pieces: the half that sends keeps to the window, the half that receives opens it. */
import { TunnelFrameKind, type TunnelFrame } from "../../api/index.js";
import { bodyTooLarge } from "../../base/bytes/body-limit.js";
import { frameOf, MalformedFrame, pieceCost, pieceRoom, WINDOW_BYTES_MAX } from "./tunnel-frame.js";
import type { Outbox, Waiting } from "./tunnel-outbox.js";

const { TUNNEL_FRAME_KIND_DATA } = TunnelFrameKind;

/** A message that goes out, as far as it went; or the frame that ends the call behind all messages. */
type Item = { readonly bytes: Buffer; sentBytes: number; carrier: TunnelFrame | undefined } | { end: TunnelFrame };

export class PieceWriter implements Waiting {
  readonly #callId: number;
  readonly #outbox: Outbox;
  readonly #bytesMax: number;
  #windowBytes: number;
  #items: Item[] = [];
  #onDrain: (() => void) | undefined;

  /** `bytesMax` is of one message. */
  constructor(callId: number, outbox: Outbox, windowBytes: number, bytesMax: number) {
    this.#callId = callId;
    this.#outbox = outbox;
    this.#bytesMax = bytesMax;
    this.#windowBytes = windowBytes;
  }

  /** True while something waits for the window or for the connection. */
  get behind(): boolean {
    return this.#items.length > 0;
  }

  /** Runs each time everything went out after something waited. */
  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  /**
   * One message; a frame that is given carries its first piece. Returns false where the receiver is behind. Throws
   * BODY_TOO_LARGE.
   */
  write(bytes: Buffer, carrier?: TunnelFrame): boolean {
    if (bytes.length > this.#bytesMax) throw bodyTooLarge();
    this.#items.push({ bytes, sentBytes: 0, carrier });
    if (this.#items.length === 1) this.#pump();
    return !this.behind;
  }

  /** The last frame of the call, behind what waits. */
  end(frame: TunnelFrame): void {
    if (this.behind) this.#items.push({ end: frame });
    else this.#outbox.push(frame);
  }

  /** True where a message goes out in one piece, now. */
  takes(bytes: Buffer): boolean {
    return !this.behind && bytes.length <= (pieceRoom(this.#windowBytes) ?? -1);
  }

  /** The receiver takes more. Throws MalformedFrame where it takes more than a receiver may. */
  grant(windowBytes: number): void {
    this.#windowBytes += windowBytes;
    if (this.#windowBytes > WINDOW_BYTES_MAX) throw new MalformedFrame("a window is too wide");
    this.onRoom();
  }

  onRoom(): void {
    if (!this.behind) return;
    this.#pump();
    if (!this.behind) this.#onDrain?.();
  }

  /** What waits is dropped. */
  close(): void {
    this.#items = [];
    this.#onDrain = undefined;
  }

  #pump(): void {
    for (let item = this.#items[0]; item !== undefined; item = this.#items[0]) {
      if ("end" in item) {
        this.#outbox.push(item.end);
      } else if (!this.#pieces(item)) {
        return;
      }
      this.#items.shift();
    }
  }

  /** Sends what the window and the connection take. Returns true once the message is out. */
  #pieces(item: Extract<Item, { bytes: Buffer }>): boolean {
    for (;;) {
      if (this.#outbox.full) {
        this.#outbox.wait(this);
        return false;
      }
      const room = pieceRoom(this.#windowBytes);
      if (room === undefined) return false;
      const end = Math.min(item.sentBytes + room, item.bytes.length);
      const isWhole = item.sentBytes === 0 && end === item.bytes.length;
      const data = isWhole ? item.bytes : item.bytes.subarray(item.sentBytes, end);
      const frame = item.carrier ?? frameOf(this.#callId, TUNNEL_FRAME_KIND_DATA);
      item.carrier = undefined;
      item.sentBytes = end;
      frame.data = data;
      frame.more = end < item.bytes.length;
      this.#windowBytes -= pieceCost(data);
      this.#outbox.push(frame);
      if (!frame.more) return true;
    }
  }
}

export class PieceReader {
  readonly #grantBytes: number;
  readonly #bytesMax: number;
  #windowBytes: number;
  #usedBytes = 0;
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** `bytesMax` is of one message. */
  constructor(windowBytes: number, bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#windowBytes = windowBytes;
    this.#grantBytes = windowBytes / 2;
  }

  /** True between the pieces of a message. */
  get amid(): boolean {
    return this.#pieces.length > 0;
  }

  /**
   * The message that a piece makes whole. Throws MalformedFrame where the piece does not fit the window, and
   * BODY_TOO_LARGE.
   */
  push(data: Buffer, more: boolean): Buffer | undefined {
    const cost = pieceCost(data);
    this.#windowBytes -= cost;
    if (this.#windowBytes < 0) throw new MalformedFrame("a piece does not fit the window");
    if (!more && !this.amid) return data;
    this.#bytes += data.length;
    if (this.#bytes > this.#bytesMax) throw bodyTooLarge();
    this.#pieces.push(data);
    if (more) {
      // Of a message that is not whole yet the rest must be able to come.
      this.#usedBytes += cost;
      return undefined;
    }
    const message = Buffer.concat(this.#pieces, this.#bytes);
    this.#pieces = [];
    this.#bytes = 0;
    return message;
  }

  /** A message is done with; of it the last piece still counts. */
  used(lastPieceCost: number): void {
    this.#usedBytes += lastPieceCost;
  }

  /** How much further the window should be opened now: much at once, or nothing. */
  grant(): number {
    if (this.#usedBytes < this.#grantBytes) return 0;
    const granted = this.#usedBytes;
    this.#usedBytes = 0;
    this.#windowBytes += granted;
    return granted;
  }
}

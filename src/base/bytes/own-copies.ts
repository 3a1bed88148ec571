/** Copies of short pieces that are kept: what they are read from is shared, and one of them would keep all of it. */

const ROOM_BYTES_MAX = 16_384;
/** A longer one stands by itself: Node shares no memory between buffers of half a pool and more. */
const ALONE_BYTES_MIN = 4_096;

/** What a buffer may keep alive: of a short one, all of the memory that Node cut it from. */
export function residentBytes({ length }: Uint8Array): number {
  return length > 0 && length < ALONE_BYTES_MIN ? Math.max(length, Buffer.poolSize) : length;
}

/** Of one owner: its copies stand side by side, and are gone together. At most a quarter of their memory is unused. */
export class OwnCopies {
  #room = Buffer.alloc(0);
  #length = 0;

  copy(piece: Uint8Array): Buffer {
    const { length } = piece;
    this.#length += length;
    const isAlone = length >= ALONE_BYTES_MIN;
    if (!isAlone && length > this.#room.length) {
      const bytes = Math.max(length, Math.min(ROOM_BYTES_MAX, this.#length >> 2));
      this.#room = Buffer.allocUnsafeSlow(bytes);
    }
    const room = isAlone ? Buffer.allocUnsafeSlow(length) : this.#room;
    room.set(piece);
    if (!isAlone) this.#room = room.subarray(length);
    return room.subarray(0, length);
  }
}

/** Bytes that are kept until all of them are there, however small the pieces are that they come in. */

/** A shorter piece is put together with its neighbours: alone it takes 120 bytes beside its own. */
const PIECE_BYTES_MIN = 4_096;
const ROOM_BYTES = 16_384;

export class GatheredBytes {
  #pieces: Buffer[] = [];
  /** Where short pieces go next, and how much of it is filled. */
  #room: Buffer | undefined;
  #filled = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#length += piece.length;
    // Most answers come in one piece, which stays as it is.
    if (piece.length >= PIECE_BYTES_MIN || this.#length === piece.length) {
      this.#close();
      this.#pieces.push(piece);
      return;
    }
    for (let at = 0; at < piece.length;) {
      this.#room ??= Buffer.allocUnsafeSlow(ROOM_BYTES);
      const copied = piece.copy(this.#room, this.#filled, at);
      this.#filled += copied;
      at += copied;
      if (this.#filled === this.#room.length) this.#close();
    }
  }

  /** All of them in order, in as many pieces as they are kept in. */
  pieces(): readonly Buffer[] {
    this.#close();
    return this.#pieces;
  }

  /** All of them as one. */
  joined(): Buffer {
    const [first, second] = this.pieces();
    if (first !== undefined && second === undefined) return first;
    const all = Buffer.concat(this.#pieces, this.#length);
    this.#pieces = [all];
    return all;
  }

  /** The same, and none are left. */
  take(): Buffer {
    const all = this.joined();
    this.clear();
    return all;
  }

  clear(): void {
    this.#pieces = [];
    this.#filled = 0;
    this.#length = 0;
  }

  /** What the room holds is a piece; the rest of it is room still. */
  #close(): void {
    const room = this.#room;
    if (room === undefined || this.#filled === 0) return;
    this.#pieces.push(room.subarray(0, this.#filled));
    this.#room = this.#filled === room.length ? undefined : room.subarray(this.#filled);
    this.#filled = 0;
  }
}

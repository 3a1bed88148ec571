/** The texts of a part of a chunk: as a list, or packed, of which only those are read that are asked for. */

export interface TextList {
  readonly count: number;
  /** Empty where there is no such place. */
  at(place: number): string;
  /** Where this text stands; below zero where it does not. */
  placeOf(text: string): number;
  /** Where the texts stand that have this in them. */
  placesWith(piece: string): ReadonlySet<number>;
}

/** Names: few, and most of them are asked for. */
export class ListedTexts implements TextList {
  constructor(readonly texts: readonly string[]) {}

  get count(): number {
    return this.texts.length;
  }

  at(place: number): string {
    return this.texts[place] ?? "";
  }

  placeOf(text: string): number {
    return this.texts.indexOf(text);
  }

  placesWith(piece: string): ReadonlySet<number> {
    return new Set(this.texts.flatMap((text, place) => (text.includes(piece) ? [place] : [])));
  }
}

/** Ids and the like: tens of thousands, of which a page of a list asks for a few. One after the other, as UTF-8. */
export class PackedTexts implements TextList {
  constructor(
    /** Where each text ends in the bytes, and the next one begins. */
    readonly ends: Uint32Array,
    readonly bytes: Buffer,
  ) {}

  static of(texts: TextList): PackedTexts {
    if (texts instanceof PackedTexts) return texts;
    const each = Array.from({ length: texts.count }, (_, place) => texts.at(place));
    const ends = new Uint32Array(each.length);
    let end = 0;
    for (const [place, text] of each.entries()) ends[place] = end += Buffer.byteLength(text);
    const bytes = Buffer.allocUnsafe(end);
    // Each by itself: the halves of a character that two texts end and begin with are no character together.
    for (const [place, text] of each.entries()) bytes.write(text, ends[place - 1] ?? 0);
    return new PackedTexts(ends, bytes);
  }

  get count(): number {
    return this.ends.length;
  }

  at(place: number): string {
    return this.bytes.toString("utf8", this.#start(place), this.ends[place] ?? 0);
  }

  placeOf(text: string): number {
    const length = Buffer.byteLength(text);
    for (const place of this.#holding(Buffer.from(text)))
      if ((this.ends[place] ?? 0) - this.#start(place) === length) return place;
    return -1;
  }

  placesWith(piece: string): ReadonlySet<number> {
    return new Set(this.#holding(Buffer.from(piece)));
  }

  #start(place: number): number {
    return place === 0 ? 0 : (this.ends[place - 1] ?? this.bytes.length);
  }

  /** The places of texts that have these bytes in them, in order. Characters of UTF-8 are never parts of others. */
  *#holding(piece: Buffer): Generator<number> {
    if (piece.length === 0) return yield* this.ends.keys();
    for (let at = this.bytes.indexOf(piece); at >= 0;) {
      const place = this.#placeAt(at);
      const end = this.ends[place] ?? 0;
      const isWithin = at + piece.length <= end;
      if (isWithin) yield place;
      // One text is enough to be found once; where two meet, nothing is found yet.
      at = this.bytes.indexOf(piece, isWithin ? end : at + 1);
    }
  }

  /** Of the text that the byte stands in. */
  #placeAt(at: number): number {
    let [low, high] = [0, this.ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.ends[middle] ?? 0) > at) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

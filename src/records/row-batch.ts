/** Records on their way to the thread that stores them, or from it: numbers in one array, and each name once. */
import { mapInTurns } from "../base/event-loop/turns.js";
import { COLUMNS, emptyRow, NAMES, NUMBERS, type RecordRow, TEXTS } from "./columns.js";
import { ListedTexts, PackedTexts } from "./text-list.js";

/** Rows one after the other, each with all columns; a name or text is its place in `texts`. */
export interface RowBatch {
  readonly count: number;
  readonly cells: Float64Array;
  readonly texts: readonly string[];
}

const WIDTH = COLUMNS.length;
const FIRST_ROWS = 64;
const TEXT_COLUMNS = [...NAMES, ...TEXTS] as const;

/** One number of each row, in their order. */
export function numbersOf({ count, cells }: RowBatch, name: (typeof NUMBERS)[number]): number[] {
  const at = NUMBERS.indexOf(name);
  return Array.from({ length: count }, (_, row) => cells[row * WIDTH + at] ?? 0);
}

export class BatchBuilder {
  #cells = new Float64Array(WIDTH * FIRST_ROWS);
  #texts: string[] = [""];
  #places = new Map<string, number>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  push(row: RecordRow): void {
    let at = this.#count * WIDTH;
    if (at === this.#cells.length) this.#grow();
    const cells = this.#cells;
    this.#count += 1;
    for (const name of NUMBERS) cells[at++] = row[name];
    for (const name of NAMES) cells[at++] = this.#placeOf(row[name]);
    for (const name of TEXTS) cells[at++] = this.#placeOfNew(row[name]);
  }

  /** What was pushed since; the builder begins anew. */
  take(): RowBatch {
    const batch = { count: this.#count, cells: this.#cells.slice(0, this.#count * WIDTH), texts: this.#texts };
    this.#texts = [""];
    this.#places = new Map();
    this.#count = 0;
    return batch;
  }

  #placeOf(text: string): number {
    if (text === "") return 0;
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    const place = this.#placeOfNew(text);
    this.#places.set(text, place);
    return place;
  }

  #placeOfNew(text: string): number {
    return text === "" ? 0 : this.#texts.push(text) - 1;
  }

  #grow(): void {
    const grown = new Float64Array(this.#cells.length * 2);
    grown.set(this.#cells);
    this.#cells = grown;
  }
}

/** Rows on their way back. Their texts are bytes: whoever takes a thousand of them reads them a few at a time. */
export interface RowPage extends Pick<RowBatch, "count" | "cells"> {
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

export function batchOf(rows: readonly RecordRow[]): RowBatch {
  const builder = new BatchBuilder();
  for (const row of rows) builder.push(row);
  return builder.take();
}

export function pageOf(rows: readonly RecordRow[]): RowPage {
  const { count, cells, texts } = batchOf(rows);
  const { ends, bytes } = PackedTexts.of(new ListedTexts(texts));
  return { count, cells, ends, bytes };
}

/** The rows of a page, as they were given. */
export function rowsOf({ count, cells, ends, bytes }: RowPage): Promise<RecordRow[]> {
  const packed = new PackedTexts(ends, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const texts: string[] = [];
  return mapInTurns(Array.from({ length: count }).keys(), (pageRow) => {
    const row = emptyRow();
    let at = pageRow * WIDTH;
    for (const name of NUMBERS) row[name] = cells[at++] ?? 0;
    for (const name of TEXT_COLUMNS) {
      const place = cells[at++] ?? 0;
      row[name] = texts[place] ??= packed.at(place);
    }
    return row;
  });
}

/** Records on their way to the thread that stores them: numbers in one array, and each text once. */
import { COLUMNS, NUMBERS, type RecordRow } from "./columns.js";

/** Rows one after the other, each with all columns; a text is its place in `texts`. */
export interface RowBatch {
  readonly count: number;
  readonly cells: Float64Array;
  readonly texts: readonly string[];
}

const WIDTH = COLUMNS.length;
const FIRST_ROWS = 64;

export class BatchBuilder {
  #cells = new Float64Array(WIDTH * FIRST_ROWS);
  #texts: string[] = [""];
  #places = new Map<string, number>([["", 0]]);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  push(row: RecordRow): void {
    let at = this.#count * WIDTH;
    if (at === this.#cells.length) this.#grow();
    const cells = this.#cells;
    this.#count += 1;
    for (let column = 0; column < WIDTH; column++) {
      const name = COLUMNS[column];
      const value = name === undefined ? 0 : row[name];
      cells[at++] = typeof value === "number" ? value : this.#placeOf(value);
    }
  }

  /** What was pushed since; the builder begins anew. */
  take(): RowBatch {
    const batch = { count: this.#count, cells: this.#cells.slice(0, this.#count * WIDTH), texts: this.#texts };
    this.#texts = [""];
    this.#places = new Map([["", 0]]);
    this.#count = 0;
    return batch;
  }

  #placeOf(text: string): number {
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    const place = this.#texts.length;
    this.#texts.push(text);
    this.#places.set(text, place);
    return place;
  }

  #grow(): void {
    const grown = new Float64Array(this.#cells.length * 2);
    grown.set(this.#cells);
    this.#cells = grown;
  }
}

/** Where a column's cell stands in a row of a batch. */
export function placeOf(column: (typeof COLUMNS)[number]): number {
  return COLUMNS.indexOf(column);
}

/** True for a column whose cells are places of texts. */
export function isTextColumn(column: (typeof COLUMNS)[number]): boolean {
  return !(NUMBERS as readonly string[]).includes(column);
}

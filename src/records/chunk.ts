/**
 * Some thousand records, column by column: each column has the narrowest numbers that hold it, so that a question about
 * a million requests reads a few bytes of each.
 */
import {
  type ColumnName,
  COLUMNS,
  emptyRow,
  NAMES,
  type NameColumn,
  NUMBERS,
  type RecordRow,
  TEXTS,
} from "./columns.js";
import { ListedTexts, PackedTexts, type TextList } from "./text-list.js";
import type { RowBatch } from "./row-batch.js";

type Cells = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** A column: `base` and what stands above it; without cells all values are the base. */
export interface Column {
  readonly base: number;
  readonly cells: Cells | undefined;
}

/** A part of a chunk: some of its columns, and the list that their names or texts stand in. */
export interface Part {
  readonly columns: ReadonlyMap<ColumnName, Column>;
  readonly texts: TextList;
}

export interface Chunk {
  readonly count: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Numbers and names: what questions are about. */
  readonly facts: Part;
  /** Ids and other texts of single rows. */
  readonly texts: Part;
}

export interface ChunkBytes {
  readonly count: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly facts: Uint8Array;
  readonly texts: Uint8Array;
}

const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array } as const;
type Kind = keyof typeof KINDS;
const NO_COLUMN: Column = { base: 0, cells: undefined };
const FACTS: readonly ColumnName[] = [...NUMBERS, ...NAMES];

export function columnOf(part: Part, name: ColumnName): Column {
  return part.columns.get(name) ?? NO_COLUMN;
}

export function valueAt({ base, cells }: Column, row: number): number {
  return cells === undefined ? base : base + (cells[row] ?? 0);
}

/** No value of the column is further from zero than this. */
export function largestOf({ base, cells }: Column): number {
  if (cells === undefined) return Math.abs(base);
  const most =
    cells instanceof Float64Array
      ? cells.reduce((top, cell) => Math.max(top, cell), 0)
      : 256 ** cells.BYTES_PER_ELEMENT - 1;
  return Math.max(base + most, -base);
}

/** The same part with some of its rows, in the order given. */
export function partOf({ columns, texts }: Part, rows: Int32Array): Part {
  const chosen = new Map<ColumnName, Column>();
  for (const [name, { base, cells }] of columns) {
    if (cells === undefined) {
      chosen.set(name, { base, cells });
      continue;
    }
    const some = cells.slice(0, rows.length);
    for (let at = 0; at < rows.length; at++) some[at] = cells[rows[at] ?? 0] ?? 0;
    chosen.set(name, { base, cells: some });
  }
  return { columns: chosen, texts };
}

/** The name or text of a row. */
export function textAt(part: Part, name: ColumnName, row: number): string {
  return part.texts.at(valueAt(columnOf(part, name), row));
}

/** Makes a chunk of at most so many rows, taken column by column. */
export class ChunkBuilder {
  readonly #cells: ReadonlyMap<ColumnName, Float64Array>;
  readonly #names = new Dictionary();
  readonly #texts = new Dictionary();
  #count = 0;

  constructor(rowsMax: number) {
    this.#cells = new Map(COLUMNS.map((name) => [name, new Float64Array(rowsMax)]));
  }

  pushBatch({ count, cells, texts }: RowBatch): void {
    const listed = new ListedTexts(texts);
    const [names, ownTexts] = [new Places(listed, this.#names), new Places(listed, this.#texts)];
    const width = COLUMNS.length;
    for (const [place, name] of COLUMNS.entries()) {
      const own = this.#cellsOf(name);
      const places = isText(name) ? ownTexts : isName(name) ? names : undefined;
      for (let row = 0; row < count; row++) {
        const cell = cells[row * width + place] ?? 0;
        own[this.#count + row] = places === undefined ? cell : places.of(cell);
      }
    }
    this.#count += count;
  }

  /** The rows of a chunk that `keeps` says, changed where `change` does so. */
  pushChunk(
    chunk: Chunk,
    keeps?: (row: number) => boolean,
    change?: (row: number, name: ColumnName) => string | undefined,
  ): void {
    const rows = Array.from({ length: chunk.count }, (_, row) => row).filter((row) => keeps?.(row) ?? true);
    const [names, texts] = [new Places(chunk.facts.texts, this.#names), new Places(chunk.texts.texts, this.#texts)];
    for (const name of COLUMNS) {
      const own = this.#cellsOf(name);
      const column = columnOf(isText(name) ? chunk.texts : chunk.facts, name);
      const places = isText(name) ? texts : isName(name) ? names : undefined;
      let at = this.#count;
      for (const row of rows) {
        const cell = valueAt(column, row);
        own[at++] = places === undefined ? cell : places.of(cell, change?.(row, name));
      }
    }
    this.#count += rows.length;
  }

  build(): Chunk {
    const times = this.#valuesOf("endTimeMs");
    let [fromMs, toMs] = [Infinity, -Infinity];
    for (const timeMs of times) {
      if (timeMs < fromMs) fromMs = timeMs;
      if (timeMs > toMs) toMs = timeMs;
    }
    const part = (names: readonly ColumnName[], dictionary: Dictionary): Part => ({
      columns: new Map(names.map((name) => [name, narrowed(this.#valuesOf(name))])),
      texts: new ListedTexts(dictionary.texts),
    });
    return { count: this.#count, fromMs, toMs, facts: part(FACTS, this.#names), texts: part(TEXTS, this.#texts) };
  }

  #valuesOf(name: ColumnName): Float64Array {
    return this.#cellsOf(name).subarray(0, this.#count);
  }

  #cellsOf(name: ColumnName): Float64Array {
    const cells = this.#cells.get(name);
    if (cells === undefined) throw new Error(`there is no column ${name}`);
    return cells;
  }
}

class Dictionary {
  readonly texts: string[] = [""];
  readonly #places = new Map<string, number>([["", 0]]);

  placeOf(text: string): number {
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    const place = this.texts.length;
    this.texts.push(text);
    this.#places.set(text, place);
    return place;
  }
}

const NO_PLACE = -1;

/** Where the texts of one list stand in a dictionary: each is looked up once, however many rows have it. */
class Places {
  readonly #known: Int32Array;

  constructor(
    private readonly texts: TextList,
    private readonly dictionary: Dictionary,
  ) {
    this.#known = new Int32Array(texts.count).fill(NO_PLACE);
  }

  /** The place of the text that stands there in the list, or of another one instead. */
  of(place: number, instead?: string): number {
    if (instead !== undefined) return this.dictionary.placeOf(instead);
    const known = this.#known[place] ?? NO_PLACE;
    if (known !== NO_PLACE) return known;
    return (this.#known[place] = this.dictionary.placeOf(this.texts.at(place)));
  }
}

const NAME_SET: ReadonlySet<string> = new Set(NAMES);
const TEXT_SET: ReadonlySet<string> = new Set(TEXTS);

function isName(name: ColumnName): name is NameColumn {
  return NAME_SET.has(name);
}

function isText(name: ColumnName): boolean {
  return TEXT_SET.has(name);
}

export function narrowed(values: Float64Array): Column {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (values.length === 0) return NO_COLUMN;
  if (least === most) return { base: least, cells: undefined };
  const span = most - least;
  const Kind = span < 256 ? Uint8Array : span < 65_536 ? Uint16Array : span < 2 ** 32 ? Uint32Array : Float64Array;
  const cells = new Kind(values.length);
  for (let row = 0; row < values.length; row++) cells[row] = (values[row] ?? 0) - least;
  return { base: least, cells };
}

/** What a part's bytes begin with. */
interface Head {
  readonly columns: readonly (readonly [ColumnName, number, Kind | "", number, number])[];
  /** Names. Of texts it is how many there are and where they begin. */
  readonly texts: readonly string[] | { readonly count: number; readonly offset: number; readonly bytes: number };
}

/** A part as bytes: the length of its head, the head in JSON, and the cells of each column, eight bytes apart. */
function encodePart({ columns, texts }: Part): Uint8Array {
  let at = 0;
  const pieces: (readonly [number, NodeJS.ArrayBufferView])[] = [];
  const place = (piece: NodeJS.ArrayBufferView): number => {
    pieces.push([at, piece]);
    const offset = at;
    at += aligned(piece.byteLength);
    return offset;
  };
  const placed = [...columns].map(([name, { base, cells }]): Head["columns"][number] =>
    cells === undefined ? [name, base, "", 0, 0] : [name, base, kindOf(cells), place(cells), cells.length],
  );
  const head = Buffer.from(JSON.stringify({ columns: placed, texts: placeTexts(texts, place) } satisfies Head));
  const start = aligned(4 + head.length);
  const bytes = new Uint8Array(start + at);
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(head, 4);
  for (const [offset, { buffer, byteOffset, byteLength }] of pieces)
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), start + offset);
  return bytes;
}

function placeTexts(texts: TextList, place: (piece: NodeJS.ArrayBufferView) => number): Head["texts"] {
  if (texts instanceof ListedTexts) return texts.texts;
  const { ends, bytes } = PackedTexts.of(texts);
  const offset = place(ends);
  place(bytes);
  return { count: ends.length, offset, bytes: bytes.length };
}

export function decodePart(given: Uint8Array): Part {
  // Cells are read in place, and are kept: a slice of what a driver read would keep all of that.
  const isOwn = given.buffer instanceof ArrayBuffer && given.buffer.byteLength === given.byteLength;
  const bytes = isOwn ? given : new Uint8Array(given);
  const { buffer } = bytes;
  if (!(buffer instanceof ArrayBuffer)) throw new Error("a part of a chunk is in memory that threads share");
  const headBytes = new DataView(buffer, bytes.byteOffset).getUint32(0, true);
  const head = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + 4, headBytes).toString()) as Head;
  const start = bytes.byteOffset + aligned(4 + headBytes);
  const columns = head.columns.map(([name, base, kind, offset, length]): [ColumnName, Column] => [
    name,
    { base, cells: kind === "" ? undefined : new KINDS[kind](buffer, start + offset, length) },
  ]);
  return { columns: new Map(columns), texts: textsIn(head.texts, buffer, start) };
}

function textsIn(texts: Head["texts"], buffer: ArrayBuffer, start: number): TextList {
  if (!("offset" in texts)) return new ListedTexts(texts);
  const from = start + texts.offset;
  const ends = new Uint32Array(buffer, from, texts.count);
  return new PackedTexts(ends, Buffer.from(buffer, from + aligned(ends.byteLength), texts.bytes));
}

export function encodeChunk({ count, fromMs, toMs, facts, texts }: Chunk): ChunkBytes {
  return { count, fromMs, toMs, facts: encodePart(facts), texts: encodePart(packed(texts)) };
}

/** One row, as it was pushed. */
export function rowOf({ facts, texts }: Chunk, row: number): RecordRow {
  const read = emptyRow();
  for (const name of NUMBERS) read[name] = valueAt(columnOf(facts, name), row);
  for (const name of NAMES) read[name] = textAt(facts, name, row);
  for (const name of TEXTS) read[name] = textAt(texts, name, row);
  return read;
}

function kindOf(cells: Cells): Kind {
  if (cells instanceof Uint8Array) return "u8";
  if (cells instanceof Uint16Array) return "u16";
  return cells instanceof Uint32Array ? "u32" : "f64";
}

function aligned(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** Of ids and the like a question reads a few. */
function packed({ columns, texts }: Part): Part {
  return { columns, texts: PackedTexts.of(texts) };
}

/** What answers told, item by item, for a while: some clients name what they were told rather than tell it again. */
import { OwnCopies } from "../base/bytes/own-copies.js";

/** Bounds of what is kept; the oldest answer goes first. */
const ANSWER_BYTES_MAX = 1_048_576;
const BYTES_MAX = 67_108_864;
const HOLDER_BYTES_MAX = 4_194_304;
const KEPT_MS = 3_600_000;
/** What an item takes beside its bytes, in three maps. */
const ITEM_BYTES = 1_024;

interface ToldAnswer {
  readonly holder: string;
  /** Each item as JSON, by its id. */
  readonly items: ReadonlyMap<string, Buffer>;
  readonly bytes: number;
  readonly endMs: number;
}

/** What one key was told. */
interface Told {
  readonly answers: Set<ToldAnswer>;
  /** The answer that told an item last, by the item's id. */
  readonly byItem: Map<string, ToldAnswer>;
  bytes: number;
}

/** Kept in this process alone, and found by none but the key that asked. To find an item costs one look. */
export class ItemCache {
  readonly #answers = new Set<ToldAnswer>();
  readonly #byHolder = new Map<string, Told>();
  #bytes = 0;

  constructor(private readonly nowMs: () => number) {}

  get bytes(): number {
    return this.#bytes;
  }

  keep(holder: string, items: ReadonlyMap<string, Buffer>): void {
    if (holder === "" || items.size === 0) return;
    let bytes = 0;
    for (const json of items.values()) bytes += json.length + ITEM_BYTES;
    if (bytes > ANSWER_BYTES_MAX) return;
    const copies = new OwnCopies();
    const own = new Map<string, Buffer>();
    for (const [id, json] of items) own.set(id, copies.copy(json));
    this.#add({ holder, items: own, bytes, endMs: this.nowMs() + KEPT_MS });
  }

  #add(answer: ToldAnswer): void {
    const told = this.#byHolder.get(answer.holder) ?? { answers: new Set(), byItem: new Map(), bytes: 0 };
    this.#byHolder.set(answer.holder, told);
    told.answers.add(answer);
    for (const id of answer.items.keys()) told.byItem.set(id, answer);
    told.bytes += answer.bytes;
    this.#answers.add(answer);
    this.#bytes += answer.bytes;
    for (const old of told.answers) {
      if (told.bytes <= HOLDER_BYTES_MAX) break;
      this.#drop(old);
    }
    for (const old of this.#answers) {
      if (this.#bytes <= BYTES_MAX && old.endMs > this.nowMs()) break;
      this.#drop(old);
    }
  }

  /** False where the key was told nothing that it could name. */
  knows(holder: string): boolean {
    return this.#byHolder.has(holder);
  }

  /** The item as it was told last; undefined where it is not known. */
  item(holder: string, id: string): Buffer | undefined {
    const answer = this.#byHolder.get(holder)?.byItem.get(id);
    return answer === undefined || answer.endMs <= this.nowMs() ? undefined : answer.items.get(id);
  }

  #drop(answer: ToldAnswer): void {
    this.#answers.delete(answer);
    this.#bytes -= answer.bytes;
    const told = this.#byHolder.get(answer.holder);
    if (told === undefined) return;
    told.answers.delete(answer);
    told.bytes -= answer.bytes;
    for (const id of answer.items.keys()) if (told.byItem.get(id) === answer) told.byItem.delete(id);
    if (told.answers.size === 0) this.#byHolder.delete(answer.holder);
  }
}

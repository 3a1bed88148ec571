/** Groups of a question as numbers: a group is a pair of values, and each value is looked up by name once a chunk. */
import type { Codes } from "./usage-codes.js";

/** More groups are no table that anybody reads, and would take the memory of all. */
export const GROUPS_MAX = 20_000;
/** A question that makes more groups is refused: whoever asks narrows it. */
export class TooManyGroups extends Error {}

/** Above the number of any value: each value is of some group. */
const VALUE_BITS = 15;
const VALUE_MASK = (1 << VALUE_BITS) - 1;
const SLOT_BITS = 16;
const SLOTS = 1 << SLOT_BITS;
/** So many pairs of codes of one chunk have a place each. */
const NEAR_PAIRS = 1 << 17;

export interface OrderedGroups {
  readonly groups: Int32Array;
  /** The values of each property, in order, and which of them each group has. */
  readonly names: readonly (readonly string[])[];
  readonly places: Int32Array<ArrayBuffer>;
}

/** Groups in the order in which they were met: the values of each property, and for each group which it has. */
export interface MetGroups {
  readonly firsts: readonly string[];
  readonly seconds: readonly string[];
  readonly pairs: Int32Array;
}

/** Group 0 is of rows that do not pass. */
export class UsagePlaces {
  /** One above the pair in each slot, and its group. */
  readonly #pairs = new Int32Array(SLOTS);
  readonly #groups = new Int32Array(SLOTS);
  readonly #firsts = new Values();
  readonly #seconds = new Values();
  /** The pair of each group. */
  readonly #pairOf: number[] = [-1];

  /** One above that of the last. */
  get groupCount(): number {
    return this.#pairOf.length;
  }

  /** The group of each row. Throws TooManyGroups. */
  of([first = NO_CODES, second = NO_CODES]: readonly Codes[], count: number): Int32Array {
    const groups = new Int32Array(count);
    const [one, other] = [new Translation(first, this.#firsts), new Translation(second, this.#seconds)];
    // Of a chunk most pairs come often: each is looked up once, where its codes lead to it straight away.
    const known = first.span * second.span <= NEAR_PAIRS ? new Int32Array(first.span * second.span) : undefined;
    const [firsts, seconds] = [first.of, second.of];
    for (let row = 0; row < count; row++) {
      const [code, another] = [firsts?.[row] ?? 0, seconds?.[row] ?? 0];
      const near = code * second.span + another;
      let group = known?.[near] ?? 0;
      if (group === 0) {
        group = this.#groupOf((one.valueOf(code) << VALUE_BITS) | other.valueOf(another));
        if (known !== undefined) known[near] = group;
      }
      groups[row] = group;
    }
    return groups;
  }

  /** Whose groups they are, for others to take them in. */
  met(): MetGroups {
    return { firsts: this.#firsts.names, seconds: this.#seconds.names, pairs: Int32Array.from(this.#pairOf) };
  }

  /** The group that each group of others is here. Throws TooManyGroups. */
  merge({ firsts, seconds, pairs }: MetGroups): Int32Array {
    const ones = firsts.map((name) => this.#firsts.placeOf(name));
    const others = seconds.map((name) => this.#seconds.placeOf(name));
    return pairs.map((pair, group) => {
      if (group === 0) return 0;
      return this.#groupOf(((ones[pair >> VALUE_BITS] ?? 0) << VALUE_BITS) | (others[pair & VALUE_MASK] ?? 0));
    });
  }

  /** Groups in the order of their values, of which each has so many. */
  inOrder(width: number): OrderedGroups {
    const values = [this.#firsts, this.#seconds].slice(0, width).map((each) => each.sorted());
    const [first, second] = values;
    const keys = new Float64Array(this.groupCount - 1);
    for (let group = 1; group < this.groupCount; group++) {
      const pair = this.#pairOf[group] ?? 0;
      const one = first?.rankOf[pair >> VALUE_BITS] ?? 0;
      const other = second?.rankOf[pair & VALUE_MASK] ?? 0;
      keys[group - 1] = ((one << VALUE_BITS) | other) * SLOTS + group;
    }
    keys.sort();
    const groups = new Int32Array(keys.length);
    const places = new Int32Array(keys.length * width);
    for (const [at, key] of keys.entries()) {
      const pair = Math.floor(key / SLOTS);
      groups[at] = key % SLOTS;
      if (width > 0) places[at * width] = pair >> VALUE_BITS;
      if (width > 1) places[at * width + 1] = pair & VALUE_MASK;
    }
    return { groups, names: values.map(({ names }) => names), places };
  }

  #groupOf(pair: number): number {
    let slot = Math.imul(pair, 0x9e3779b1) >>> (32 - SLOT_BITS);
    for (;;) {
      const known = this.#pairs[slot] ?? 0;
      if (known === pair + 1) return this.#groups[slot] ?? 0;
      if (known === 0) break;
      slot = (slot + 1) & (SLOTS - 1);
    }
    const group = this.groupCount;
    if (group > GROUPS_MAX) throw new TooManyGroups();
    this.#pairs[slot] = pair + 1;
    this.#groups[slot] = group;
    this.#pairOf.push(pair);
    return group;
  }
}

/** Values of one property, in the order in which they were met. */
class Values {
  readonly #names: string[] = [];
  readonly #places = new Map<string, number>();

  get names(): readonly string[] {
    return this.#names;
  }

  placeOf(name: string): number {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const place = this.#names.length;
    this.#names.push(name);
    this.#places.set(name, place);
    return place;
  }

  /** The names in order, and which place each has among them. */
  sorted(): { readonly names: string[]; readonly rankOf: Int32Array } {
    const names = this.#names.toSorted();
    const rankOf = new Int32Array(names.length);
    for (const [rank, name] of names.entries()) rankOf[this.placeOf(name)] = rank;
    return { names, rankOf };
  }
}

/** The codes of one chunk as values of the question. */
class Translation {
  /** One above the value; 0 is not looked up yet. */
  readonly #known: Int32Array;

  constructor(
    private readonly codes: Codes,
    private readonly values: Values,
  ) {
    this.#known = new Int32Array(codes.span);
  }

  valueOf(code: number): number {
    const known = this.#known[code] ?? 0;
    if (known !== 0) return known - 1;
    const value = this.values.placeOf(this.codes.nameOf(code));
    this.#known[code] = value + 1;
    return value;
  }
}

const NO_CODES: Codes = { of: undefined, span: 1, nameOf: () => "" };

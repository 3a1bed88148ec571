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
  readonly #near = new NearPairs();
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
    const [firstValues, secondValues] = [one.values, other.values];
    const [firsts, seconds] = [first.of, second.of];
    const near = this.#near;
    let { groups: known, width } = near;
    for (let row = 0; row < count; row++) {
      const [code, another] = [firsts?.[row] ?? 0, seconds?.[row] ?? 0];
      let [value, under] = [firstValues[code] ?? NO_VALUE, secondValues[another] ?? NO_VALUE];
      if (value === NO_VALUE || under === NO_VALUE) {
        [value, under] = [one.valueOf(code), other.valueOf(another)];
        near.fit(this.#firsts.names.length, this.#seconds.names.length);
        ({ groups: known, width } = near);
      }
      const place = value * width + under;
      let group = known[place] ?? 0;
      if (group === 0) {
        group = this.#groupOf((value << VALUE_BITS) | under);
        // Without room for all pairs there is none for any.
        if (place < known.length) known[place] = group;
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

/** Of more pairs each is looked up. */
const NEAR_PAIRS_MAX = 1 << 20;

/** The group of each pair of values, where it is found at once: most rows are of a pair that was met before. */
class NearPairs {
  /** Zero where no row had the pair yet; empty where there are too many pairs. */
  groups = new Int32Array(1);
  /** How many second values there is room for. */
  width = 1;

  /** Makes room for so many values of each property. */
  fit(firsts: number, seconds: number): void {
    const { groups, width } = this;
    if (groups.length === 0 || (seconds <= width && firsts * width <= groups.length)) return;
    const wider = powerOfTwo(seconds);
    const length = powerOfTwo(firsts) * wider;
    this.groups = new Int32Array(length > NEAR_PAIRS_MAX ? 0 : length);
    this.width = wider;
    if (this.groups.length === 0) return;
    if (wider === width) return this.groups.set(groups);
    for (let from = 0; from < groups.length; from += width)
      this.groups.set(groups.subarray(from, from + width), (from / width) * wider);
  }
}

/** The least that is not below. */
function powerOfTwo(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, count)));
}

const NO_VALUE = -1;

/** The codes of one chunk as values of the question. */
class Translation {
  /** The value of each code that was looked up. */
  readonly values: Int32Array;

  constructor(
    private readonly codes: Codes,
    private readonly all: Values,
  ) {
    this.values = new Int32Array(codes.span).fill(NO_VALUE);
  }

  valueOf(code: number): number {
    const known = this.values[code] ?? NO_VALUE;
    return known === NO_VALUE ? (this.values[code] = this.all.placeOf(this.codes.nameOf(code))) : known;
  }
}

const NO_CODES: Codes = { of: undefined, span: 1, nameOf: () => "" };

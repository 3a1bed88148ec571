/** Sums of whole numbers, one a group: exact, however large they are. */

/** Whole numbers below this are added exactly. */
const EXACT_MAX = 2 ** 53;

export class ExactSums {
  #sums = new Float64Array(0);
  /** No sum is further from zero than this. */
  #bound = 0;
  /** What no longer fits beside, by group. */
  #large: bigint[] | undefined;

  /** Adds the value of each row to its group; none is further from zero than `most`. */
  add(groups: Int32Array, groupCount: number, values: Float64Array, most: number): void {
    if (this.#sums.length < groupCount) this.#sums = grown(this.#sums, groupCount);
    const added = values.length * most;
    if (added >= EXACT_MAX) return this.#addLarge(groups, values);
    if (this.#bound + added >= EXACT_MAX) this.#spill();
    this.#bound += added;
    const sums = this.#sums;
    for (let row = 0; row < values.length; row++) {
      const group = groups[row] ?? 0;
      sums[group] = (sums[group] ?? 0) + (values[row] ?? 0);
    }
  }

  /** Adds each group of other sums to the group that it is here. */
  merge(groups: Int32Array, groupCount: number, others: ExactSums): void {
    const values = others.#sums.subarray(0, groups.length);
    this.add(groups.subarray(0, values.length), groupCount, values, values.reduce(most, 0));
    for (const [at, sum] of others.#large?.entries() ?? []) {
      const [large, group] = [(this.#large ??= []), groups[at] ?? 0];
      if (sum !== undefined) large[group] = (large[group] ?? 0n) + sum;
    }
  }

  /** The sum of a group as 64 bits at this place; `halves` are the same bytes. */
  write(group: number, at: number, sums: BigInt64Array, halves: Uint32Array): void {
    const sum = this.#sums[group] ?? 0;
    const large = this.#large?.[group];
    if (large !== undefined || sum < 0) {
      sums[at] = (large ?? 0n) + BigInt(sum);
      return;
    }
    halves[at * 2] = sum;
    halves[at * 2 + 1] = sum / 2 ** 32;
  }

  #addLarge(groups: Int32Array, values: Float64Array): void {
    const large = (this.#large ??= []);
    for (let row = 0; row < values.length; row++) {
      const group = groups[row] ?? 0;
      large[group] = (large[group] ?? 0n) + BigInt(values[row] ?? 0);
    }
  }

  #spill(): void {
    const large = (this.#large ??= []);
    for (const [group, sum] of this.#sums.entries()) large[group] = (large[group] ?? 0n) + BigInt(sum);
    this.#sums.fill(0);
    this.#bound = 0;
  }
}

/** With room for as many numbers, and some more. */
export function grown(numbers: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.max(length, numbers.length * 2));
  larger.set(numbers);
  return larger;
}

function most(one: number, other: number): number {
  return Math.max(one, Math.abs(other));
}

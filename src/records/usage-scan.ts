/** Adds up records by one or two of their properties, chunk by chunk and column by column. */
import { USAGE_FIELDS } from "../api/usage.js";
import { type Chunk, columnOf, mostOf, type Part } from "./chunk.js";
import { type ColumnName, FLAG } from "./columns.js";
import { ExactSums, grown } from "./exact-sums.js";
import { isSettled, type RecordFilter, testOf } from "./filter.js";
import { codesOf, type Dimension } from "./usage-codes.js";
import { UsagePlaces } from "./usage-places.js";
import { type TimesOfGroups, UsageTimes } from "./usage-times.js";

/** What is added up; each is exact. */
export const SUMS = ["costNanos", "chargedNanos", "operatorCostNanos", "marginNanos", ...USAGE_FIELDS] as const;
export type SumName = (typeof SUMS)[number];
const MARGIN = SUMS.indexOf("marginNanos");
const CHARGED = SUMS.indexOf("chargedNanos");
const OPERATOR_COST = SUMS.indexOf("operatorCostNanos");
const WIDTH = SUMS.length;

/** Groups as they go from thread to thread: numbers in arrays, so that nobody waits for many small objects. */
export interface UsageTable extends TimesOfGroups {
  /** The values of each property, and for each group which of them it has, one property after the other. */
  readonly names: readonly (readonly string[])[];
  readonly places: Int32Array<ArrayBuffer>;
  readonly requestCounts: Float64Array<ArrayBuffer>;
  readonly answeredCounts: Float64Array<ArrayBuffer>;
  readonly settledCounts: Float64Array<ArrayBuffer>;
  /** As `SUMS` has them, group by group. */
  readonly sums: BigInt64Array<ArrayBuffer>;
  readonly reasons: readonly string[];
  /** How often each reason was, group by group. */
  readonly errors: Float64Array<ArrayBuffer>;
}

/** Which group each row of a chunk is of, and how many groups there are; what does not pass is of group 0. */
interface Grouped {
  readonly groups: Int32Array;
  readonly groupCount: number;
}

export class UsageScan {
  readonly #places = new UsagePlaces();
  readonly #requests = new Counts();
  readonly #answered = new Counts();
  readonly #settled = new Counts();
  /** In the place of the margin stands what is in no margin: what was charged where the cost is not known. */
  readonly #sums: (ExactSums | undefined)[] = SUMS.map(() => undefined);
  readonly #times = new UsageTimes();
  readonly #errors = new Map<string, Counts>();

  constructor(
    private readonly dimensions: readonly Dimension[],
    private readonly filter: RecordFilter,
  ) {}

  /** Throws TooManyGroups. */
  add(chunk: Chunk): void {
    const test = testOf(chunk, this.filter);
    if (test === undefined) return;
    const { facts, count } = chunk;
    const codes = this.dimensions.map((dimension) => codesOf(facts, dimension, count));
    const groups = this.#places.of(codes, count, test);
    const grouped = { groups, groupCount: this.#places.groupCount };
    this.#addCounts(grouped, facts);
    this.#addSums(grouped, facts, new Float64Array(count));
    this.#addErrors(grouped, facts);
    this.#times.add(groups, grouped.groupCount, facts);
  }

  /** In the order of the values. */
  table(): UsageTable {
    const { groups, names, places } = this.#places.inOrder(this.dimensions.length);
    const errors = [...this.#errors.values()];
    return {
      names,
      places,
      requestCounts: this.#requests.of(groups),
      answeredCounts: this.#answered.of(groups),
      settledCounts: this.#settled.of(groups),
      sums: this.#sumsOf(groups),
      ...this.#times.of(groups),
      reasons: [...this.#errors.keys()],
      errors: Float64Array.from(
        { length: groups.length * errors.length },
        (_, at) => errors[at % errors.length]?.at(groups[Math.floor(at / errors.length)] ?? 0) ?? 0,
      ),
    };
  }

  #sumsOf(groups: Int32Array): BigInt64Array<ArrayBuffer> {
    const sums = new BigInt64Array(groups.length * WIDTH);
    const halves = new Uint32Array(sums.buffer);
    for (const [place, kind] of this.#sums.entries())
      if (kind !== undefined)
        for (let at = 0; at < groups.length; at++) kind.write(groups[at] ?? 0, at * WIDTH + place, sums, halves);
    for (let at = 0; at < sums.length; at += WIDTH)
      sums[at + MARGIN] = (sums[at + CHARGED] ?? 0n) - (sums[at + MARGIN] ?? 0n) - (sums[at + OPERATOR_COST] ?? 0n);
    return sums;
  }

  #addCounts({ groups, groupCount }: Grouped, facts: Part): void {
    const [flags, source] = [columnOf(facts, "flags"), columnOf(facts, "usageSource")];
    const requests = this.#requests.held(groupCount);
    const answered = this.#answered.held(groupCount);
    const settled = this.#settled.held(groupCount);
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] ?? 0;
      requests[group] = (requests[group] ?? 0) + 1;
      if (((flags.base + (flags.cells?.[row] ?? 0)) & FLAG.answered) === 0) continue;
      answered[group] = (answered[group] ?? 0) + 1;
      if (isSettled(source.base + (source.cells?.[row] ?? 0))) settled[group] = (settled[group] ?? 0) + 1;
    }
  }

  #addSums(grouped: Grouped, facts: Part, scratch: Float64Array): void {
    for (const [place, name] of SUMS.entries()) {
      // Most kinds of tokens occur in no row of a chunk.
      if (name === "marginNanos" || isZero(facts, name)) continue;
      const most = mostOf(columnOf(facts, name));
      this.#sumOf(place).add(grouped.groups, grouped.groupCount, cellsOf(facts, name, scratch), most);
      if (name === "chargedNanos" && keepUnknown(facts, scratch))
        this.#sumOf(MARGIN).add(grouped.groups, grouped.groupCount, scratch, most);
    }
  }

  #sumOf(place: number): ExactSums {
    return (this.#sums[place] ??= new ExactSums());
  }

  #addErrors({ groups, groupCount }: Grouped, facts: Part): void {
    if (isZero(facts, "reason")) return;
    const [reasons, flags] = [columnOf(facts, "reason"), columnOf(facts, "flags")];
    const counts: (Float64Array | undefined)[] = [];
    for (let row = 0; row < groups.length; row++) {
      const [reason, group] = [reasons.base + (reasons.cells?.[row] ?? 0), groups[row] ?? 0];
      if (reason === 0 || group === 0) continue;
      if (((flags.base + (flags.cells?.[row] ?? 0)) & FLAG.adopted) !== 0) continue;
      const of = (counts[reason] ??= this.#errorsOf(facts.texts.at(reason)).held(groupCount));
      of[group] = (of[group] ?? 0) + 1;
    }
  }

  #errorsOf(reason: string): Counts {
    const known = this.#errors.get(reason) ?? new Counts();
    this.#errors.set(reason, known);
    return known;
  }
}

/** How often something was, for each group. */
class Counts {
  #counts = new Float64Array(0);

  /** With room for all groups. */
  held(groupCount: number): Float64Array {
    if (this.#counts.length < groupCount) this.#counts = grown(this.#counts, groupCount);
    return this.#counts;
  }

  at(group: number): number {
    return this.#counts[group] ?? 0;
  }

  of(groups: Int32Array): Float64Array<ArrayBuffer> {
    return Float64Array.from(groups, (group) => this.at(group));
  }
}

function isZero(facts: Part, name: ColumnName): boolean {
  const { base, cells } = columnOf(facts, name);
  return cells === undefined && base === 0;
}

/** The values of a column, in numbers of one kind: loops over those are fast, whichever the column has. */
function cellsOf(facts: Part, name: ColumnName, scratch: Float64Array): Float64Array {
  const { base, cells } = columnOf(facts, name);
  if (cells === undefined) return scratch.fill(base);
  scratch.set(cells);
  if (base !== 0) for (let row = 0; row < scratch.length; row++) scratch[row] = (scratch[row] ?? 0) + base;
  return scratch;
}

/** Leaves what was charged only where the cost is not known. False where nothing is left. */
function keepUnknown(facts: Part, charged: Float64Array): boolean {
  const flags = columnOf(facts, "flags");
  let kept = false;
  for (let row = 0; row < charged.length; row++)
    if (((flags.base + (flags.cells?.[row] ?? 0)) & FLAG.costKnown) !== 0) charged[row] = 0;
    else if (charged[row] !== 0) kept = true;
  return kept;
}

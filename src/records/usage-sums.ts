/** Counts and sums of requests by group: each is exact. Group 0 is of nobody. */
import type { Meter } from "../api/index.js";
import { metersIn } from "../api/meters.js";
import { USAGE_FIELDS } from "../api/usage.js";
import { columnOf, largestOf, type Part } from "./chunk.js";
import { type ColumnName, FLAG } from "./columns.js";
import { ExactSums, grown } from "./exact-sums.js";
import { isSettled } from "./filter.js";

/** What is added up; each is exact. */
export const SUMS = [
  "costNanos",
  "chargedNanos",
  "operatorCostNanos",
  "marginNanos",
  ...USAGE_FIELDS,
  "cacheSavedNanos",
  "streamedTokens",
  "streamedTenths",
] as const;
export type SumName = (typeof SUMS)[number];
const MARGIN = SUMS.indexOf("marginNanos");
const CHARGED = SUMS.indexOf("chargedNanos");
const OPERATOR_COST = SUMS.indexOf("operatorCostNanos");
const WIDTH = SUMS.length;
/** What is worked out of several columns: how long streams took after their first part, and their tokens. */
const STREAMED = ["streamedTokens", "streamedTenths"] as const;
type StreamedSum = (typeof STREAMED)[number];

export interface SumsOfGroups {
  readonly requestCounts: Float64Array<ArrayBuffer>;
  readonly answeredCounts: Float64Array<ArrayBuffer>;
  readonly settledCounts: Float64Array<ArrayBuffer>;
  /** As `SUMS` has them, group by group. */
  readonly sums: BigInt64Array<ArrayBuffer>;
  readonly reasons: readonly string[];
  /** How often each reason was, group by group. */
  readonly errors: Float64Array<ArrayBuffer>;
  /** The unit and variant of each meter that was used, and how much of it, group by group. */
  readonly meters: readonly MeterName[];
  readonly quantities: Float64Array<ArrayBuffer>;
}

/** A unit with its variant. */
export type MeterName = Readonly<Pick<Meter, "unit" | "variant">>;

export class UsageSums {
  readonly #requests = new Counts();
  readonly #answered = new Counts();
  readonly #settled = new Counts();
  /** In the place of the margin stands what is in no margin: what was charged where the cost is not known. */
  readonly #sums: (ExactSums | undefined)[] = SUMS.map(() => undefined);
  readonly #errors = new Map<string, Counts>();
  readonly #meters = new Map<string, MeterName & { readonly quantities: Counts }>();

  /** Adds each row of a chunk to its group. */
  addRows(groups: Int32Array, groupCount: number, facts: Part): void {
    this.#addCounts(groups, groupCount, facts);
    this.#addSums(groups, groupCount, facts, new Float64Array(groups.length));
    this.#addErrors(groups, groupCount, facts);
    this.#addMeters(groups, groupCount, facts);
  }

  /** Adds each group of others to the group that it is here. */
  merge(groups: Int32Array, groupCount: number, others: UsageSums): void {
    this.#requests.merge(groups, groupCount, others.#requests);
    this.#answered.merge(groups, groupCount, others.#answered);
    this.#settled.merge(groups, groupCount, others.#settled);
    for (const [place, sums] of others.#sums.entries())
      if (sums !== undefined) this.#sumOf(place).merge(groups, groupCount, sums);
    for (const [reason, counts] of others.#errors) this.#errorsOf(reason).merge(groups, groupCount, counts);
    for (const meter of others.#meters.values()) this.#quantitiesOf(meter).merge(groups, groupCount, meter.quantities);
  }

  /** In the order of the groups that are given. */
  of(groups: Int32Array): SumsOfGroups {
    const errors = [...this.#errors.values()];
    const meters = [...this.#meters.values()];
    return {
      requestCounts: this.#requests.of(groups),
      answeredCounts: this.#answered.of(groups),
      settledCounts: this.#settled.of(groups),
      sums: this.#sumsOf(groups),
      reasons: [...this.#errors.keys()],
      errors: countsOf(errors, groups),
      meters: meters.map(({ unit, variant }) => ({ unit, variant })),
      quantities: countsOf(
        meters.map(({ quantities }) => quantities),
        groups,
      ),
    };
  }

  /** About how much memory it takes. */
  bytes(groupCount: number): number {
    const arrays = 3 + this.#errors.size + this.#meters.size + this.#sums.filter((sums) => sums !== undefined).length;
    return arrays * groupCount * Float64Array.BYTES_PER_ELEMENT;
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

  #addCounts(groups: Int32Array, groupCount: number, facts: Part): void {
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

  #addSums(groups: Int32Array, groupCount: number, facts: Part, scratch: Float64Array): void {
    for (const [place, name] of SUMS.entries()) {
      // Most kinds of tokens occur in no row of a chunk.
      if (name === "marginNanos" || isStreamed(name) || isZero(facts, name)) continue;
      const most = largestOf(columnOf(facts, name));
      this.#sumOf(place).add(groups, groupCount, cellsOf(facts, name, scratch), most);
      if (name === "chargedNanos" && keepUnknown(facts, scratch))
        this.#sumOf(MARGIN).add(groups, groupCount, scratch, most);
    }
    for (const name of STREAMED) {
      const most = streamedCells(facts, name, scratch);
      if (most > 0) this.#sumOf(SUMS.indexOf(name)).add(groups, groupCount, scratch, most);
    }
  }

  #sumOf(place: number): ExactSums {
    return (this.#sums[place] ??= new ExactSums());
  }

  #addErrors(groups: Int32Array, groupCount: number, facts: Part): void {
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

  #addMeters(groups: Int32Array, groupCount: number, facts: Part): void {
    if (isZero(facts, "meters")) return;
    const texts = columnOf(facts, "meters");
    const known = new Map<number, readonly Meter[]>();
    for (let row = 0; row < groups.length; row++) {
      const [text, group] = [texts.base + (texts.cells?.[row] ?? 0), groups[row] ?? 0];
      if (text === 0 || group === 0) continue;
      let meters = known.get(text);
      if (meters === undefined) known.set(text, (meters = metersIn(facts.texts.at(text))));
      for (const meter of meters) {
        const sums = this.#quantitiesOf(meter).held(groupCount);
        sums[group] = (sums[group] ?? 0) + Number(meter.quantity);
      }
    }
  }

  #quantitiesOf({ unit, variant }: MeterName): Counts {
    const name = `${unit} ${variant}`;
    const known = this.#meters.get(name) ?? { unit, variant, quantities: new Counts() };
    this.#meters.set(name, known);
    return known.quantities;
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

  merge(groups: Int32Array, groupCount: number, others: Counts): void {
    const counts = this.held(groupCount);
    for (let at = 1; at < groups.length; at++) {
      const group = groups[at] ?? 0;
      counts[group] = (counts[group] ?? 0) + (others.#counts[at] ?? 0);
    }
  }

  at(group: number): number {
    return this.#counts[group] ?? 0;
  }

  of(groups: Int32Array): Float64Array<ArrayBuffer> {
    return Float64Array.from(groups, (group) => this.at(group));
  }
}

/** Of each group the counts of all, one after the other. */
function countsOf(counts: readonly Counts[], groups: Int32Array): Float64Array<ArrayBuffer> {
  return Float64Array.from(
    { length: groups.length * counts.length },
    (_, at) => counts[at % counts.length]?.at(groups[Math.floor(at / counts.length)] ?? 0) ?? 0,
  );
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

function isStreamed(name: SumName): name is StreamedSum {
  return STREAMED.some((one) => one === name);
}

/** Fills in what each row adds to a sum of streams, and returns the largest. An answer that came at once is none. */
function streamedCells(facts: Part, name: StreamedSum, cells: Float64Array): number {
  if (isZero(facts, "firstToken")) return 0;
  const [flags, first, total] = [columnOf(facts, "flags"), columnOf(facts, "firstToken"), columnOf(facts, "total")];
  const [output, reasoning] = [columnOf(facts, "outputTokens"), columnOf(facts, "reasoningTokens")];
  let most = 0;
  for (let row = 0; row < cells.length; row++) {
    const firstAt = first.base + (first.cells?.[row] ?? 0);
    const tenths = total.base + (total.cells?.[row] ?? 0) - firstAt;
    const tokens = output.base + (output.cells?.[row] ?? 0) + reasoning.base + (reasoning.cells?.[row] ?? 0);
    const isStreamed = ((flags.base + (flags.cells?.[row] ?? 0)) & FLAG.streamed) !== 0;
    const isTimed = isStreamed && firstAt > 0 && tenths > 0 && tokens > 0;
    const value = name === "streamedTenths" ? tenths : tokens;
    cells[row] = isTimed ? value : 0;
    if (isTimed && value > most) most = value;
  }
  return most;
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

/** Counts and times of every request as plain numbers, put into Prometheus's form only when it asks. */
import { Counter, Histogram } from "prom-client";

// A label's values are routes, statuses, upstreams and models: few. What comes beyond that many is counted together.
const SERIES_MAX = 4_096;
const OTHERS = "others";

/** A counter of two labels. Adding to it is one look into a map, without the labels' object that prom-client wants. */
export class Tally<First extends string, Second extends string> extends Counter<First | Second> {
  readonly #counts = new Map<string, Map<string, number>>();

  constructor(name: string, help: string, [first, second]: readonly [First, Second]) {
    super({
      name,
      help,
      labelNames: [first, second],
      registers: [],
      collect: () => {
        this.reset();
        for (const [one, counts] of this.#counts)
          for (const [two, count] of counts) {
            const labels: Partial<Record<First | Second, string>> = {};
            labels[first] = one;
            labels[second] = two;
            this.inc(labels, count);
          }
      },
    });
  }

  add(first: string, second: string): void {
    const counts = seriesOf(this.#counts, first, () => new Map<string, number>());
    counts.set(second, (counts.get(second) ?? 0) + 1);
  }
}

/** A histogram of seconds with one label. */
export class Timing<Label extends string> extends Histogram<Label> {
  readonly #label: Label;
  readonly #bounds: readonly number[];
  /** Of each value of the label: what fell under each bound but not under the one before, the rest, and the sum. */
  readonly #series = new Map<string, Float64Array>();

  constructor(name: string, help: string, label: Label, bounds: readonly number[]) {
    super({ name, help, labelNames: [label], buckets: [...bounds], registers: [] });
    this.#label = label;
    this.#bounds = bounds;
  }

  note(value: string, seconds: number): void {
    const bounds = this.#bounds;
    const series = seriesOf(this.#series, value, () => new Float64Array(bounds.length + 2));
    let place = 0;
    while (place < bounds.length && seconds > (bounds[place] ?? 0)) place += 1;
    series[place] = (series[place] ?? 0) + 1;
    series[bounds.length + 1] = (series[bounds.length + 1] ?? 0) + seconds;
  }

  override async get(): ReturnType<Histogram<Label>["get"]> {
    const told = await super.get();
    told.values = [...this.#series].flatMap(([value, series]) => this.#values(told.name, value, series));
    return told;
  }

  #values(name: string, value: string, series: Float64Array): Awaited<ReturnType<Histogram<Label>["get"]>>["values"] {
    const labels = (le?: number | string): Partial<Record<Label | "le", string | number>> => {
      const named: Partial<Record<Label | "le", string | number>> = {};
      if (le !== undefined) Object.assign(named, { le });
      return Object.assign(named, { [this.#label]: value });
    };
    let count = 0;
    const buckets = [...this.#bounds, "+Inf"].map((le, place) => {
      count += series[place] ?? 0;
      return { metricName: `${name}_bucket`, labels: labels(le), value: count };
    });
    const sum = series[this.#bounds.length + 1] ?? 0;
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: labels(), value: sum },
      { metricName: `${name}_count`, labels: labels(), value: count },
    ];
  }
}

function seriesOf<Series>(all: Map<string, Series>, value: string, make: () => Series): Series {
  const known = all.get(value);
  if (known !== undefined) return known;
  const name = all.size < SERIES_MAX ? value : OTHERS;
  const series = all.get(name) ?? make();
  all.set(name, series);
  return series;
}

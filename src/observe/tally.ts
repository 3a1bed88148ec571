/** Counts and times of every request as plain numbers, put into Prometheus's form only when it asks. */
import { Counter, Gauge, Histogram } from "prom-client";
import { Distribution } from "../base/distribution.js";

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

type Told<Label extends string> = Awaited<ReturnType<Histogram<Label>["get"]>>;

/**
 * A histogram with two labels at most. Its values are noted as a tally counts. It is no subclass of the package's,
 * whose registry does not ask a histogram for what its documented method tells.
 */
export class Timing<Label extends string = never> extends Gauge<Label> {
  /** Empty: what a histogram says of itself. */
  readonly #form: Histogram<Label>;
  readonly #labels: readonly Label[];
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Map<string, Distribution>>();

  constructor(name: string, help: string, labels: readonly Label[], bounds: readonly number[]) {
    super({ name, help, labelNames: [...labels], registers: [] });
    this.#form = new Histogram({ name, help, labelNames: [...labels], buckets: [...bounds], registers: [] });
    this.#labels = labels;
    this.#bounds = bounds;
  }

  /** `first` and `second` are the values of the labels, in their order. */
  note(value: number, first = "", second = ""): void {
    const series = seriesOf(this.#series, first, () => new Map<string, Distribution>());
    seriesOf(series, second, () => new Distribution(this.#bounds)).note(value);
  }

  /** Tells, as its only series, what somebody else notes. */
  watch(distribution: Distribution): void {
    this.#series.set("", new Map([["", distribution]]));
  }

  override async get(): Promise<Told<Label>> {
    const told = await this.#form.get();
    told.values = [...this.#series].flatMap(([first, series]) =>
      [...series].flatMap(([second, distribution]) => this.#values(told.name, [first, second], distribution)),
    );
    return told;
  }

  #values(name: string, values: readonly string[], { bounds, cells, sum }: Distribution): Told<Label>["values"] {
    const labels = (le?: number | string): Partial<Record<Label | "le", string | number>> => {
      const named: Partial<Record<Label | "le", string | number>> = {};
      if (le !== undefined) Object.assign(named, { le });
      this.#labels.forEach((label, place) => Object.assign(named, { [label]: values[place] ?? "" }));
      return named;
    };
    let count = 0;
    const buckets = [...bounds, "+Inf"].map((le, place) => {
      count += cells[place] ?? 0;
      return { metricName: `${name}_bucket`, labels: labels(le), value: count };
    });
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

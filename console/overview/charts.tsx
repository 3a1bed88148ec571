/** What the account asked for over the days shown, as charts of which each leads to the requests behind it. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Percentiles, UsageSum } from "../../gen/console/usage_service.js";
import { words } from "../copy/en.ts";
import { count, milliseconds, money, roughCount, roughMoney } from "../format.ts";
import { Bars, type BarsParts, type Series } from "../parts/bars.tsx";
import { Empty } from "../parts/empty.tsx";
import { NAMES_MAX, seriesOf, sumOf, valuesAt } from "../parts/series.ts";
import type { Times } from "../parts/times.ts";

export interface ChartsParts {
  readonly times: Times;
  readonly byTime: readonly UsageSum[];
  readonly byModel: readonly UsageSum[];
}

/** Times are drawn as whole microseconds. */
const MICROS_PER_MS = 1_000;

export function Charts({ times, byTime, byModel }: ChartsParts): ReactNode {
  if (byTime.length === 0) return <NoRequests />;
  const { places } = times;
  const counts = { exact: count, rough: roughCount };
  const inTime = { exact: inMilliseconds, rough: inMilliseconds, isLines: true, none: words.overview.noTimes };
  return (
    <>
      <Chart
        times={times}
        title={words.overview.spend}
        series={seriesOf(byModel, places, ({ costNanos }) => costNanos, { only: (model) => ({ model }) })}
        exact={money}
        rough={roughMoney}
      />
      <div className="columns">
        <Chart
          times={times}
          title={words.overview.requests}
          series={seriesOf(byModel, places, ({ requestCount }) => requestCount, { only: (model) => ({ model }) })}
          {...counts}
        />
        <Chart times={times} title={words.overview.tokens} series={tokenSeries(byTime, places)} {...counts} />
        <Chart
          times={times}
          title={words.overview.errors}
          series={errorSeries(byTime, places)}
          none={words.overview.noErrors}
          {...counts}
        />
        <Chart
          times={times}
          title={words.overview.firstToken}
          series={timeSeries(byTime, places, ({ firstToken }) => firstToken)}
          {...inTime}
        />
        <Chart
          times={times}
          title={words.overview.duration}
          series={timeSeries(byTime, places, ({ total }) => total)}
          {...inTime}
        />
        <Chart
          times={times}
          title={words.overview.saved}
          series={savedSeries(byTime, places)}
          none={words.overview.noSaved}
          exact={money}
          rough={roughMoney}
        />
      </div>
    </>
  );
}

/** A place at which caching cost more than it saved has no bar; the table has its value. */
function savedSeries(sums: readonly UsageSum[], places: readonly string[]): readonly Series[] {
  const values = valuesAt(sums, places, ({ cacheSavedNanos }) => cacheSavedNanos, 0n);
  return values.every((value) => value === 0n) ? [] : [{ name: words.overview.saved, values }];
}

type ChartParts = Pick<BarsParts, "title" | "series" | "exact" | "rough" | "isLines" | "list"> & {
  readonly times: Times;
  /** What stands in its place where there is nothing to draw. */
  readonly none?: string;
};

export function Chart({ times, none, ...parts }: ChartParts): ReactNode {
  const { places, placeName, short, behind } = times;
  return (
    <section className="card">
      <h2 className="card-head">{parts.title}</h2>
      {none !== undefined && parts.series.length === 0 ? (
        <p className="soft">{none}</p>
      ) : (
        <Bars {...parts} places={places} placeName={placeName} short={short} behind={behind} />
      )}
    </section>
  );
}

function NoRequests(): ReactNode {
  return (
    <Empty title={words.overview.emptyTitle} about={words.overview.emptyAbout}>
      <span className="row">
        <Link to="/playground" className="button main">
          {words.pages.playground}
        </Link>
        <Link to="/keys" search={{ make: "key" }} className="button">
          {words.overview.makeKey}
        </Link>
      </span>
    </Empty>
  );
}

const TOKEN_KINDS: readonly { readonly name: string; readonly of: (sum: UsageSum) => bigint }[] = [
  {
    name: words.overview.kinds.input,
    of: ({ usage }) => (usage?.inputTokens ?? 0n) + (usage?.imageTokens ?? 0n) + (usage?.audioInputTokens ?? 0n),
  },
  {
    name: words.overview.kinds.cached,
    of: ({ usage }) => usage?.cacheReadTokens ?? 0n,
  },
  {
    name: words.overview.kinds.output,
    of: ({ usage }) => (usage?.outputTokens ?? 0n) + (usage?.audioOutputTokens ?? 0n),
  },
  { name: words.overview.kinds.reasoning, of: ({ usage }) => usage?.reasoningTokens ?? 0n },
];

function tokenSeries(sums: readonly UsageSum[], places: readonly string[]): readonly Series[] {
  const kinds = TOKEN_KINDS.map(({ name, of }) => ({ name, values: valuesAt(sums, places, of, 0n) }));
  return kinds.filter(({ values }) => values.some((value) => value > 0n));
}

/** Those that occur, the most frequent first; what there is no colour for is one series. */
export function errorSeries(sums: readonly UsageSum[], places: readonly string[]): readonly Series[] {
  const totals = new Map<string, bigint>();
  for (const { errors } of sums)
    for (const [reason, found] of Object.entries(errors)) totals.set(reason, (totals.get(reason) ?? 0n) + found);
  const reasons = [...totals].toSorted(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)).map(([reason]) => reason);
  const one = (reason: string): Series => ({
    name: reason,
    values: valuesAt(sums, places, ({ errors }) => errors[reason] ?? 0n, 0n),
    only: { reason },
  });
  if (reasons.length <= NAMES_MAX + 1) return reasons.map(one);
  const rest = reasons.slice(NAMES_MAX);
  const others = valuesAt(sums, places, ({ errors }) => sumOf(rest, (name) => errors[name] ?? 0n), 0n);
  return [...reasons.slice(0, NAMES_MAX).map(one), { name: words.chart.other, values: others }];
}

const SHARES = [
  { name: "p50", of: (times: Percentiles | undefined) => times?.p50Ms },
  { name: "p95", of: (times: Percentiles | undefined) => times?.p95Ms },
  { name: "p99", of: (times: Percentiles | undefined) => times?.p99Ms },
] as const;

/** Percentiles of one of the times of each sum. */
export function timeSeries(
  sums: readonly UsageSum[],
  places: readonly string[],
  timesOfSum: (sum: UsageSum) => Percentiles | undefined,
): readonly Series[] {
  const micros = (ms: number | undefined): bigint => BigInt(Math.round((ms ?? 0) * MICROS_PER_MS));
  if (sums.every((sum) => timesOfSum(sum) === undefined)) return [];
  return SHARES.map(({ name, of }) => ({
    name,
    values: valuesAt(sums, places, (sum) => micros(of(timesOfSum(sum))), 0n),
  }));
}

export function inMilliseconds(micros: bigint): string {
  return milliseconds(Number(micros) / MICROS_PER_MS);
}

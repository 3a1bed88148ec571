/** The traffic of all accounts: how much, how fast, how much of it fails, and what it earns. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { queryUsage, type UsageSum } from "../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { trafficWords } from "../copy/en-traffic.ts";
import { count, money, roughCount, roughMoney } from "../format.ts";
import { Chart, errorSeries, inMilliseconds, timeSeries } from "../overview/charts.tsx";
import { Empty } from "../parts/empty.tsx";
import { Choice } from "../parts/field.tsx";
import { AllLoaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Range, usePeriod } from "../parts/range.tsx";
import { NAMES_MAX, seriesOf, valuesAt } from "../parts/series.ts";
import { Table } from "../parts/table.tsx";
import { type Times, timesOf } from "../parts/times.ts";
import { TRAFFIC_GROUPS, type TrafficGroup } from "../states.ts";
import { TrafficFigures } from "./traffic-figures.tsx";
import { useTrafficNames } from "./traffic-names.ts";
import { requestsOf, trafficColumns } from "./traffic-columns.tsx";

/** So many values have a row; the server adds up the others. */
const VALUES_MAX = 100;
const DEFAULT_DAYS = 1;

export function Traffic(): ReactNode {
  return (
    <Page title={words.pages.traffic} about={trafficWords.about} actions={<Range otherwise={DEFAULT_DAYS} />}>
      <Content />
    </Page>
  );
}

function Content(): ReactNode {
  const { by = "upstream", upstream = "" } = useSearch({ from: "/admin/traffic" });
  const times = timesOf(new Date(), usePeriod(DEFAULT_DAYS));
  const asked = { ...times.asked, upstream };
  const byTime = useQuery(ask(queryUsage, { ...asked, groupBy: [times.by] }));
  const table = useQuery(ask(queryUsage, { ...asked, groupBy: [by], valuesMax: VALUES_MAX }));
  const chart = useQuery(ask(queryUsage, { ...asked, groupBy: [times.by, by], valuesMax: NAMES_MAX }));
  const nameOf = useTrafficNames(by, table.data?.sums);
  return (
    <AllLoaded of={[byTime, table, chart]} what={words.pages.traffic} height={640}>
      {(timed, grouped, charted) =>
        timed.sums.length === 0 ? (
          <Empty title={trafficWords.emptyTitle} about={trafficWords.emptyAbout} />
        ) : (
          <>
            <TrafficFigures sums={timed.sums} lengthMs={times.lengthMs} />
            <GroupBy by={by} />
            <Table
              label={trafficWords.groups[by]}
              columns={trafficColumns({ by, nameOf, lengthMs: times.lengthMs, times })}
              rows={grouped.sums.toSorted((a, b) => Number(b.requestCount - a.requestCount))}
              keyOf={({ values }) => values[0] ?? ""}
            />
            <Charts times={times} byTime={timed.sums} byGroup={charted.sums} by={by} nameOf={nameOf} />
          </>
        )
      }
    </AllLoaded>
  );
}

function GroupBy({ by }: { readonly by: TrafficGroup }): ReactNode {
  const navigate = useNavigate({ from: "/admin/traffic" });
  return (
    <div className="row filters">
      <Choice
        label={trafficWords.by}
        value={by}
        onChange={({ currentTarget: { value } }) => {
          const wanted = TRAFFIC_GROUPS.find((group) => group === value);
          void navigate({ search: (before) => ({ ...before, by: wanted }), replace: true });
        }}
      >
        {TRAFFIC_GROUPS.map((group) => (
          <option key={group} value={group}>
            {trafficWords.groups[group]}
          </option>
        ))}
      </Choice>
    </div>
  );
}

interface ChartsParts {
  readonly times: Times;
  readonly byTime: readonly UsageSum[];
  readonly byGroup: readonly UsageSum[];
  readonly by: TrafficGroup;
  readonly nameOf: (value: string) => string;
}

function Charts({ times, byTime, byGroup, by, nameOf }: ChartsParts): ReactNode {
  const { places } = times;
  const group = trafficWords.groups[by];
  const drawn = { times, list: "/admin/requests" } as const;
  const options = { nameOf, only: (value: string) => requestsOf(by, value) };
  const inTime = { exact: inMilliseconds, rough: inMilliseconds, isLines: true, none: trafficWords.noAnswers };
  return (
    <div className="columns">
      <Chart
        {...drawn}
        title={trafficWords.requestsBy(group)}
        series={seriesOf(byGroup, places, ({ requestCount }) => requestCount, options)}
        exact={count}
        rough={roughCount}
      />
      <Chart
        {...drawn}
        title={trafficWords.refusals}
        series={errorSeries(byTime, places)}
        none={trafficWords.noRefusals}
        exact={count}
        rough={roughCount}
      />
      <Chart
        {...drawn}
        {...inTime}
        title={trafficWords.firstToken}
        series={timeSeries(byTime, places, ({ firstToken }) => firstToken)}
      />
      <Chart
        {...drawn}
        {...inTime}
        title={trafficWords.total}
        series={timeSeries(byTime, places, ({ total }) => total)}
      />
      <Chart
        {...drawn}
        title={trafficWords.spendBy(group)}
        series={seriesOf(byGroup, places, ({ costNanos }) => costNanos, options)}
        exact={money}
        rough={roughMoney}
      />
      <Chart
        {...drawn}
        title={trafficWords.margin}
        series={[
          { name: trafficWords.cost, values: valuesAt(byTime, places, (sum) => sum.operatorCostNanos ?? 0n, 0n) },
          { name: trafficWords.margin, values: valuesAt(byTime, places, (sum) => sum.marginNanos ?? 0n, 0n) },
        ]}
        exact={money}
        rough={roughMoney}
      />
    </div>
  );
}

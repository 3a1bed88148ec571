/** What was used, grouped by any two of what is known of requests, as a chart, a table and a file. */
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { queryUsage, type UsageSum } from "../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { usageWords } from "../copy/en-usage.ts";
import { count, money, roughCount, roughMoney, utcDay } from "../format.ts";
import { useKeyNames } from "../keys/key-names.ts";
import { Bars } from "../parts/bars.tsx";
import { saveText } from "../parts/download.ts";
import { Empty } from "../parts/empty.tsx";
import { Money } from "../parts/money.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Range } from "../parts/range.tsx";
import { NAMES_MAX, OTHERS, seriesOf, shownName } from "../parts/series.ts";
import { type Column, Table } from "../parts/table.tsx";
import { type Times, timesOf } from "../parts/times.ts";
import { Waiting } from "../parts/waiting.tsx";
import { inputOf, outputOf } from "../requests/tokens.ts";
import type { UsageGroup } from "../states.ts";
import { useSignedIn } from "../shell/session.ts";
import { Grouping } from "./grouping.tsx";
import { metersWords } from "../../src/api/meters.ts";
import { type Group, groupOf, groupsCsv, groupsOf } from "./groups.ts";

/** So many values of each column are named; the server adds up the others. */
const VALUES_MAX = 100;
const MEASURES = {
  spend: { of: ({ costNanos }: UsageSum) => costNanos, exact: money, rough: roughMoney },
  tokens: { of: ({ usage }: UsageSum) => inputOf(usage) + outputOf(usage), exact: count, rough: roughCount },
  requests: { of: ({ requestCount }: UsageSum) => requestCount, exact: count, rough: roughCount },
} as const;

export function UsagePage(): ReactNode {
  const { days = 30 } = useSearch({ from: "/usage" });
  const times = timesOf(new Date(), days);
  return (
    <Page title={words.pages.usage} about={usageWords.about} actions={<Range days={days} />}>
      <Grouping />
      <Content times={times} />
    </Page>
  );
}

/** The groups that the URL names, one or two. */
function useGroups(): readonly UsageGroup[] {
  const { by = "model", and } = useSearch({ from: "/usage" });
  return and === undefined || and === by ? [by] : [by, and];
}

function Content({ times }: { readonly times: Times }): ReactNode {
  const { account } = useSignedIn();
  const grouped = useGroups();
  const asked = { accountId: account, startTime: times.startTime };
  const table = useQuery(ask(queryUsage, { ...asked, groupBy: grouped, valuesMax: VALUES_MAX }, account));
  // A chart by day is of what stands beside the day.
  const series = grouped.find((one) => one !== "day") ?? "model";
  const chart = useQuery(ask(queryUsage, { ...asked, groupBy: [times.by, series], valuesMax: NAMES_MAX }, account));
  const keyIds = [table, chart].flatMap(({ data }, place) =>
    keysIn(data?.sums ?? [], place === 0 ? grouped : ["day", series]),
  );
  const nameOf = useNames(keyIds, table.data !== undefined && (chart.data !== undefined || chart.error !== null));
  return (
    <Loaded of={table} what={words.pages.usage} height={480}>
      {({ sums }) => {
        if (chart.isPending || nameOf === undefined) return <Waiting height={480} />;
        if (sums.length === 0) return <Empty title={usageWords.emptyTitle} about={usageWords.emptyAbout} />;
        return (
          <>
            <Chart
              times={times}
              sums={chart.data?.sums}
              error={chart.error}
              nameOf={(value) => nameOf(series, value)}
            />
            <Sums sums={sums} grouped={grouped} nameOf={nameOf} />
          </>
        );
      }}
    </Loaded>
  );
}

type NameOf = (group: UsageGroup, value: string) => string;

interface ChartParts {
  readonly times: Times;
  readonly sums: readonly UsageSum[] | undefined;
  readonly error: Error | null;
  readonly nameOf: (value: string) => string;
}

function Chart({ times, sums, error, nameOf }: ChartParts): ReactNode {
  const { show = "spend" } = useSearch({ from: "/usage" });
  const { places, placeName, short, behind } = times;
  const { of, exact, rough } = MEASURES[show];
  const title = usageWords.measures[show];
  return (
    <section className="card">
      <h2 className="card-head">{title}</h2>
      {sums === undefined ? (
        <Problem error={error} what={words.errors.load(title)} />
      ) : (
        <Bars
          title={title}
          places={places}
          placeName={placeName}
          short={short}
          series={seriesOf(sums, places, of, nameOf)}
          exact={exact}
          rough={rough}
          behind={behind}
        />
      )}
    </section>
  );
}

interface SumsParts {
  readonly sums: readonly UsageSum[];
  readonly grouped: readonly UsageGroup[];
  readonly nameOf: NameOf;
}

function Sums({ sums, grouped, nameOf }: SumsParts): ReactNode {
  const groups = groupsOf(sums, grouped);
  const total = groupOf(
    grouped.map((_, index) => (index === 0 ? usageWords.total : "")),
    sums,
  );
  const save = (): void => saveText(groupsCsv(grouped, groups, money), "usage.csv", "text/csv");
  const isFolded = sums.some(({ values }) => values.includes(OTHERS));
  return (
    <>
      {isFolded && <p className="soft">{usageWords.folded(count(VALUES_MAX))}</p>}
      <Table
        label={words.pages.usage}
        columns={columnsOf(grouped, nameOf, total)}
        rows={[...groups, total]}
        keyOf={(group) => (group === total ? "total" : JSON.stringify(group.names))}
      />
      <span>
        <button className="button" type="button" onClick={save}>
          {usageWords.csv}
        </button>
      </span>
    </>
  );
}

/** The ids of keys in sums, at most as many as are named. */
function keysIn(sums: readonly UsageSum[], grouped: readonly UsageGroup[]): readonly string[] {
  const place = grouped.indexOf("key");
  return place < 0 ? [] : sums.map(({ values }) => values[place] ?? "").filter((id) => id !== "" && id !== OTHERS);
}

/** The names of keys beside their ids, asked for those that are shown; undefined while they are on their way. */
function useNames(ids: readonly string[], areKnown: boolean): NameOf | undefined {
  const names = useKeyNames(ids, { areKnown });
  if (names === undefined) return undefined;
  return (group, value) => {
    if (value === "" || value === OTHERS) return shownName(value);
    return group === "key" ? (names.get(value) ?? value) : group === "day" ? utcDay(value) : value;
  };
}

/** Only where something was sold by another unit. */
const METERS: Column<Group> = { name: usageWords.meters, cell: ({ meters }) => metersWords(meters), isExtra: true };

function columnsOf(by: readonly UsageGroup[], nameOf: NameOf, total: Group): readonly Column<Group>[] {
  const named = by.map((group, index): Column<Group> => ({
    name: usageWords.groups[group],
    cell: (row) => {
      const value = row.names[index] ?? "";
      if (row === total) return <strong>{value}</strong>;
      return value === OTHERS ? <em>{usageWords.others}</em> : nameOf(group, value);
    },
  }));
  return [
    ...named,
    { name: usageWords.requests, cell: ({ requestCount }) => count(requestCount), isNumber: true, isExtra: true },
    { name: usageWords.failed, cell: ({ failedCount }) => count(failedCount), isNumber: true, isExtra: true },
    { name: usageWords.input, cell: ({ inputTokens }) => count(inputTokens), isNumber: true, isExtra: true },
    { name: usageWords.output, cell: ({ outputTokens }) => count(outputTokens), isNumber: true, isExtra: true },
    ...(total.meters.length === 0 ? [] : [METERS]),
    { name: usageWords.cost, cell: ({ costNanos }) => <Money nanos={costNanos} isAligned />, isNumber: true },
  ];
}

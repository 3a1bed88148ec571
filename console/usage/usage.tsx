/** What was used, grouped by any two of what is known of requests, as a chart, a table and a file. */
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { queryUsage, type UsageSum } from "../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { usageWords } from "../copy/en-usage.ts";
import { count } from "../format.ts";
import { Bars } from "../parts/bars.tsx";
import { saveText } from "../parts/download.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { periodBefore } from "../parts/period.ts";
import { Problem } from "../parts/problem.tsx";
import { Range, usePeriod } from "../parts/range.tsx";
import { NAMES_MAX, OTHERS, seriesOf } from "../parts/series.ts";
import { Table } from "../parts/table.tsx";
import { type Times, timesOf } from "../parts/times.ts";
import { Waiting } from "../parts/waiting.tsx";
import type { RequestSearch } from "../search.ts";
import type { UsageGroup } from "../states.ts";
import { useSignedIn } from "../shell/session.ts";
import { Grouping } from "./grouping.tsx";
import { beforeOf, groupOf, groupsCsv, groupsOf } from "./groups.ts";
import { MEASURES } from "./measures.ts";
import { keysIn, type NameOf, useNames } from "./names.ts";
import { columnsOf } from "./sum-columns.tsx";

/** So many values of each column are named; the server adds up the others. */
const VALUES_MAX = 100;
const DEFAULT_DAYS = 30;

export function UsagePage(): ReactNode {
  return (
    <Page title={words.pages.usage} about={usageWords.about} actions={<Range otherwise={DEFAULT_DAYS} />}>
      <Grouping />
      <Content />
    </Page>
  );
}

/** The groups that the URL names, one or two. A tag without a name has no values. */
function useGroups(): readonly UsageGroup[] {
  const { by = "model", and, tag } = useSearch({ from: "/usage" });
  const named = (group: UsageGroup): UsageGroup => (group === "tag_value" && tag === undefined ? "tag" : group);
  const [first, second] = [named(by), and && named(and)];
  return second === undefined || second === first ? [first] : [first, second];
}

function Content(): ReactNode {
  const { account } = useSignedIn();
  const { tag = "", model = "", compare } = useSearch({ from: "/usage" });
  const now = new Date();
  const period = usePeriod(DEFAULT_DAYS);
  const times = timesOf(now, period);
  const grouped = useGroups();
  const asked = (groupBy: readonly UsageGroup[]) => ({
    accountId: account,
    model,
    tagName: groupBy.includes("tag_value") ? tag : "",
  });
  const wanted = { groupBy: grouped, valuesMax: VALUES_MAX, ...asked(grouped) };
  const table = useQuery(ask(queryUsage, { ...wanted, ...times.asked }, account));
  const isCompared = compare !== undefined && !grouped.includes("day");
  const before = useQuery({
    ...ask(queryUsage, { ...wanted, ...timesOf(now, periodBefore(period, now)).asked }, account),
    enabled: isCompared,
  });
  // A chart by time is of what stands beside the day.
  const series = grouped.find((one) => one !== "day") ?? "model";
  const charted = { groupBy: [times.by, series], valuesMax: NAMES_MAX, ...asked([series]), ...times.asked };
  const chart = useQuery(ask(queryUsage, charted, account));
  const keyIds = [...keysIn(table.data?.sums, grouped), ...keysIn(chart.data?.sums, ["day", series])];
  const isThere = table.data !== undefined && (chart.data !== undefined || chart.error !== null);
  const nameOf = useNames(keyIds, isThere);
  return (
    <Loaded of={table} what={words.pages.usage} height={480}>
      {({ sums }) => {
        if (chart.isPending || nameOf === undefined || (isCompared && before.isPending))
          return <Waiting height={480} />;
        if (sums.length === 0) return <Empty title={usageWords.emptyTitle} about={usageWords.emptyAbout} />;
        return (
          <>
            {model !== "" && <ModelChip model={model} />}
            <Chart times={times} sums={chart.data?.sums} error={chart.error} series={series} nameOf={nameOf} />
            {before.error !== null && <Problem error={before.error} what={words.errors.load(usageWords.before)} />}
            <Sums
              sums={sums}
              before={isCompared ? before.data?.sums : undefined}
              grouped={grouped}
              nameOf={nameOf}
              only={(row) => Object.assign({}, ...grouped.map((group, at) => filterOf(group, row[at] ?? "", tag)))}
            />
          </>
        );
      }}
    </Loaded>
  );
}

function ModelChip({ model }: { readonly model: string }): ReactNode {
  return (
    <p className="chips">
      <Link to="." search={(before) => ({ ...before, model: undefined })} className="chip">
        {usageWords.groups.model}: {model} <span aria-hidden="true">×</span>
        <span className="hidden-text">{usageWords.allModels}</span>
      </Link>
    </p>
  );
}

/** The filter of requests that leaves those of one value. All tags of a request together are no filter. */
function filterOf(group: UsageGroup, value: string, tag: string): RequestSearch | undefined {
  if (value === "" || value === OTHERS || group === "tag" || group === "day") return undefined;
  return group === "tag_value" ? { tag: `${tag}=${value}` } : { [group]: value };
}

interface ChartParts {
  readonly times: Times;
  readonly sums: readonly UsageSum[] | undefined;
  readonly error: Error | null;
  readonly series: UsageGroup;
  readonly nameOf: NameOf;
}

function Chart({ times, sums, error, series, nameOf }: ChartParts): ReactNode {
  const { show = "spend", tag = "" } = useSearch({ from: "/usage" });
  const { of, ...written } = MEASURES[show];
  const title = usageWords.measures[show];
  const options = {
    nameOf: (value: string) => nameOf(series, value),
    only: (value: string) => filterOf(series, value, tag),
  };
  return (
    <section className="card">
      <h2 className="card-head">{title}</h2>
      {sums === undefined ? (
        <Problem error={error} what={words.errors.load(title)} />
      ) : (
        <Bars title={title} {...times} series={seriesOf(sums, times.places, of, options)} {...written} />
      )}
    </section>
  );
}

interface SumsParts {
  readonly sums: readonly UsageSum[];
  /** Those of the period before; undefined where they are not compared. */
  readonly before: readonly UsageSum[] | undefined;
  readonly grouped: readonly UsageGroup[];
  readonly nameOf: NameOf;
  readonly only: (names: readonly string[]) => RequestSearch;
}

function Sums({ sums, before, grouped, nameOf, only }: SumsParts): ReactNode {
  const groups = groupsOf(sums, grouped);
  const total = groupOf(
    grouped.map((_, index) => (index === 0 ? usageWords.total : "")),
    sums,
  );
  const save = (): void => saveText(groupsCsv(grouped, groups), "usage.csv", "text/csv");
  const isFolded = sums.some(({ values }) => values.includes(OTHERS));
  return (
    <>
      {isFolded && <p className="soft">{usageWords.folded(count(VALUES_MAX))}</p>}
      <Table
        label={words.pages.usage}
        columns={columnsOf({ by: grouped, nameOf, total, only, before: before && beforeOf(before) })}
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

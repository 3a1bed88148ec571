/** What was used, grouped by any two of what the sums know, as a chart, a table and a file. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { listKeys } from "../../../gen/console/key_service.js";
import { summarizeUsage, type UsageSummary } from "../../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { usageWords } from "../copy/en-usage.ts";
import { count, money, roughCount, roughMoney, shortUtcDay, utcDay } from "../format.ts";
import { Bars } from "../parts/bars.tsx";
import { saveText } from "../parts/download.ts";
import { Empty } from "../parts/empty.tsx";
import { Choice } from "../parts/field.tsx";
import { Money } from "../parts/money.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Range } from "../parts/range.tsx";
import { seriesOf, utcDays } from "../parts/series.ts";
import { type Column, Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { inputOf, outputOf } from "../requests/tokens.ts";
import { USAGE_GROUPS, type UsageGroup } from "../states.ts";
import { useSignedIn } from "../shell/session.ts";
import { type Group, groupOf, groupsCsv, groupsOf, NAME_OF } from "./groups.ts";

const ROWS_MAX = 1_000;
const MEASURES = {
  spend: { of: ({ costNanos }: UsageSummary) => costNanos, exact: money, rough: roughMoney },
  tokens: { of: ({ usage }: UsageSummary) => inputOf(usage) + outputOf(usage), exact: count, rough: roughCount },
  requests: { of: ({ requestCount }: UsageSummary) => requestCount, exact: count, rough: roughCount },
} as const;

export function UsagePage(): ReactNode {
  const { account } = useSignedIn();
  const { days = 30 } = useSearch({ from: "/usage" });
  const shown = utcDays(new Date(), days);
  const asked = { accountId: account, fromDay: shown[0] ?? "", pageSize: ROWS_MAX };
  const { data, error, refetch } = useQuery(ask(summarizeUsage, asked, account));
  return (
    <Page title={words.pages.usage} about={usageWords.about} actions={<Range days={days} />}>
      <Grouping />
      {error !== null ? (
        <Problem error={error} what={words.errors.load(words.pages.usage)} onAgain={() => void refetch()} />
      ) : data === undefined ? (
        <Waiting height={480} />
      ) : data.summaries.length === 0 ? (
        <Empty title={usageWords.emptyTitle} about={usageWords.emptyAbout} />
      ) : (
        <Content rows={data.summaries} shown={shown} isCut={data.nextPageToken !== ""} total={data.total} />
      )}
    </Page>
  );
}

interface ContentParts {
  readonly rows: readonly UsageSummary[];
  readonly shown: readonly string[];
  readonly isCut: boolean;
  readonly total: UsageSummary | undefined;
}

function Content({ rows, shown, isCut, total }: ContentParts): ReactNode {
  const { by = "model", and, show } = useSearch({ from: "/usage" });
  const measure = MEASURES[show ?? "spend"];
  const grouped: readonly UsageGroup[] = and === undefined || and === by ? [by] : [by, and];
  const nameOf = useNames(grouped);
  const groups = groupsOf(rows, grouped);
  const title = usageWords.measures[show ?? "spend"];
  const series = by === "day" ? (and ?? "model") : by;
  const save = (): void => saveText(groupsCsv(grouped, groups, money), "usage.csv", "text/csv");
  return (
    <>
      {isCut && <p className="notice warn">{usageWords.cut}</p>}
      <section className="card">
        <h2 className="card-head">{title}</h2>
        <Bars
          title={title}
          places={shown}
          placeName={words.overview.day}
          short={shortUtcDay}
          series={seriesOf(rows, shown, (row) => nameOf(series, NAME_OF[series](row)), measure.of)}
          exact={measure.exact}
          rough={measure.rough}
        />
      </section>
      <Table
        label={words.pages.usage}
        columns={columnsOf(grouped, nameOf)}
        rows={[...groups, totalOf(total, grouped)]}
        keyOf={({ names }) => names.join("\n")}
      />
      <span>
        <button className="button" type="button" onClick={save}>
          {usageWords.csv}
        </button>
      </span>
    </>
  );
}

/** The names of keys beside their ids, as far as one page of them says. */
function useNames(groups: readonly UsageGroup[]): (group: UsageGroup, id: string) => string {
  const { account } = useSignedIn();
  const asked = ask(listKeys, { accountId: account, pageSize: 1_000 }, account);
  const keys = useQuery({ ...asked, enabled: groups.includes("key") });
  const names = new Map(keys.data?.keys.map(({ id, settings }) => [id, settings?.name || id]));
  return (group, id) => (group === "key" ? (names.get(id) ?? id) : group === "day" ? utcDay(id) : id);
}

function totalOf(total: UsageSummary | undefined, by: readonly UsageGroup[]): Group {
  const names = by.map((_, index) => (index === 0 ? usageWords.total : ""));
  return groupOf(names, total === undefined ? [] : [total]);
}

function columnsOf(
  by: readonly UsageGroup[],
  nameOf: (group: UsageGroup, id: string) => string,
): readonly Column<Group>[] {
  const named = by.map((group, index): Column<Group> => ({
    name: usageWords.groups[group],
    cell: ({ names }) => {
      const id = names[index] ?? "";
      if (id === usageWords.total) return <strong>{id}</strong>;
      return id === "" ? "" : nameOf(group, id);
    },
  }));
  return [
    ...named,
    { name: usageWords.requests, cell: ({ requestCount }) => count(requestCount), isNumber: true, isExtra: true },
    { name: usageWords.input, cell: ({ inputTokens }) => count(inputTokens), isNumber: true, isExtra: true },
    { name: usageWords.output, cell: ({ outputTokens }) => count(outputTokens), isNumber: true, isExtra: true },
    { name: usageWords.cost, cell: ({ costNanos }) => <Money nanos={costNanos} isAligned />, isNumber: true },
  ];
}

function Grouping(): ReactNode {
  const { by = "model", and, show } = useSearch({ from: "/usage" });
  const navigate = useNavigate({ from: "/usage" });
  const groupIn = (value: string): UsageGroup | undefined => USAGE_GROUPS.find((group) => group === value);
  return (
    <div className="row filters">
      <Choice
        label={usageWords.by}
        value={by}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: (before) => ({ ...before, by: groupIn(value) }), replace: true })
        }
      >
        {USAGE_GROUPS.map((group) => (
          <option key={group} value={group}>
            {usageWords.groups[group]}
          </option>
        ))}
      </Choice>
      <Choice
        label={usageWords.also}
        value={and ?? ""}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: (before) => ({ ...before, and: groupIn(value) }), replace: true })
        }
      >
        <option value="">{usageWords.nothing}</option>
        {USAGE_GROUPS.filter((group) => group !== by).map((group) => (
          <option key={group} value={group}>
            {usageWords.groups[group]}
          </option>
        ))}
      </Choice>
      <Choice
        label={usageWords.show}
        value={show ?? "spend"}
        onChange={({ currentTarget: { value } }) => {
          const wanted = (["tokens", "requests"] as const).find((one) => one === value);
          void navigate({ search: (before) => ({ ...before, show: wanted }), replace: true });
        }}
      >
        {(["spend", "tokens", "requests"] as const).map((one) => (
          <option key={one} value={one}>
            {usageWords.measures[one]}
          </option>
        ))}
      </Choice>
    </div>
  );
}

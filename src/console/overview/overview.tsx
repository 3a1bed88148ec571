/** The overview: what the account has, what it spends, and on what. */
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { getAccount, getBalance } from "../../../gen/console/account_service.js";
import { type SummarizeUsageResponse, type UsageSummary, summarizeUsage } from "../../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { count, money, roughCount, roughMoney, shortUtcDay } from "../format.ts";
import { Bars } from "../parts/bars.tsx";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Range } from "../parts/range.tsx";
import { seriesOf, sumOf, utcDays } from "../parts/series.ts";
import { Waiting } from "../parts/waiting.tsx";
import type { Days } from "../search.ts";
import { useSignedIn } from "../shell/session.ts";
import { Figures } from "./figures.tsx";

const ROWS_MAX = 1_000;

export function Overview(): ReactNode {
  const { account } = useSignedIn();
  const { days = 30 } = useSearch({ from: "/" });
  return (
    <Page title={words.pages.overview} about={words.overview.about} actions={<Range days={days} />}>
      <Content account={account} days={days} />
    </Page>
  );
}

function Content({ account, days }: { readonly account: string; readonly days: Days }): ReactNode {
  const shown = utcDays(new Date(), days);
  const today = shown.at(-1) ?? "";
  const monthStart = `${today.slice(0, 7)}-01`;
  const fromDay = [shown[0] ?? today, monthStart].toSorted()[0] ?? today;
  const balance = useQuery(ask(getBalance, { id: account }, account));
  const settings = useQuery(ask(getAccount, { id: account }, account));
  const usage = useQuery(ask(summarizeUsage, { accountId: account, fromDay, pageSize: ROWS_MAX }, account));
  const failed = [balance, usage].find(({ error }) => error !== null);
  if (failed?.error)
    return (
      <Problem
        error={failed.error}
        what={words.errors.load(words.pages.overview)}
        onAgain={() => void failed.refetch()}
      />
    );
  if (balance.data === undefined || usage.data === undefined || settings.isPending) return <Waiting height={480} />;
  const within = (from: string): readonly UsageSummary[] => usage.data.summaries.filter(({ day }) => day >= from);
  const { freeze, settings: holding } = settings.data?.account ?? {};
  return (
    <>
      {freeze !== undefined && <p className="notice warn">{words.account.frozen(freeze.reason)}</p>}
      {holding?.content?.kept === true && <p className="notice">{words.account.contentKept}</p>}
      <Figures
        balance={balance.data}
        settings={holding}
        todayNanos={sumOf(within(today), costOf)}
        monthNanos={sumOf(within(monthStart), costOf)}
        spentNanos={sumOf(within(shown[0] ?? today), costOf)}
        days={days}
      />
      <Charts usage={usage.data} shown={shown} />
    </>
  );
}

interface ChartsParts {
  readonly usage: SummarizeUsageResponse;
  readonly shown: readonly string[];
}

function Charts({ usage, shown }: ChartsParts): ReactNode {
  const rows = usage.summaries.filter(({ day }) => shown.includes(day));
  if (rows.length === 0)
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
  const axis = { places: shown, placeName: words.overview.day, short: shortUtcDay };
  const byModel = (valueOf: (row: UsageSummary) => bigint): ReturnType<typeof seriesOf> =>
    seriesOf(rows, shown, ({ model }) => model, valueOf);
  return (
    <>
      <section className="card">
        <h2 className="card-head">{words.overview.spend}</h2>
        <Bars {...axis} title={words.overview.spend} series={byModel(costOf)} exact={money} rough={roughMoney} />
      </section>
      <div className="columns">
        <section className="card">
          <h2 className="card-head">{words.overview.requests}</h2>
          <Bars
            {...axis}
            title={words.overview.requests}
            series={byModel(({ requestCount }) => requestCount)}
            exact={count}
            rough={roughCount}
          />
        </section>
        <section className="card">
          <h2 className="card-head">{words.overview.tokens}</h2>
          <Bars
            {...axis}
            title={words.overview.tokens}
            series={TOKEN_KINDS.map(({ name, of }) => ({
              name,
              values: shown.map((day) =>
                sumOf(
                  rows.filter((row) => row.day === day),
                  of,
                ),
              ),
            }))}
            exact={count}
            rough={roughCount}
          />
        </section>
      </div>
    </>
  );
}

const TOKEN_KINDS: readonly { readonly name: string; readonly of: (row: UsageSummary) => bigint }[] = [
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

function costOf({ costNanos }: UsageSummary): bigint {
  return costNanos;
}

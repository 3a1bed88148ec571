/** The overview: what the account has, what it spends, and on what. */
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { getAccount } from "../../../gen/console/account_service.js";
import { queryUsage } from "../../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Range } from "../parts/range.tsx";
import { NAMES_MAX, sumOf } from "../parts/series.ts";
import { timesOf } from "../parts/times.ts";
import { Waiting } from "../parts/waiting.tsx";
import type { Days } from "../search.ts";
import { useSignedIn } from "../shell/session.ts";
import { Charts } from "./charts.tsx";
import { Figures } from "./figures.tsx";

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
  const times = timesOf(new Date(), days);
  const asked = { accountId: account, startTime: times.startTime };
  const shown = useQuery(ask(getAccount, { id: account }, account));
  // How fast answers began is known of each time as a whole alone, not of the sum of several models.
  const byTime = useQuery(ask(queryUsage, { ...asked, groupBy: [times.by] }, account));
  const byModel = useQuery(ask(queryUsage, { ...asked, groupBy: [times.by, "model"], valuesMax: NAMES_MAX }, account));
  const failed = [shown, byTime, byModel].find(({ error }) => error !== null);
  if (failed?.error)
    return (
      <Problem
        error={failed.error}
        what={words.errors.load(words.pages.overview)}
        onAgain={() => void failed.refetch()}
      />
    );
  if (shown.data?.account === undefined || byTime.data === undefined || byModel.data === undefined)
    return <Waiting height={480} />;
  const { freeze, settings, figures } = shown.data.account;
  const spentNanos = sumOf(byTime.data.sums, ({ costNanos }) => costNanos);
  return (
    <>
      {freeze !== undefined && <p className="notice warn">{words.account.frozen(freeze.reason)}</p>}
      {settings?.content?.kept === true && <p className="notice">{words.account.contentKept}</p>}
      <Figures figures={figures} settings={settings} spentNanos={spentNanos} days={days} />
      <Charts times={times} byTime={byTime.data.sums} byModel={byModel.data.sums} />
    </>
  );
}

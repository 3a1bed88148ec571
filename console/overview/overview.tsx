/** The overview: what the account has, what it spends, and on what. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type Account, getAccount } from "../../gen/console/account_service.js";
import { queryUsage } from "../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { AllLoaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Range, usePeriod } from "../parts/range.tsx";
import { NAMES_MAX } from "../parts/series.ts";
import { timesOf } from "../parts/times.ts";
import { useSignedIn } from "../shell/session.ts";
import { Charts } from "./charts.tsx";
import { Figures } from "./figures.tsx";
import { LateFirstSteps } from "./late-first-steps.tsx";

const DEFAULT_DAYS = 30;

export function Overview(): ReactNode {
  const { account } = useSignedIn();
  return (
    <Page title={words.pages.overview} about={words.overview.about} actions={<Range otherwise={DEFAULT_DAYS} />}>
      <LateFirstSteps />
      <Content account={account} />
    </Page>
  );
}

function Content({ account }: { readonly account: string }): ReactNode {
  const times = timesOf(new Date(), usePeriod(DEFAULT_DAYS));
  const asked = { accountId: account, ...times.asked };
  const shown = useQuery(ask(getAccount, { id: account }, account));
  // How fast answers began is known of each time as a whole alone, not of the sum of several models.
  const byTime = useQuery(ask(queryUsage, { ...asked, groupBy: [times.by] }, account));
  const byModel = useQuery(ask(queryUsage, { ...asked, groupBy: [times.by, "model"], valuesMax: NAMES_MAX }, account));
  return (
    <AllLoaded of={[shown, byTime, byModel]} what={words.pages.overview} height={480}>
      {(answer, timed, named) => (
        <>
          <Noted account={answer.account} />
          <Figures
            figures={answer.account?.figures}
            settings={answer.account?.settings}
            spentByDay={times.by === "day" ? timed.sums.map(({ costNanos }) => costNanos) : undefined}
          />
          <Charts times={times} byTime={timed.sums} byModel={named.sums} />
        </>
      )}
    </AllLoaded>
  );
}

/** What everybody in the account should know of it. */
function Noted({ account }: { readonly account: Account | undefined }): ReactNode {
  return (
    <>
      {account?.freeze !== undefined && <p className="notice warn">{words.account.frozen(account.freeze.reason)}</p>}
      {account?.settings?.content?.kept === true && <p className="notice">{words.account.contentKept}</p>}
    </>
  );
}

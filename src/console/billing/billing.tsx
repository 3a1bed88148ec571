/** The balance, and what was booked in a month with the balance after each entry. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { getBalance, getStatement, type GetStatementResponse } from "../../../gen/console/account_service.js";
import { fileAddress } from "../api/client.ts";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { billingWords } from "../copy/en-billing.ts";
import { dayText } from "../format.ts";
import { download } from "../parts/download.ts";
import { Empty } from "../parts/empty.tsx";
import { Entries } from "../parts/entries.tsx";
import { Field } from "../parts/field.tsx";
import { Money } from "../parts/money.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useSignedIn } from "../shell/session.ts";
import { BalanceFigures } from "./balance-figures.tsx";
import { Redeem } from "./redeem.tsx";

const PAGE_SIZE = 500;

export function Billing(): ReactNode {
  const { account, isManager } = useSignedIn();
  const [isRedeeming, setRedeeming] = useState(false);
  const balance = useQuery(ask(getBalance, { id: account }, account));
  const button = (
    <button className="button main" type="button" onClick={() => setRedeeming(true)}>
      {billingWords.redeem}
    </button>
  );
  return (
    <Page title={words.pages.billing} about={billingWords.about} actions={isManager ? button : undefined}>
      {balance.error !== null ? (
        <Problem
          error={balance.error}
          what={words.errors.load(words.pages.billing)}
          onAgain={() => void balance.refetch()}
        />
      ) : balance.data === undefined ? (
        <Waiting height={110} />
      ) : (
        <BalanceFigures balance={balance.data} />
      )}
      <Statement />
      {isRedeeming && <Redeem onClose={() => setRedeeming(false)} />}
    </Page>
  );
}

function Statement(): ReactNode {
  const { account } = useSignedIn();
  const { month = dayText(new Date()).slice(0, 7), page = "" } = useSearch({ from: "/billing" });
  const navigate = useNavigate({ from: "/billing" });
  const period = { id: account, from: `${month}-01`, to: lastDayOf(month) };
  const { data, error, refetch } = useQuery(
    ask(getStatement, { ...period, pageSize: PAGE_SIZE, pageToken: page }, account),
  );
  const save = useMutation({
    mutationFn: () =>
      download(fileAddress(getStatement, period, { format: "csv" }), `statement-${account}-${month}.csv`, account),
  });
  return (
    <section className="stack">
      <div className="page-head">
        <h2>{billingWords.statement}</h2>
        <div className="row end">
          <Field
            label={billingWords.month}
            type="month"
            value={month}
            onChange={({ currentTarget: { value } }) =>
              void navigate({ search: (before) => ({ ...before, month: value || undefined, page: undefined }) })
            }
          />
          <button className="button" type="button" disabled={save.isPending} onClick={() => save.mutate()}>
            {billingWords.csv}
          </button>
          <button className="button" type="button" onClick={() => window.print()}>
            {billingWords.print}
          </button>
        </div>
      </div>
      {save.error !== null && <Problem error={save.error} what={words.errors.load(billingWords.statement)} />}
      {error !== null ? (
        <Problem error={error} what={words.errors.load(billingWords.statement)} onAgain={() => void refetch()} />
      ) : data === undefined ? (
        <Waiting height={320} />
      ) : (
        <Booked statement={data} />
      )}
    </section>
  );
}

function Booked({ statement }: { readonly statement: GetStatementResponse }): ReactNode {
  const { page } = useSearch({ from: "/billing" });
  const { entries, opening, closing, nextPageToken } = statement;
  if (entries.length === 0 && page === undefined)
    return <Empty title={billingWords.emptyTitle} about={billingWords.emptyAbout} />;
  return (
    <>
      <p>
        {billingWords.opening}: <Money nanos={opening?.availableNanos ?? 0n} />
      </p>
      <Entries
        label={billingWords.statement}
        hasBalance
        lines={entries.map(({ entry, balance }) => ({
          id: entry?.id ?? "",
          kind: entry?.kind ?? "unspecified",
          time: entry?.createTime,
          amountNanos: entry?.amountNanos ?? 0n,
          changeNanos: entry?.availableChangeNanos ?? 0n,
          requestId: entry?.requestId ?? "",
          reason: entry?.reason ?? "",
          balanceNanos: balance?.availableNanos ?? 0n,
        }))}
      />
      <p>
        {billingWords.closing}: <Money nanos={closing?.availableNanos ?? 0n} />
      </p>
      <span className="row">
        {page !== undefined && (
          <Link to="/billing" search={(before) => ({ ...before, page: undefined })} className="button">
            {billingWords.first}
          </Link>
        )}
        {nextPageToken !== "" && (
          <Link to="/billing" search={(before) => ({ ...before, page: nextPageToken })} className="button">
            {billingWords.older}
          </Link>
        )}
      </span>
    </>
  );
}

/** The last day of a month such as 2026-11. */
function lastDayOf(month: string): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return dayText(new Date(Date.UTC(year, number, 0)));
}

/** The balance, and what was booked in a month with the balance after each entry. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { getBalance, getStatement, type GetStatementResponse } from "../../gen/console/account_service.js";
import { fileAddress } from "../api/client.ts";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { billingWords, paymentWords } from "../copy/en-billing.ts";
import { dayText } from "../format.ts";
import { download } from "../parts/download.ts";
import { Empty } from "../parts/empty.tsx";
import { Entries } from "../parts/entries.tsx";
import { Field } from "../parts/field.tsx";
import { Money } from "../parts/money.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import { AddFunds } from "./add-funds.tsx";
import { BalanceFigures } from "./balance-figures.tsx";
import { Payments, usePayments } from "./payments.tsx";
import { Redeem } from "./redeem.tsx";
import { Returned } from "./returned.tsx";
import { Summary } from "./summary.tsx";

const PAGE_SIZE = 500;

export function Billing(): ReactNode {
  const { account, isManager } = useSignedIn();
  const [open, setOpen] = useState<"code" | "card">();
  const close = (): void => setOpen(undefined);
  const balance = useQuery(ask(getBalance, { id: account }, account));
  const payments = usePayments();
  const options = payments.data?.options;
  const hasCards = options?.cards === true;
  const buttons = (
    <span className="row">
      <button className={hasCards ? "button" : "button main"} type="button" onClick={() => setOpen("code")}>
        {billingWords.redeem}
      </button>
      {hasCards && (
        <button className="button main" type="button" onClick={() => setOpen("card")}>
          {paymentWords.add}
        </button>
      )}
    </span>
  );
  return (
    <Page title={words.pages.billing} about={billingWords.about} actions={isManager ? buttons : undefined}>
      <Returned />
      <Loaded of={balance} what={words.pages.billing} height={110}>
        {(has) => <BalanceFigures balance={has} />}
      </Loaded>
      <Statement />
      {payments.data !== undefined && <Payments page={payments.data} />}
      {open === "code" && <Redeem onClose={close} />}
      {open === "card" && options !== undefined && <AddFunds options={options} onClose={close} />}
    </Page>
  );
}

function Statement(): ReactNode {
  const { account } = useSignedIn();
  const { month = dayText(new Date()).slice(0, 7), journal } = useSearch({ from: "/billing" });
  const navigate = useNavigate({ from: "/billing" });
  const period = { id: account, from: `${month}-01`, to: lastDayOf(month) };
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
      <span className="no-print">
        <Link
          from="/billing"
          to="/billing"
          className="button"
          search={(before) => ({ ...before, journal: journal === undefined ? "open" : undefined, page: undefined })}
        >
          {journal === undefined ? billingWords.showJournal : billingWords.showCosts}
        </Link>
      </span>
      {journal === undefined ? <Summary fromDay={period.from} toDay={period.to} /> : <Journal {...period} />}
    </section>
  );
}

interface Period {
  /** The id of the account. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
}

/** Every entry of the ledger with the balance after it. */
function Journal(period: Period): ReactNode {
  const { account } = useSignedIn();
  const { page = "" } = useSearch({ from: "/billing" });
  const statement = useQuery(ask(getStatement, { ...period, pageSize: PAGE_SIZE, pageToken: page }, account));
  return (
    <Loaded of={statement} what={billingWords.statement}>
      {(booked) => <Booked statement={booked} />}
    </Loaded>
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

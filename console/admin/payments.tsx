/** Payments by card of all accounts: those that need the operator, with what to do, and the question to Stripe. */
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import {
  listPayments,
  type ListPaymentsResponse,
  type Payment,
  reconcilePayments,
} from "../../gen/console/payment_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { paymentWords } from "../copy/en-billing.ts";
import { cardWords } from "../copy/en-card-payments.ts";
import { clockTime } from "../format.ts";
import { Choice } from "../parts/field.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Money } from "../parts/money.tsx";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { PAYMENT_LOOKS } from "../parts/payment-looks.ts";
import { Problem } from "../parts/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";

const PAGE_SIZE = 100;
const DAYS = ["7", "30", "180"] as const;

export function CardPayments(): ReactNode {
  const { isOperator } = useSignedIn();
  const { show, page } = useSearch({ from: "/admin/payments" });
  const asked = { attention: show !== "all", pageSize: PAGE_SIZE, pageToken: page ?? "" };
  const list = useQuery({ ...ask(listPayments, asked), placeholderData: keepPreviousData });
  return (
    <Page title={words.pages.cardPayments} about={cardWords.about}>
      <Loaded of={list} what={words.pages.cardPayments}>
        {(answer) => (
          <>
            {answer.options?.cards !== true && <p className="notice">{cardWords.off}</p>}
            {isOperator && answer.options?.cards === true && <Reconcile />}
            <Shown answer={answer} isAll={show === "all"} page={page} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface ShownParts {
  readonly answer: ListPaymentsResponse;
  readonly isAll: boolean;
  readonly page: string | undefined;
}

function Shown({ answer: { payments, nextPageToken }, isAll, page }: ShownParts): ReactNode {
  return (
    <>
      <nav className="segments" aria-label={words.pages.cardPayments}>
        {([undefined, "all"] as const).map((each) => (
          <Link
            key={each ?? "attention"}
            to="/admin/payments"
            search={({ account }) => ({ account, show: each })}
            activeOptions={{ explicitUndefined: true }}
          >
            {each === undefined ? cardWords.attention : cardWords.all}
          </Link>
        ))}
      </nav>
      {payments.length === 0 ? (
        <p className="soft">{isAll ? cardWords.emptyAll : cardWords.emptyAttention}</p>
      ) : (
        <Table label={words.pages.cardPayments} columns={COLUMNS} rows={payments} keyOf={({ id }) => id} isWhole />
      )}
      <Pager page={page} next={nextPageToken} first={cardWords.first} more={cardWords.more} />
    </>
  );
}

function Reconcile(): ReactNode {
  const [days, setDays] = useState<string>(DAYS[0]);
  const run = useMutation({
    mutationFn: () => call(reconcilePayments, { days: Number(days) }),
    onSuccess: () => forget(listPayments),
  });
  return (
    <section className="card stack">
      <p className="soft">{cardWords.askAbout}</p>
      <div className="row filters">
        <Choice label={cardWords.days} value={days} onChange={({ currentTarget: { value } }) => setDays(value)}>
          {DAYS.map((each) => (
            <option key={each} value={each}>
              {cardWords.dayChoices[each]}
            </option>
          ))}
        </Choice>
        <button className="button main" type="button" disabled={run.isPending} onClick={() => run.mutate()}>
          {run.isPending ? cardWords.asking : cardWords.ask}
        </button>
      </div>
      {run.error !== null && <Problem error={run.error} what={cardWords.askFailed} />}
      {run.data !== undefined && (
        <p role="status">
          {cardWords.found(run.data.lookedAt, run.data.creditCount, run.data.correctionCount, run.data.stuckCount)}
        </p>
      )}
    </section>
  );
}

const COLUMNS: readonly Column<Payment>[] = [
  {
    name: cardWords.account,
    cell: ({ accountId }) =>
      accountId === "" ? (
        cardWords.nobody
      ) : (
        <Link to="/admin/accounts/$id" params={{ id: accountId }}>
          {accountId}
        </Link>
      ),
  },
  {
    name: cardWords.state,
    cell: ({ state }) => <span className={PAYMENT_LOOKS[state]}>{paymentWords.states[state]}</span>,
  },
  {
    name: cardWords.begun,
    cell: ({ createTime }) => (createTime === undefined ? "" : clockTime(createTime)),
    isExtra: true,
  },
  { name: cardWords.amount, cell: ({ amountNanos }) => <Money nanos={amountNanos} isAligned />, isNumber: true },
  {
    name: cardWords.back,
    cell: ({ refundedNanos, disputedNanos }) => <Money nanos={refundedNanos + disputedNanos} isAligned />,
    isNumber: true,
    isExtra: true,
  },
  {
    name: cardWords.receivable,
    cell: ({ receivableNanos }) => <Money nanos={receivableNanos} isAligned />,
    isNumber: true,
    isExtra: true,
  },
  { name: cardWords.todo, cell: (payment) => <Todo payment={payment} /> },
];

function Todo({ payment: { problem, receivableNanos, stripeSessionId } }: { readonly payment: Payment }): ReactNode {
  return (
    <div className="stack todo">
      {problem !== "" && <span>{cardWords.stuckDo(sentence(problem))}</span>}
      {receivableNanos > 0n && <span>{cardWords.receivableDo}</span>}
      {stripeSessionId !== "" && <small className="soft">{cardWords.session(stripeSessionId)}</small>}
    </div>
  );
}

/** The gateway's words, which begin small and end open. */
function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}

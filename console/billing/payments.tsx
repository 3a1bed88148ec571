/** The payments by card of the account. */
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { listPayments, type ListPaymentsResponse, type Payment } from "../../gen/console/payment_service.js";
import { ask } from "../api/queries.ts";
import { paymentWords } from "../copy/en-billing.ts";
import { clockTime } from "../format.ts";
import { Money } from "../parts/money.tsx";
import { PAYMENT_LOOKS } from "../parts/payment-looks.ts";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";

const PAGE_SIZE = 20;
/** A page of payments, with what can be paid by card now. */
export function usePayments(): UseQueryResult<ListPaymentsResponse> {
  const { account } = useSignedIn();
  const { payments: pageToken = "" } = useSearch({ from: "/billing" });
  return useQuery(ask(listPayments, { accountId: account, pageSize: PAGE_SIZE, pageToken }, account));
}

export function Payments({ page }: { readonly page: ListPaymentsResponse }): ReactNode {
  const { payments: token } = useSearch({ from: "/billing" });
  if (page.payments.length === 0 && token === undefined) return null;
  return (
    <section className="stack">
      <h2>{paymentWords.title}</h2>
      <Table label={paymentWords.title} columns={COLUMNS} rows={page.payments} keyOf={({ id }) => id} />
      <span className="row">
        {token !== undefined && (
          <Link to="/billing" search={(before) => ({ ...before, payments: undefined })} className="button">
            {paymentWords.first}
          </Link>
        )}
        {page.nextPageToken !== "" && (
          <Link to="/billing" search={(before) => ({ ...before, payments: page.nextPageToken })} className="button">
            {paymentWords.more}
          </Link>
        )}
      </span>
    </section>
  );
}

const COLUMNS: readonly Column<Payment>[] = [
  {
    name: paymentWords.when,
    cell: ({ createTime }) => (createTime === undefined ? "" : clockTime(createTime)),
  },
  {
    name: paymentWords.state,
    cell: ({ state }) => <span className={PAYMENT_LOOKS[state]}>{paymentWords.states[state]}</span>,
  },
  { name: paymentWords.amount, cell: ({ amountNanos }) => <Money nanos={amountNanos} />, isNumber: true },
  {
    name: paymentWords.back,
    cell: ({ refundedNanos, disputedNanos }) => {
      const nanos = refundedNanos + disputedNanos;
      return nanos === 0n ? "" : <Money nanos={nanos} />;
    },
    isNumber: true,
    isExtra: true,
  },
];

/** The codes of a batch, without their secrets: who redeemed which. */
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { listTopUpCodes, type TopUpCode } from "../../gen/console/payment_service.js";
import { ask } from "../api/queries.ts";
import { codeWords } from "../copy/en-codes.ts";
import { clockTime } from "../format.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Money } from "../parts/money.tsx";
import { Pager } from "../parts/pager.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";
import { VoidCodes } from "./void-codes.tsx";

const PAGE_SIZE = 1_000;
const LOOKS = { unspecified: "tag", open: "tag", redeemed: "tag good", void: "tag warn", expired: "tag warn" } as const;

export function Batch({ id }: { readonly id: string }): ReactNode {
  const { isOperator } = useSignedIn();
  const { page } = useSearch({ from: "/admin/codes" });
  const codes = useQuery(ask(listTopUpCodes, { batchId: id, pageSize: PAGE_SIZE, pageToken: page ?? "" }));
  return (
    <Loaded of={codes} what={codeWords.batch}>
      {({ topUpCodes, nextPageToken }) => (
        <>
          <p>
            {topUpCodes[0]?.note || codeWords.noNote} <code className="id">{id}</code>
          </p>
          <Table
            label={codeWords.codes}
            columns={isOperator ? [...COLUMNS, ACTIONS] : COLUMNS}
            rows={topUpCodes}
            keyOf={(code) => code.id}
          />
          <Pager page={page} next={nextPageToken} first={codeWords.first} more={codeWords.more} />
        </>
      )}
    </Loaded>
  );
}

const COLUMNS: readonly Column<TopUpCode>[] = [
  { name: codeWords.id, cell: ({ id }) => <code className="id">{id}</code>, isExtra: true },
  { name: codeWords.state, cell: ({ state }) => <span className={LOOKS[state]}>{codeWords.states[state]}</span> },
  {
    name: codeWords.account,
    cell: ({ accountId }) =>
      accountId === "" ? (
        ""
      ) : (
        <Link to="/admin/accounts/$id" params={{ id: accountId }}>
          {accountId}
        </Link>
      ),
  },
  {
    name: codeWords.when,
    cell: ({ redeemTime }) => (redeemTime === undefined ? "" : clockTime(redeemTime)),
    isNumber: true,
    isExtra: true,
  },
  { name: codeWords.worth, cell: ({ amountNanos }) => <Money nanos={amountNanos} />, isNumber: true },
];

const ACTIONS = actionsColumn<TopUpCode>(codeWords.actions, ({ id, batchId, state }) => (
  <RowActions
    actions={
      state === "open"
        ? [
            {
              name: codeWords.void,
              isDanger: true,
              opens: (close) => <VoidCodes batchId={batchId} id={id} onClose={close} />,
            },
          ]
        : []
    }
  />
));

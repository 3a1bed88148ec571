/** The batches of top-up codes, for operators: made, looked into and voided. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { listTopUpBatches, type TopUpBatch } from "../../gen/console/payment_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { codeWords } from "../copy/en-codes.ts";
import { clockTime, count, dayText, utcDay } from "../format.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Money } from "../parts/money.tsx";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";
import { Batch } from "./batch.tsx";
import { MakeCodes } from "./make-codes.tsx";
import { VoidCodes } from "./void-codes.tsx";

const PAGE_SIZE = 200;

export function Codes(): ReactNode {
  const { isOperator } = useSignedIn();
  const { batch, add } = useSearch({ from: "/admin/codes" });
  const navigate = useNavigate({ from: "/admin/codes" });
  const open = (isOpen: boolean): void =>
    void navigate({ search: (before) => ({ ...before, add: isOpen ? "codes" : undefined }), replace: !isOpen });
  const button = (
    <button className="button main" type="button" onClick={() => open(true)}>
      {codeWords.make}
    </button>
  );
  const isMaking = add === "codes" && isOperator;
  const back = (
    <Link to="/admin/codes" search={(before) => ({ account: before.account })}>
      ← {codeWords.back}
    </Link>
  );
  return (
    <Page
      title={batch === undefined ? words.pages.codes : codeWords.batch}
      about={batch === undefined ? codeWords.about : back}
      actions={isOperator && batch === undefined ? button : undefined}
    >
      {batch === undefined ? <Batches button={isOperator ? button : undefined} /> : <Batch id={batch} />}
      {isMaking && <MakeCodes onClose={() => open(false)} />}
    </Page>
  );
}

function Batches({ button }: { readonly button: ReactNode }): ReactNode {
  const { isOperator } = useSignedIn();
  const { page } = useSearch({ from: "/admin/codes" });
  const batches = useQuery(ask(listTopUpBatches, { pageSize: PAGE_SIZE, pageToken: page ?? "" }));
  return (
    <Loaded of={batches} what={words.pages.codes}>
      {(answer) =>
        answer.topUpBatches.length === 0 && page === undefined ? (
          <Empty title={codeWords.emptyTitle} about={codeWords.emptyAbout}>
            {button}
          </Empty>
        ) : (
          <>
            <Table
              label={words.pages.codes}
              columns={isOperator ? [...COLUMNS, ACTIONS] : COLUMNS}
              rows={answer.topUpBatches}
              keyOf={({ id }) => id}
            />
            <Pager page={page} next={answer.nextPageToken} first={codeWords.first} more={codeWords.more} />
          </>
        )
      }
    </Loaded>
  );
}

const COLUMNS: readonly Column<TopUpBatch>[] = [
  {
    name: codeWords.note,
    cell: ({ id, note }) => (
      <Link to="/admin/codes" search={(before) => ({ account: before.account, batch: id })}>
        {note || codeWords.noNote}
      </Link>
    ),
  },
  { name: codeWords.worth, cell: ({ amountNanos }) => <Money nanos={amountNanos} />, isNumber: true },
  {
    name: codeWords.redeemed,
    cell: ({ redeemedCount, codeCount }) => codeWords.of(count(redeemedCount), count(codeCount)),
    isNumber: true,
  },
  { name: codeWords.open, cell: (batch) => count(openOf(batch)), isNumber: true, isExtra: true },
  {
    name: codeWords.madeWhen,
    cell: ({ createTime }) => (createTime === undefined ? "" : clockTime(createTime)),
    isNumber: true,
    isExtra: true,
  },
  {
    name: codeWords.until,
    cell: ({ expireTime }) => (expireTime === undefined ? "" : utcDay(dayText(expireTime))),
    isNumber: true,
    isExtra: true,
  },
];

const ACTIONS = actionsColumn<TopUpBatch>(codeWords.actions, (batch) => (
  <RowActions
    actions={
      openOf(batch) === 0
        ? []
        : [
            {
              name: codeWords.void,
              isDanger: true,
              opens: (close) => <VoidCodes batchId={batch.id} onClose={close} />,
            },
          ]
    }
  />
));

/** How many codes of a batch can still be redeemed. */
function openOf({ codeCount, redeemedCount, voidCount, expireTime }: TopUpBatch): number {
  return expireTime !== undefined && expireTime < new Date() ? 0 : codeCount - redeemedCount - voidCount;
}

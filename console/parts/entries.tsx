/** Entries of the ledger as a table, with the balance after each where it is known. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { EntryKind } from "../../gen/console/account_service.js";
import { entryWords } from "../copy/en-entries.ts";
import { clockTime } from "../format.ts";
import { Money } from "./money.tsx";
import { type Column, Table } from "./table.tsx";

export interface EntryLine {
  readonly id: string;
  readonly kind: EntryKind;
  readonly time: Date | undefined;
  readonly amountNanos: bigint;
  readonly changeNanos: bigint;
  readonly requestId: string;
  readonly reason: string;
  readonly balanceNanos?: bigint;
}

export interface EntriesParts {
  readonly label: string;
  readonly lines: readonly EntryLine[];
  readonly hasBalance?: boolean;
}

export function Entries({ label, lines, hasBalance = false }: EntriesParts): ReactNode {
  const columns = hasBalance ? [...COLUMNS, BALANCE] : COLUMNS;
  return <Table label={label} columns={columns} rows={lines} keyOf={({ id }) => id} />;
}

const COLUMNS: readonly Column<EntryLine>[] = [
  { name: entryWords.time, cell: ({ time }) => (time === undefined ? "" : clockTime(time)) },
  { name: entryWords.kind, cell: ({ kind, reason }) => <Kind kind={kind} reason={reason} /> },
  { name: entryWords.id, cell: (line) => <EntryId line={line} />, isExtra: true },
  {
    name: entryWords.amount,
    cell: ({ amountNanos }) => <Money nanos={amountNanos} isAligned />,
    isNumber: true,
    isExtra: true,
  },
  { name: entryWords.change, cell: ({ changeNanos }) => <Money nanos={changeNanos} isAligned />, isNumber: true },
];

const BALANCE: Column<EntryLine> = {
  name: entryWords.balance,
  cell: ({ balanceNanos }) => <Money nanos={balanceNanos ?? 0n} isAligned />,
  isNumber: true,
};

function Kind({ kind, reason }: { readonly kind: EntryKind; readonly reason: string }): ReactNode {
  return (
    <>
      {entryWords.kinds[kind]}
      {reason !== "" && <small className="soft"> {reason}</small>}
    </>
  );
}

function EntryId({ line: { id, requestId } }: { readonly line: EntryLine }): ReactNode {
  if (requestId === "") return <code className="id">{id}</code>;
  return (
    <Link to="/requests/$id" params={{ id: requestId }}>
      <code className="id">{id}</code>
    </Link>
  );
}

/** Entries of accounts as files: CSV, and lines of JSON. Each line says whose it is, so that one file holds many. */
import { formatUsd } from "../base/money.js";
import { cell, line as csvLine } from "../base/csv.js";
import { enumWord } from "./descriptors.js";
import type { StatementEntry } from "./index.js";

/** A form of export: what stands before the first line, and one line. */
export interface EntryForm {
  readonly head: string;
  line(accountId: string, entry: StatementEntry): string;
}

const COLUMNS = [
  "account_id",
  "sequence",
  "time",
  "kind",
  "id",
  "request_id",
  "amount_usd",
  "change_usd",
  "available_usd",
  "held_usd",
  "debit_account",
  "credit_account",
  "reason",
  "actor",
];

export const ENTRY_FORMS: Readonly<Record<"csv" | "jsonl", EntryForm>> = {
  csv: { head: csvLine(COLUMNS), line: csvOf },
  jsonl: { head: "", line: jsonOf },
};

function csvOf(accountId: string, { entry, balance }: StatementEntry): string {
  if (entry === undefined) return "";
  return csvLine([
    cell(accountId),
    `${entry.sequence}`,
    entry.createTime?.toISOString() ?? "",
    enumWord("tollgate.v1.EntryKind", entry.kind),
    cell(entry.id),
    cell(entry.requestId),
    formatUsd(entry.amountNanos),
    formatUsd(entry.availableChangeNanos),
    formatUsd(balance?.availableNanos ?? 0n),
    formatUsd(balance?.heldNanos ?? 0n),
    cell(entry.debitAccount),
    cell(entry.creditAccount),
    cell(entry.reason),
    cell(entry.actor),
  ]);
}

/** Nano-USD as text, which no reader rounds. */
function jsonOf(accountId: string, { entry, balance }: StatementEntry): string {
  if (entry === undefined) return "";
  const members = {
    account_id: accountId,
    sequence: `${entry.sequence}`,
    time: entry.createTime?.toISOString() ?? "",
    kind: enumWord("tollgate.v1.EntryKind", entry.kind),
    id: entry.id,
    request_id: entry.requestId,
    amount_nanos: `${entry.amountNanos}`,
    available_change_nanos: `${entry.availableChangeNanos}`,
    held_change_nanos: `${entry.heldChangeNanos}`,
    available_nanos: `${balance?.availableNanos ?? 0n}`,
    held_nanos: `${balance?.heldNanos ?? 0n}`,
    debit_account: entry.debitAccount,
    credit_account: entry.creditAccount,
    reason: entry.reason,
    actor: entry.actor,
  };
  return `${JSON.stringify(members)}\n`;
}

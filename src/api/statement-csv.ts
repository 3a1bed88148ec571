/** A statement as CSV (RFC 4180): lines that a spreadsheet reads as text and numbers, never as formulas. */
import { formatUsd } from "../base/money.js";
import { cell, line } from "../base/csv.js";
import { enumWord } from "./descriptors.js";
import type { BalancePoint, GetStatementResponse, StatementEntry } from "./index.js";

const COLUMNS = ["sequence", "time", "kind", "id", "request_id", "change_usd", "available_usd", "held_usd"];

/** The titles and the opening balance: what stands before the first page, and since when where the rest is archived. */
export function statementHead({ opening, archivedBefore }: GetStatementResponse): string {
  return line(COLUMNS) + balanceLine("opening", opening, archivedBefore);
}

/** The entries of one page. */
export function statementLines({ entries }: GetStatementResponse): string {
  return entries.map(entryLine).join("");
}

/** The closing balance, after the last page. A statement without it is cut. */
export function statementEnd({ closing }: GetStatementResponse): string {
  return balanceLine("closing", closing);
}

function balanceLine(kind: string, balance: BalancePoint | undefined, archivedBefore?: Date): string {
  const said = archivedBefore === undefined ? "" : "entries before are archived";
  return line(["", archivedBefore?.toISOString() ?? "", kind, said, "", "", ...amounts(balance)]);
}

function entryLine({ entry, balance }: StatementEntry): string {
  if (entry === undefined) return "";
  return line([
    entry.sequence.toString(),
    entry.createTime?.toISOString() ?? "",
    enumWord("tollgate.v1.EntryKind", entry.kind),
    cell(entry.id),
    cell(entry.requestId),
    formatUsd(entry.availableChangeNanos),
    ...amounts(balance),
  ]);
}

/** Exact, and no formulas, since what follows a minus is digits alone. */
function amounts(balance: BalancePoint | undefined): string[] {
  return [formatUsd(balance?.availableNanos ?? 0n), formatUsd(balance?.heldNanos ?? 0n)];
}

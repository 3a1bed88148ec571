/** Rows as a file for a spreadsheet. */
import { cell, line } from "../../src/base/csv.ts";

type Cell = string | bigint | number;

export function csvOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [head, ...rows].map((row) => line(row.map((one) => cell(String(one))))).join("");
}

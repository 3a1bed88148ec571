/** How commands print: aligned columns for people, JSON for programs. */
import { runnable } from "../base/package-root.js";
import { dayOf } from "../base/day.js";

/** A column: its title, and whether it holds numbers, which stand at the right. */
export type Column = string | { readonly title: string; readonly numeric: true };

/** What follows a secret, which the gateway does not keep. */
export const SHOWN_ONCE = "This secret is shown once and cannot be shown again: keep it now.";

export function numeric(title: string): Column {
  return { title, numeric: true };
}

/** A page of a list, or what says that it is empty. */
export function formatList(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  none: string,
  nextPageToken: string,
): string {
  return rows.length === 0 ? none : formatTable(columns, rows) + moreOf(nextPageToken);
}

/** What follows a list that goes on. */
export function moreOf(nextPageToken: string): string {
  return nextPageToken === "" ? "" : "\nThere are more: raise --limit.";
}

/** What follows where the rest is in an archive. */
export function archivedNote(before: Date | undefined, what: string): string {
  if (before === undefined) return "";
  return `\nBefore ${dayOf(before.valueOf())}: ${what} are archived; ${ARCHIVE_READER} proves them.`;
}

/** The command that reads the files of an archive: a node does not have them. */
export const ARCHIVE_READER = "'tollgate store verify --archive DIR'";

/** Rows under titles, two spaces between columns. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const titles = columns.map((column) => (typeof column === "string" ? column : column.title));
  const cells = [titles, ...rows.map((row) => row.map(printable))];
  const widths = titles.map((_, index) => Math.max(...cells.map((row) => (row[index] ?? "").length)));
  return cells
    .map((row) =>
      row
        .map((cell, index) => {
          const width = widths[index] ?? 0;
          return typeof columns[index] === "string" ? cell.padEnd(width) : cell.padStart(width);
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Text that others chose, such as a key's name, without what could steer a terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Cf}/gu, "?");
}

/** A time to the second, such as 2026-11-21T04:05:06Z; `-` where there is none. */
export function formatTime(time: Date | undefined): string {
  return time === undefined ? "-" : time.toISOString().replace(/\.\d+Z$/, "Z");
}

/** A limit, where zero means none. */
export function formatLimit(value: bigint): string {
  return value === 0n ? "-" : value.toString();
}

/** A member of an object of JSON, or of a list by its place. */
export function jsonMember(json: unknown, name: string): unknown {
  return Object.entries(json ?? {}).find(([key]) => key === name)?.[1];
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A part of something longer, which brings its own line ends. */
export function printPart(text: string): void {
  process.stdout.write(text);
}

/** A remark for the person, apart from what a script reads. */
export function remark(text: string): void {
  process.stderr.write(`${runnable(text)}\n`);
}

/** Cells and lines of CSV (RFC 4180), which a spreadsheet reads as text and numbers, never as formulas. */
const LINE_END = "\r\n";

/** What makes a spreadsheet take a cell for a formula: these signs, narrow or wide, and blanks that it skips. */
const FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** Text that others chose, such as the id of a credit. */
export function cell(text: string): string {
  const plain = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

export function line(cells: readonly string[]): string {
  return cells.join(",") + LINE_END;
}

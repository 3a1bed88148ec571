/** Cells and lines of CSV (RFC 4180), which a spreadsheet reads as text and numbers, never as formulas. */
const LINE_END = "\r\n";

/**
 * Where a spreadsheet may take what follows for a formula: one of these signs, narrow or wide, where a cell begins.
 * That is also behind what separates cells in other countries and programs, which need not know the quotes.
 */
const FORMULA = /(^[;|\t\r\n]*|[;|\t\r\n]+)(?=[\s"]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

/** Text that others chose, such as the id of a credit. */
export function cell(text: string): string {
  const plain = text.replaceAll(FORMULA, "$1'");
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

export function line(cells: readonly string[]): string {
  return cells.join(",") + LINE_END;
}

/** Rows as a file for a spreadsheet. */
type Cell = string | bigint | number;

export function csvOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(String).map(quoted).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

/** A cell that no spreadsheet takes for a formula. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

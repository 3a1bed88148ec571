/** Cells of CSV: whatever separates them where the file is opened, none is a formula there. */
import { expect, test } from "vitest";
import { cell } from "../../src/base/csv.js";

const SIGNS = ["=", "+", "-", "@", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"];
const BEFORE = [
  "",
  " ",
  "\u00A0",
  "\u3000",
  "\t",
  "\r",
  "\n",
  "\r\n",
  ";",
  "x;",
  "x; ",
  "x\t",
  "x\n",
  "x\r\n ",
  'x";',
  "x|",
];

/** The cells that a program reads in a line, split at its own separator, whether it knows the quotes or not. */
function cellsOf(line: string, separator: string): string[] {
  const whole = /^"(.*)"$/s.exec(line)?.[1]?.replaceAll('""', '"') ?? line;
  const split = (text: string): string[] => text.split(/[\r\n]/).flatMap((row) => row.split(separator));
  return [whole, ...split(whole), ...split(line)];
}

const CELLS = SIGNS.flatMap((sign) => BEFORE.map((before) => ({ text: `${before}${sign}1+1` })));

test.each(CELLS)("$text is no formula", ({ text }) => {
  for (const separator of [",", ";", "\t", "|"]) {
    for (const read of cellsOf(cell(text), separator)) expect(read.trim()).not.toMatch(/^"?[=+\-@＝＋－＠]/);
  }
});

test.each([
  { text: "plain", want: "plain" },
  { text: "gpt-5.4-mini", want: "gpt-5.4-mini" },
  { text: "a@b.example", want: "a@b.example" },
  { text: "x = y; z", want: "x = y; z" },
  { text: "a,b", want: '"a,b"' },
  { text: 'a "b"', want: '"a ""b"""' },
  { text: "2026-11-23", want: "2026-11-23" },
])("$text stays as it is, quoted where it must be", ({ text, want }) => {
  expect(cell(text)).toBe(want);
});

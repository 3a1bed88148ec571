/** Pages and schemas that are made from the code: compared with what stands in the tree, or written there. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";

const START = "<!-- What follows is made from the code: npm run docs -->";

/** Expects a file to be what the code makes; `npm run docs` writes it. */
export function expectMade(path: string, text: string): void {
  if (process.env["TOLLGATE_DOCS"] === "write") writeFileSync(path, text);
  else expect(existsSync(path) ? readFileSync(path, "utf8") : "", "run npm run docs").toBe(text);
}

/** The same for a page whose head is written by hand. */
export function expectMadeBelow(path: string, text: string): void {
  const [head = ""] = readFileSync(path, "utf8").split(START);
  expectMade(path, `${head}${START}\n\n${text}`);
}

/** A table of Markdown. */
export function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(titles), `|${titles.map(() => "---|").join("")}`, ...rows.map(line), ""].join("\n");
}

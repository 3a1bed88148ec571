/** Writes tables into docs/lab-book.md, between two marks: each with its run, in place of its last one. */
import { readFileSync, writeFileSync } from "node:fs";
import { goalText, markdownText, tableOf } from "./table.mjs";

const PATH = new URL("../../docs/lab-book.md", import.meta.url);
const BEGIN = "<!-- bench:begin -->";
const END = "<!-- bench:end -->";
const TITLE = "### ";

/**
 * @param {readonly import("./result.mjs").Result[]} results
 * @param {readonly string[]} circumstances Lines about the machine and the run.
 * @param {readonly string[]} skipped
 */
export function writeDocs(results, circumstances, skipped) {
  const text = readFileSync(PATH, "utf8");
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`docs/lab-book.md has no ${BEGIN} before ${END}`);
  const tables = tablesIn(text.slice(begin + BEGIN.length, end));
  const run = [...circumstances, ...skipped.map((reason) => `not run: ${reason}`)]
    .map((line) => `- ${line}`)
    .join("\n");
  for (const result of results) {
    const goals = result.goals.map((goal) => `- ${goalText(goal)}`).join("\n");
    const title = `${TITLE}${result.title}`;
    tables.set(title, `${title}\n\n${run}\n\n${markdownText(tableOf(result))}\n\n${goals}\n`);
  }
  writeFileSync(PATH, `${text.slice(0, begin)}${BEGIN}\n\n${[...tables.values()].join("\n")}\n${text.slice(end)}`);
}

/**
 * The tables that stand there, by the lines of their titles.
 * @param {string} text
 */
function tablesIn(text) {
  const parts = text.trim().split(new RegExp(`^(?=${TITLE})`, "m"));
  return new Map(parts.filter((part) => part.startsWith(TITLE)).map((part) => [firstLine(part), `${part.trim()}\n`]));
}

/** @param {string} text */
function firstLine(text) {
  return text.slice(0, text.indexOf("\n"));
}

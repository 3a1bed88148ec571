/** Writes the latest tables into docs/performance.md, between two marks. */
import { readFileSync, writeFileSync } from "node:fs";
import { goalText, markdownText, tableOf } from "./table.mjs";

const PATH = new URL("../../docs/performance.md", import.meta.url);
const BEGIN = "<!-- bench:begin -->";
const END = "<!-- bench:end -->";

/**
 * @param {readonly import("./result.mjs").Result[]} results
 * @param {readonly string[]} circumstances Lines about the machine and the run.
 * @param {readonly string[]} skipped
 */
export function writeDocs(results, circumstances, skipped) {
  const text = readFileSync(PATH, "utf8");
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`docs/performance.md has no ${BEGIN} before ${END}`);
  const parts = results.map((result) => {
    const goals = result.goals.map((goal) => `- ${goalText(goal)}`).join("\n");
    return `### ${result.title}\n\n${markdownText(tableOf(result))}\n\n${goals}\n`;
  });
  const notRun = skipped.map((reason) => `- not run: ${reason}`);
  const head = [...circumstances.map((line) => `- ${line}`), ...notRun].join("\n");
  writeFileSync(PATH, `${text.slice(0, begin)}${BEGIN}\n\n${head}\n\n${parts.join("\n")}\n${text.slice(end)}`);
}

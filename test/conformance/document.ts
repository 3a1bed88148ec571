/** The matrix as a page: what the run found, and nothing else. */
import type { Client } from "./clients/client.js";
import { clients, firstOfFormats } from "./clients/index.js";
import { features } from "./features.js";
import { type Cell, type Matrix, verdictOf } from "./matrix.js";
import type { Feature } from "./scenario.js";
import { FEATURES_OF_FOLLOWERS, followers, type Target, targets } from "./targets.js";

/** Set, a run writes the page; else it compares it. */
export const WRITE_VARIABLE = "TOLLGATE_WRITE_CONFORMANCE";

const HEAD = `# Conformance

This page shows which features work for each client format on each model family. Find your client's format, then the
column of your provider.

Each cell is a real conversation, once with a whole answer and once with a streamed one. The client is each official
package that the section names. The conversation runs through a real gateway to a mock upstream, which refuses what the
real one refuses.

- \`pass\`: the upstream received everything that the client sent, and the client received the complete answer: text,
  thinking, tool calls with their arguments, the finish reason, and the usage.
- \`400 x\`: the gateway refuses the request before it costs anything, and names the parameter \`x\`.

This test writes the page. Without the variable, it fails if the page differs from the results:

    ${WRITE_VARIABLE}=1 npx vitest run test/conformance/matrix.prove.test.ts
`;

/** Runs whatever was not run yet. */
export async function conformancePage(matrix: Matrix): Promise<string> {
  const formats = [...new Set(clients.map(({ format }) => format))];
  const sections: string[] = [];
  for (const format of formats) {
    const own = clients.filter((client) => client.format === format);
    const rows: string[][] = [["feature", ...targets.map(({ family }) => family)]];
    for (const feature of features) {
      const row = [feature.name];
      for (const target of targets) row.push(await cellText(matrix, own, target, feature));
      rows.push(row);
    }
    sections.push(`## ${format}\n\nClients: ${own.map(clientText).join("; ")}.\n\n${table(rows)}`);
  }
  sections.push(await followersSection(matrix));
  return `${HEAD}\n${sections.join("\n")}`;
}

/** The families that are data: a row for each, since they are many. */
async function followersSection(matrix: Matrix): Promise<string> {
  const asked = features.filter(({ name }) => FEATURES_OF_FOLLOWERS.includes(name));
  const rows: string[][] = [["family", ...asked.map(({ name }) => name)]];
  for (const target of followers) {
    const row = [target.family];
    for (const feature of asked) row.push(await cellText(matrix, firstOfFormats, target, feature));
    rows.push(row);
  }
  const names = firstOfFormats.map(({ name }) => name).join("; ");
  return `## Families that follow OpenAI's wire\n\nClients: ${names}.\n\n${table(rows)}`;
}

function clientText({ name, cannotAsk }: Client): string {
  return cannotAsk.length === 0 ? name : `${name} (which cannot send: ${cannotAsk.join(", ")})`;
}

/** What all clients of a format found of a feature; both forms where they differ. */
async function cellText(matrix: Matrix, own: readonly Client[], target: Target, feature: Feature): Promise<string> {
  const found: string[] = [];
  for (const isStream of [false, true]) {
    const asking = own.filter(({ cannotAsk }) => !cannotAsk.includes(feature.name));
    const cells = asking.map((client): Cell => ({ client, target, feature, isStream }));
    const verdicts = await Promise.all(cells.map((cell) => verdictOf(matrix, cell)));
    found.push([...new Set(verdicts)].join(" or "));
  }
  const [whole = "", streamed = ""] = found;
  return whole === streamed ? whole : `${whole}; streamed: ${streamed}`;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(" | ")} |`);
  lines.splice(1, 0, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`);
  return `${lines.join("\n")}\n`;
}

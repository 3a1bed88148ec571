/** The part of docs/members.md that is made from the tables of the wires. */
import { existsSync, readdirSync } from "node:fs";
import type { MemberRule, MemberTable } from "../../src/wire/request/members.js";
import type { ToolRule } from "../../src/wire/request/hosted-tools.js";

/** What stands before it is written by hand. */
export const MARK =
  "<!-- Generated from the tables in src/wire: TOLLGATE_WRITE_DOCS=1 npx vitest run test/wire/request/members-page.test.ts -->\n";

const WIRES = new URL("../../src/wire/", import.meta.url);

interface Tables {
  readonly MEMBERS: MemberTable;
  readonly TOOLS?: ReadonlyMap<string, ToolRule>;
  readonly BOUNDED?: ReadonlySet<string>;
}

/** How the page calls the kinds that need no more words. */
const KINDS = { owned: "managed", plain: "passed", route: "obeyed by the gateway", refused: "refused" } as const;

/** One section for each wire that has a table, by name. */
export async function membersSections(): Promise<string> {
  const sections: string[] = [];
  for (const entry of readdirSync(WIRES, { withFileTypes: true })) {
    // Folders without an index hold what wires share.
    if (!existsSync(new URL(`${entry.name}/index.ts`, WIRES))) continue;
    const path = new URL(`${entry.name}/request/members.ts`, WIRES);
    const tables = await import(path.href).then(
      (found: Tables) => found,
      () => undefined,
    );
    if (tables !== undefined) sections.push(sectionOf(entry.name, tables));
  }
  return sections.join("\n");
}

function sectionOf(wire: string, { MEMBERS, TOOLS, BOUNDED }: Tables): string {
  const rows = [...kindsOf(MEMBERS.rules, "")].map(([kind, names]) => `| ${kind} | ${names.join(", ")} |`);
  for (const [header, values] of MEMBERS.headers) rows.push(`| passed values of \`${header}\` | ${quoted(values)} |`);
  for (const [kind, names] of toolKinds(TOOLS ?? new Map())) rows.push(`| ${kind} | ${names.join(", ")} |`);
  if (BOUNDED !== undefined)
    rows.push(`| tools whose number of calls the gateway can limit on this wire | ${quoted(BOUNDED)} |`);
  return [`## ${wire}`, "", "| kind | names |", "|---|---|", ...rows, ""].join("\n");
}

function kindsOf(rules: ReadonlyMap<string, MemberRule>, path: string): Map<string, string[]> {
  const kinds = new Map<string, string[]>();
  const add = (kind: string, name: string): void => {
    kinds.set(kind, [...(kinds.get(kind) ?? []), name]);
  };
  for (const [name, rule] of rules) {
    const shown = `\`${path}${name}\``;
    if (rule.kind === "tool") add("priced as a tool", `${shown} (\`${rule.tool}\`)`);
    else if (rule.kind === "tier") add("priced as a service tier", shown);
    else if (rule.kind === "earlierTurns") add("refused: state on the server", shown);
    else if (rule.kind === "container") add("passed if it is a container of the same account", shown);
    else if (rule.kind === "object") {
      for (const [kind, names] of kindsOf(rule.members.rules, `${path}${name}.`))
        for (const inner of names) add(kind, inner);
    } else add(KINDS[rule.kind], shown);
  }
  return kinds;
}

function toolKinds(tools: ReadonlyMap<string, ToolRule>): Map<string, string[]> {
  const kinds = new Map<string, string[]>();
  for (const [name, rule] of tools) {
    const kind = {
      client: "client tools",
      free: "free hosted tools",
      priced: "priced hosted tools",
      refused: "refused hosted tools",
    };
    const shown = rule.kind === "priced" ? `\`${name}\` (\`${rule.name}\`)` : `\`${name}\``;
    kinds.set(kind[rule.kind], [...(kinds.get(kind[rule.kind]) ?? []), shown]);
  }
  return kinds;
}

function quoted(names: Iterable<string>): string {
  return [...names].map((name) => `\`${name}\``).join(", ");
}

/** The part of docs/cli.md that the commands themselves tell. */
import type { Command, Option } from "commander";

const BEGIN = "<!-- commands: npm run docs:cli -->";
const END = "<!-- end of commands -->";
/** Options that each command which talks to a gateway has, told once. */
const CONNECTION = new Set(["--gateway", "--key", "--json"]);

/** The page with its part made anew. Throws where the page lacks the place. */
export function commandsPage(
  page: string,
  commands: readonly { readonly path: string; readonly command: Command }[],
): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/cli.md lacks ${BEGIN}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${commands.map(sectionOf).join("\n\n")}\n\n${page.slice(end)}`;
}

function sectionOf({ path, command }: { readonly path: string; readonly command: Command }): string {
  const named = command.registeredArguments.map((argument) => [argumentOf(argument), argument.description]);
  const usage = ["tollgate", path, ...named.map(([name]) => name)].join(" ");
  const options = command.options.filter(({ long, hidden }) => !CONNECTION.has(long ?? "") && !hidden);
  const rows = [...named, ...options.map((option) => [option.flags, optionText(option)])];
  const table = rows.map(([name = "", what = ""]) => `| \`${escaped(name)}\` | ${escaped(what)} |`);
  const lines = [`### \`${usage}\``, "", `${sentence(command.description())}`];
  if (rows.length > 0) lines.push("", "| | |", "|---|---|", ...table);
  return lines.join("\n");
}

/** What an option is for, and what holds without it. */
function optionText({ description, mandatory, defaultValue, defaultValueDescription }: Option): string {
  if (mandatory) return `${description}; required`;
  const isSaid = typeof defaultValue === "string" || typeof defaultValue === "number";
  if (!isSaid || defaultValue === "") return description;
  return `${description} (default: ${defaultValueDescription ?? defaultValue})`;
}

function argumentOf(argument: { name(): string; required: boolean; variadic: boolean }): string {
  const name = argument.name() + (argument.variadic ? "..." : "");
  return argument.required ? `<${name}>` : `[${name}]`;
}

function escaped(text: string): string {
  return text.replaceAll("|", String.raw`\|`);
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return begun.endsWith(".") ? begun : `${begun}.`;
}

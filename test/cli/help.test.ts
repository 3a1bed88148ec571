/** Each command says what it is for, what each option does, and is known to the shell's completion and to the page. */
import { readFileSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { buildProgram } from "../../src/cli/program.js";
import { commandsPage } from "../support/commands-page.js";
import { tollgate } from "../support/command.js";

const PAGE = "docs/cli.md";

/** Each command with the words that call it; groups are left out. */
function commandsOf(command: Command, path: readonly string[] = []): { path: string; command: Command }[] {
  const below = command.commands.filter((one) => one.name() !== "help");
  if (below.length === 0) return [{ path: path.join(" "), command }];
  return below.flatMap((one) => commandsOf(one, [...path, one.name()]));
}

const COMMANDS = commandsOf(buildProgram());

test.each(COMMANDS)("tollgate $path has a whole help that fits a terminal", ({ path, command }) => {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  expect(help).toContain(`Usage: tollgate ${path}`);
  expect(command.description()).not.toBe("");
  for (const { long, description } of command.options) expect([long, description]).not.toEqual([long, ""]);
  for (const argument of command.registeredArguments) expect(argument.description).not.toBe("");
  for (const line of help.split("\n")) expect(line.length, line).toBeLessThanOrEqual(100);
});

test("the shell completes every command", async () => {
  const { stdout } = await tollgate(["completion", "bash"]);
  for (const { path } of COMMANDS) expect(stdout).toContain(`    "${path}") words="`);
});

test("docs/cli.md lists every command with its options", () => {
  const text = readFileSync(PAGE, "utf8");
  const page = commandsPage(text, COMMANDS);
  if (process.env["TOLLGATE_CLI_PAGE"] === "write") writeFileSync(PAGE, page);
  else expect(text, "run npm run docs:cli").toBe(page);
});

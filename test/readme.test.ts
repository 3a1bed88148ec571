/** The map of the source in docs/architecture.md is complete and true, and the README is short and leads somewhere. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const README = readFileSync("README.md", "utf8");
const ARCHITECTURE = readFileSync("docs/architecture.md", "utf8");
const MAP_HEADING = "## Where things are";
const [, map = ""] = new RegExp(`^${MAP_HEADING}\n([^]*?)^## `, "m").exec(ARCHITECTURE) ?? [];
const named = new Set([...map.matchAll(/`((?:src|console)\/[^`]*)`/g)].map(([, path]) => path ?? ""));

test("every folder and file at the top of the source is named", () => {
  const entries = readdirSync("src", { withFileTypes: true });
  const paths = entries.map((entry) => `src/${entry.name}${entry.isDirectory() ? "/" : ""}`);
  expect(paths.filter((path) => ![...named].some((name) => name.startsWith(path)))).toEqual([]);
});

test("everything that is named is there", () => {
  expect([...named].filter((path) => !existsSync(path))).toEqual([]);
  const linked = [...README.matchAll(/\]\(((?:docs|src)\/[^)#]+)\)/g)].map(([, path]) => path ?? "");
  expect(linked.filter((path) => !existsSync(path))).toEqual([]);
  expect(linked.length).toBeGreaterThan(5);
});

test("the README is for a reader of one minute, and has the two commands on lines of their own", () => {
  const lines = README.trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(100);
  expect(lines.filter((line) => /^ {4}npm (?:start|test)$/.test(line)).map((line) => line.trim())).toEqual([
    "npm start",
    "npm test",
  ]);
});

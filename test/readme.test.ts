/** The README's map of the source names every folder and file at its top, and nothing that is not there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const README = readFileSync("README.md", "utf8");
const map = README.slice(README.indexOf("## Where things are"), README.indexOf("**Add a model family**"));
const named = new Set([...map.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path ?? ""));

test("every folder and file at the top of the source is named", () => {
  const entries = readdirSync("src", { withFileTypes: true });
  const paths = entries.map((entry) => `src/${entry.name}${entry.isDirectory() ? "/" : ""}`);
  expect(paths.filter((path) => !named.has(path))).toEqual([]);
});

test("everything that is named is there", () => {
  expect([...named].filter((path) => !existsSync(path))).toEqual([]);
  const linked = [...README.matchAll(/\]\(((?:docs|src)\/[^)#]+)\)/g)].map(([, path]) => path ?? "");
  expect(linked.filter((path) => !existsSync(path))).toEqual([]);
  expect(linked.length).toBeGreaterThan(5);
});

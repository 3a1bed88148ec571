/** What pages say can be followed: links lead somewhere, and commands, scripts and variables exist. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { variables } from "../../src/config/variables.js";
import { decisionsIndex, docsIndex, llmsText, pages, subjectOf } from "../support/page-index.js";
import { expectMade } from "../support/reference-page.js";

const text = new Map(pages().map((page) => [page, readFileSync(page, "utf8")]));
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync("package.json", "utf8")));

test("docs/README.md, docs/decisions/README.md and llms.txt list every page", () => {
  expectMade("docs/README.md", docsIndex());
  expectMade("docs/decisions/README.md", decisionsIndex());
  expectMade("llms.txt", llmsText());
});

test("every decision record names its subject and has every section, in at most 60 lines", () => {
  const records = pages().filter((page) => /^docs\/decisions\/0[4-9]\d\d-/.test(page));
  const sections = ["Context", "Decision", "Options rejected", "Consequences"];
  const wrong = records.filter((page) => {
    const source = text.get(page) ?? "";
    const found = [...source.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    const isWhole = /^- Status: \S/m.test(source) && found.join() === sections.join();
    return !isWhole || subjectOf(page) === undefined || source.split("\n").length > 61;
  });
  expect(wrong).toEqual([]);
});

test("every note of a decision begins with its number, which no other has", () => {
  const notes = pages().filter((page) => /^docs\/decisions\/\d/.test(page));
  const numbers = notes.map((page) => page.slice("docs/decisions/".length, "docs/decisions/".length + 4));
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
  expect(
    notes.filter(
      (page) =>
        !new RegExp(`^# ${page.slice("docs/decisions/".length, "docs/decisions/".length + 4)}\\b`).test(
          text.get(page) ?? "",
        ),
    ),
  ).toEqual([]);
});

/** A heading's anchor, as forges make it. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...(text.get(page) ?? "").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((one) =>
      one
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .trim()
        .replaceAll(" ", "-"),
    ),
  );
}

/** What cannot be followed from a page. Links to other places are not asked. */
function deadLinks(page: string, source: string): string[] {
  const prose = source.replaceAll(/^( *)```[^]*?^ *```/gm, "");
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)].map(
    ([, link, other]) => link ?? other ?? "",
  );
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    if (!existsSync(target)) return true;
    if (anchor === undefined || !target.endsWith(".md")) return false;
    return !anchorsOf(target).has(anchor);
  });
}

describe("links", () => {
  test("lead somewhere, on every page and in llms.txt", () => {
    const all = [...text, ["llms.txt", readFileSync("llms.txt", "utf8")] as const];
    expect(all.flatMap(([page, source]) => deadLinks(page, source).map((link) => `${page}: ${link}`))).toEqual([]);
    expect(all.length).toBeGreaterThan(50);
  });

  test.each(["[x](docs/none.md)", "[x](README.md#none)", "[x](#none)", '<img src="docs/none.svg">'])(
    "%s is found",
    (link) => {
      expect(deadLinks("README.md", link)).toHaveLength(1);
    },
  );

  test("every page of docs is reached from the README", () => {
    const reached = new Set<string>();
    const waiting = ["README.md"];
    for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
      if (reached.has(page)) continue;
      reached.add(page);
      for (const [, link = ""] of (text.get(page) ?? "").matchAll(/\]\(([^)#\s:]+\.md)/g))
        waiting.push(normalize(join(dirname(page), link)));
    }
    expect(pages().filter((page) => page.startsWith("docs/") && !reached.has(page))).toEqual([]);
  });
});

/** Everything that looks like a command on a page: lines of blocks, and code within sentences. */
function commandsOn(source: string): string[] {
  const blocks = [...source.matchAll(/^ *```(?:sh|bash|console)?\n([^]*?)^ *```|(?:^ {4}\S.*\n)+/gm)].flatMap(
    ([whole]) => whole.split("\n"),
  );
  const inline = [...source.replaceAll(/^ *```[^]*?^ *```/gm, "").matchAll(/`([^`\n]+)`/g)].map(
    ([, code = ""]) => code,
  );
  return [...blocks, ...inline].map((line) => line.trim());
}

const commands = [...text]
  .filter(([page]) => page !== "CHANGELOG.md")
  .flatMap(([page, source]) => commandsOn(source).map((command) => ({ page, command })));

test("npm scripts that pages name exist", () => {
  const named = commands.flatMap(({ page, command }) =>
    [...command.matchAll(/\bnpm run (?:-s )?([a-z][a-z:-]*)/g)].map(([, name = ""]) => ({ page, name })),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ name }) => !(name in scripts))).toEqual([]);
});

/** Each command's path and what may follow it, as its completion tells a shell. */
function grammar(): ReadonlyMap<string, readonly string[]> {
  const { stdout, status } = spawnSync(process.execPath, ["dist/program/main.js", "completion", "bash"], {
    encoding: "utf8",
  });
  expect(status).toBe(0);
  return new Map(
    [...stdout.matchAll(/^ *"([^"]*)"\) words="([^"]*)"/gm)].map(([, path = "", words = ""]) => [
      path,
      words.split(" "),
    ]),
  );
}

test("commands of tollgate that pages name exist, with their options", () => {
  const known = grammar();
  const wrong = commands.flatMap(({ page, command }) =>
    [
      ...command.matchAll(
        /(?:^|npx |&& |\| |\$ )tollgate ((?:[a-z][a-z-]*|--?[a-z][a-z-]*|[^\s|&;#]+)(?: [^|&;#]*)?)/g,
      ),
    ].flatMap(([, rest = ""]) => {
      const words = rest.trim().split(/\s+/);
      let path = "";
      for (const word of words) {
        const next = path === "" ? word : `${path} ${word}`;
        if (!known.has(next)) break;
        path = next;
      }
      const choices = known.get(path) ?? [];
      const subcommands = choices.filter((word) => !word.startsWith("-") && word !== "");
      const following = words[path === "" ? 0 : path.split(" ").length];
      const isUnknown = subcommands.length > 0 && following !== undefined && /^[a-z][a-z-]*$/.test(following);
      const options = words.map((word) => /^--[a-z][a-z-]*/.exec(word)?.[0]).filter((option) => option !== undefined);
      const odd = options.filter((option) => !choices.includes(option));
      return isUnknown || odd.length > 0 ? [`${page}: tollgate ${rest}`] : [];
    }),
  );
  expect(known.size).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
});

test("variables that pages name are read somewhere", () => {
  const read = new Set(variables().map(({ name }) => name));
  const folders = ["src", "test", ".ci"];
  const sources = folders
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)))
    .filter((path) => /\.(ts|mjs|py|go)$/.test(path) && statSync(path).isFile());
  for (const path of [...sources, "package.json"])
    for (const [name] of readFileSync(path, "utf8").matchAll(/\bTOLLGATE_[A-Z_]+\b/g)) read.add(name);
  const named = [...text].flatMap(([page, source]) =>
    [...source.matchAll(/\bTOLLGATE_[A-Z_]*[A-Z]\b(?!_)/g)].map(([name]) => ({ page, name })),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ name }) => !read.has(name))).toEqual([]);
});

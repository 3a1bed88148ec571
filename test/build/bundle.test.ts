/** What a start loads: the files of the bundle, and of node_modules nothing but what cannot be put into it. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { isAscii } from "node:buffer";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const PROGRAM = "dist/program";
/** Static imports, which are loaded before the first line runs. */
const IMPORTS = /^(?:import|export)\b[^;"]*?\bfrom "([^"]+)";|^import "([^"]+)";/gm;

/** The packages that an entry loads before it runs, and what it loads of the bundle. */
function loadedBy(entries: readonly string[]): { readonly packages: readonly string[]; readonly files: number } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [...entries];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const [, from, alone] of readFileSync(join(PROGRAM, file), "utf8").matchAll(IMPORTS)) {
      const name = from ?? alone ?? "";
      if (name.startsWith("./")) waiting.push(name.slice(2));
      else if (!isBuiltin(name)) packages.add(name);
    }
  }
  return { packages: [...packages].toSorted(), files: files.size };
}

/** The chunk that serves: the one that the command loads for `serve`. */
const serving = readdirSync(PROGRAM).filter((name) => /^main-[^/]+\.js$/.test(name));

describe("a start loads no package that a gateway on its own disk does not use", () => {
  test.each([
    { name: "the gateway", entries: ["main.js", ...serving] },
    { name: "the database's thread", entries: ["database-thread.js"] },
    { name: "the thread of records", entries: ["record-thread.js"] },
  ])("$name: the embedded database alone", ({ entries }) => {
    expect(serving).toHaveLength(1);
    expect(loadedBy(entries).packages).toEqual(["@photostructure/sqlite"]);
  });

  test("reading-thread.js: nothing", () => {
    expect(loadedBy(["reading-thread.js"]).packages).toEqual([]);
  });
});

describe("a start makes Node load no undici of its own", () => {
  const sources = readdirSync(PROGRAM).filter((name) => name.endsWith(".js"));

  test("by an import of one of its modules, which reads every name that this has", () => {
    const imported = /^(?:import|export)\b[^;"]*?"node:[^"]*";/m;
    expect(sources.filter((name) => imported.test(readFileSync(join(PROGRAM, name), "utf8")))).toEqual([]);
    expect(readFileSync(join(PROGRAM, serving[0] ?? ""), "utf8")).toContain('process.getBuiltinModule("node:http")');
  });

  test("by asking for what it gives to all", () => {
    const asked =
      /(?<!")\bglobalThis\.(?:fetch|FormData|Headers|Request|Response|MessageEvent|WebSocket|EventSource)\b(?! =)/;
    expect(sources.filter((name) => asked.test(readFileSync(join(PROGRAM, name), "utf8")))).toEqual([]);
  });
});

/** Names each package that the bundle holds. */
const licences = readdirSync(PROGRAM)
  .filter((name) => /^licenses.*\.md$/.test(name))
  .map((name) => readFileSync(join(PROGRAM, name), "utf8"))
  .join("\n");

test("the licences of what is in the bundle lie beside it", () => {
  for (const name of ["fastify", "@grpc/grpc-js", "undici", "zod", "pino"]) expect(licences).toContain(`## ${name} `);
});

test("what packages ask for where nothing of ours leads stays out of it", () => {
  // Compilers of schemas, which no route has; requests without a network; files of protocols, read while it runs.
  for (const name of ["ajv", "fast-json-stringify-compiler", "light-my-request", "protobufjs"])
    expect(licences).not.toMatch(new RegExp(`^## (?:@[\\w-]+/)?${name} `, "m"));
});

test("no file has a letter that makes V8 keep two bytes for each of its source", () => {
  const files = readdirSync(PROGRAM).filter((name) => name.endsWith(".js"));
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((name) => !isAscii(readFileSync(join(PROGRAM, name))))).toEqual([]);
});

test("the command runs from the bundle, wherever it is started", () => {
  const { stdout } = spawnSync(process.execPath, [join(process.cwd(), PROGRAM, "main.js"), "--version"], {
    cwd: "/",
    encoding: "utf8",
  });
  expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
});

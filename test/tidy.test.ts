/** The tree stays as the design draws it: who imports whom, how long things are, and what they are called. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { deadExports } from "./support/dead-exports.js";
import { undocumented } from "./support/documented.js";
import { circlesOfFiles, circlesOfFolders } from "./support/import-circles.js";
import {
  ENTRIES,
  familiesOf,
  forbiddenImports,
  IMPORTS,
  importsAmong,
  unreached,
  wiresOf,
} from "./support/import-table.js";
import { edgesInTable } from "./support/refusal-table.js";
import { parseSource, readSources } from "./support/source-file.js";
import * as rules from "./support/tidiness.js";
import { ungrammatical } from "./support/wire-grammar.js";
import { APART } from "../vitest.config.js";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const program = [...readSources(ROOT, "src"), ...readSources(ROOT, "console")];
const tests = readSources(ROOT, "test");
const scripts = readSources(ROOT, ".ci");
const all = [...program, ...tests, ...scripts];
const ASKS_ITS_PROCESS = /process\.(?:memoryUsage|cpuUsage|resourceUsage)\b/;

describe("every file", () => {
  test.each([
    { rule: "has at most 400 lines", check: rules.fileLength, files: all },
    { rule: "has lines of at most 120 characters", check: rules.lineLength, files: all },
    { rule: "is named by a kebab-case noun", check: rules.fileName, files: all },
    { rule: "opens with a sentence that says what it is", check: rules.openingSentence, files: all },
    { rule: "has no default export", check: rules.noDefaultExport, files: all },
    { rule: "leaves no loose end", check: rules.noLooseEnds, files: all },
    { rule: "says no `any`", check: rules.noAny, files: all },
    { rule: "of the program takes room for a cache as it fills", check: rules.roomAsItFills, files: program },
    { rule: "of the program has functions of at most 70 lines", check: rules.functionLength, files: program },
    { rule: "of the program keeps to the vocabulary", check: rules.vocabulary, files: program },
    { rule: "of the program imports only what its folder may", check: forbiddenImports, files: program },
  ])("$rule", ({ check, files }) => {
    expect(files.flatMap(check)).toEqual([]);
  });

  test("of the program is reached from where a process begins", () => {
    expect(unreached(program)).toEqual([]);
  });
});

test("what a file offers somebody takes, and the program more than its tests", () => {
  expect(deadExports(program, [...tests, ...scripts])).toEqual([
    // What tests alone ask for: all of something, and parts of the program without a process around them.
    "src/api/methods.ts: tests alone use serviceMethods",
    "src/base/failpoint.ts: tests alone use armFailpoints",
    "src/keys/key-settings.ts: tests alone use SETTING_NAMES",
    "src/store/sqlite/store.ts: tests alone use openSqliteStore",
  ]);
});

describe("circles of imports", () => {
  test("are none among files, nor among folders", () => {
    expect(circlesOfFiles(program)).toEqual([]);
    expect(circlesOfFolders(program)).toEqual([]);
  });

  test("of types alone are none among folders but those that share their forms", () => {
    expect(circlesOfFolders(program, "imports")).toEqual([
      // A driver runs the ledger's state machine, and the ledger runs over a store: decision 0400.
      ["src/ledger/", "src/store/"],
    ]);
  });
});

describe("families and wires", () => {
  test("no family imports another", () => {
    expect(familiesOf(program).length).toBeGreaterThan(1);
    expect(importsAmong(familiesOf(program), program)).toEqual([]);
  });

  test("no wire imports another", () => {
    expect(wiresOf(program)).toContain("src/wire/openai-chat/");
    expect(importsAmong(wiresOf(program), program)).toEqual([]);
  });

  test("every wire has the same files, by the same names", () => {
    expect(ungrammatical(program.map(({ path }) => path))).toEqual([]);
  });
});

test("the table of refusals knows no edge and no wire", () => {
  expect(program.flatMap(edgesInTable)).toEqual([]);
});

test.each([
  { name: "a wire's word", text: 'const x = { http: 400, say: "invalid_request_error" };', want: 1 },
  { name: "a word of a wire that the reason has otherwise", text: 'const x = ["invalid_api_key"];', want: 1 },
  { name: "a status of gRPC", text: 'const x = "UNAVAILABLE";', want: 1 },
  { name: "a library of an edge", text: 'import type { status } from "@grpc/grpc-js";', want: 1 },
  { name: "a column of a wire", text: "const x = { http: 400, type: TYPE };", want: 1 },
  { name: "what all share", text: 'const x = { http: 400, retry: false, say: () => "Wrong." };', want: 0 },
])("in the table of refusals $name is found", ({ text, want }) => {
  expect(edgesInTable(parseSource("src/base/errors.ts", text))).toHaveLength(want);
});

test("server-sent events are written in one place, which keeps each on its lines", () => {
  const writers = program.filter(({ text }) => /[`"']data: |\\ndata: /.test(text)).map(({ path }) => path);
  expect(writers).toEqual(["src/wire/events/writer.ts"]);
});

test("the program leans on what documents promise", () => {
  expect(program.flatMap(undocumented)).toEqual([]);
});

test("random searches take their seed from one place", () => {
  const own = tests.filter(({ text }) => /^(import|\}) .*"fast-check"/m.test(text)).map(({ path }) => path);
  expect(own).toEqual(["test/support/seeds.ts"]);
});

test("a test file that asks what its process takes has one of its own", () => {
  // What another file used before it decides as well how much the allocator keeps, and what is collected when.
  const asking = tests.filter(({ path, text }) => path.endsWith(".test.ts") && ASKS_ITS_PROCESS.test(text));
  const isApart = (path: string): boolean =>
    APART.some(
      (glob) => path === glob || (glob.endsWith("/**/*.test.ts") && path.startsWith(glob.replace(/\*.*/, ""))),
    );
  expect(asking.length).toBeGreaterThan(2);
  expect(asking.map(({ path }) => path).filter((path) => !isApart(path))).toEqual([]);
});

test("the table names only what exists", () => {
  const named = [...Object.keys(IMPORTS), ...Object.values(IMPORTS).flat(), ...ENTRIES];
  expect(named.map((path) => path.replace(/^!/, "")).filter((path) => !existsSync(ROOT + path))).toEqual([]);
});

// A check that finds nothing proves something only where it would have found it.
describe("a breach is found:", () => {
  const lines = (count: number): string => "x;\n".repeat(count);
  test.each([
    { name: "a long file", check: rules.fileLength, text: lines(401), want: 1 },
    { name: "a file at its limit", check: rules.fileLength, text: lines(400), want: 0 },
    { name: "a long line", check: rules.lineLength, text: `const x = [${"1, ".repeat(40)}];`, want: 1 },
    { name: "a line of one text", check: rules.lineLength, text: `  "${"x".repeat(130)}",`, want: 0 },
    { name: "a long function", check: rules.functionLength, text: `function f() {\n${lines(69)}}`, want: 1 },
    { name: "a long method", check: rules.functionLength, text: `class A { f() {\n${lines(70)}} }`, want: 1 },
    { name: "a long arrow", check: rules.functionLength, text: `const f = () => {\n${lines(70)}};`, want: 1 },
    {
      name: "a commented function",
      check: rules.functionLength,
      text: `function f() {\n// a\n\n${lines(68)}}`,
      want: 0,
    },
    { name: "no opening", check: rules.openingSentence, text: "const x = 1;", want: 1 },
    { name: "an opening that is no sentence", check: rules.openingSentence, text: "/** stub */", want: 1 },
    { name: "an opening after #!", check: rules.openingSentence, text: "#!/usr/bin/env node\n/** A tool. */", want: 0 },
    { name: "a default export", check: rules.noDefaultExport, text: "export default 1;", want: 1 },
    { name: "a default function", check: rules.noDefaultExport, text: "export default function f() {}", want: 1 },
    { name: "any", check: rules.noAny, text: "const x: any = 1; // any of them", want: 1 },
    { name: "a loose end", check: rules.noLooseEnds, text: "f(); // TODO: later", want: 1 },
    { name: "a noted end", check: rules.noLooseEnds, text: "// TODO docs/decisions/0007-x.md\nf();", want: 0 },
    { name: "a cache made whole", check: rules.roomAsItFills, text: "new LRUCache<A, B>({ max: 9, ttl });", want: 1 },
    { name: "a cache that fills", check: rules.roomAsItFills, text: "new LRUCache(boundedTo(9));", want: 0 },
    { name: "a private name", check: rules.vocabulary, text: "class Rooms {}", want: 1 },
    { name: "a Manager", check: rules.vocabulary, text: "class KeyManager {}", want: 1 },
    { name: "a deep import", check: undocumented, text: 'import { x } from "undici/lib/core/connect.js";', want: 1 },
    { name: "a deep require", check: undocumented, text: 'const x = require("undici/lib/api.js");', want: 1 },
    {
      name: "an entry that a package offers",
      check: undocumented,
      text: 'import "gpt-tokenizer/encoding/x";',
      want: 0,
    },
    { name: "a replaced method", check: undocumented, text: "socket.write = () => true;", want: 1 },
    { name: "a replaced method of a kind", check: undocumented, text: "Socket.prototype.read = read;", want: 1 },
    { name: "methods laid over a socket", check: undocumented, text: "Object.assign(socket, { read });", want: 1 },
    { name: "a changed flag", check: undocumented, text: 'setFlagsFromString("--x");', want: 1 },
    { name: "a chunk by hand", check: undocumented, text: 'send(size.toString(16) + "\\r\\n");', want: 1 },
    { name: "an I-prefix", check: rules.vocabulary, text: "interface IKey {}", want: 1 },
  ])("$name", ({ check, text, want }) => {
    expect(check(parseSource("src/api/sample.ts", text))).toHaveLength(want);
  });

  test.each(["src/utils/x.ts", "src/http/helpers.ts", "src/http/bigName.ts", "src/api/types.ts"])("%s", (path) => {
    expect(rules.fileName(parseSource(path, ""))).toHaveLength(1);
  });

  test.each([
    { path: "src/http/a.ts", text: 'import { x } from "../ledger/ledger.js";' },
    { path: "src/http/a.ts", text: 'import type { X } from "../store/store.js";' },
    { path: "src/http/a.ts", text: 'const x = await import("../gateway/gateway.js");' },
    { path: "src/http/a.ts", text: 'export * from "../keys/caller.js";' },
    { path: "src/http/a.ts", text: 'let x: import("../keys/caller.js").Caller;' },
    { path: "src/store/a.ts", text: 'import { x } from "../ledger/ledger.js";' },
    { path: "src/elsewhere/a.ts", text: "" },
  ])("$path with $text", ({ path, text }) => {
    expect(forbiddenImports(parseSource(path, text))).toHaveLength(1);
  });

  test.each([
    { file: "wire/x/usage.ts", want: "src/wire/x/usage.ts belongs in answer/usage.ts" },
    { file: "wire/x/prompt-encode.ts", want: "src/wire/x/prompt-encode.ts belongs in request/encode-prompt.ts" },
    { file: "wire/x/answer/encode.ts", want: "src/wire/x/answer/encode.ts belongs in request/encode.ts" },
    {
      file: "wire/x/answer/read-steps.ts",
      want: "src/wire/x/answer/read-steps.ts stands without src/wire/x/answer/read.ts",
    },
    { file: "wire/x/y/request/scan-y.ts", want: "src/wire/x/y/request/scan-y.ts belongs in request/scan-y.ts" },
    {
      file: "wire/x-scan.ts",
      want: "src/wire/x-scan.ts belongs in request/, answer/ or events/, or in the folder of a wire",
    },
    {
      file: "wire/openai/chunks.ts",
      want: "src/wire/openai/chunks.ts belongs in request/, answer/ or events/, or in the folder of a wire",
    },
  ])("$file in the wires", ({ file, want }) => {
    const tree = [
      "wire/wire.ts",
      "wire/x/index.ts",
      "wire/x/facts.ts",
      "wire/x/request/scan.ts",
      "wire/openai/error.ts",
    ];
    expect(ungrammatical(tree.map((path) => `src/${path}`))).toEqual([]);
    expect(ungrammatical([...tree, file].map((path) => `src/${path}`))).toEqual([want]);
  });

  test("files and folders that need each other, and not those that name each other's types", () => {
    const tree = [
      parseSource("src/a/one.ts", 'import { two } from "./two.js"; import type { T } from "../b/three.js";'),
      parseSource("src/a/two.ts", 'import { type T, three } from "../b/three.js";'),
      parseSource("src/b/three.ts", 'export { one } from "../a/one.js";'),
      parseSource("src/c/four.ts", 'import { type F } from "./five.js";'),
      parseSource("src/c/five.ts", 'import "./four.js"; let x: import("../b/three.js").T;'),
    ];
    expect(circlesOfFiles(tree)).toEqual([["src/a/one.ts", "src/a/two.ts", "src/b/three.ts"]]);
    expect(circlesOfFolders(tree)).toEqual([["src/a/", "src/b/"]]);
    expect(circlesOfFiles(tree.slice(3))).toEqual([]);
    const named = [...tree, parseSource("src/b/six.ts", 'import type { F } from "../c/five.js";')];
    expect(circlesOfFolders(named.slice(3), "imports")).toEqual([["src/b/", "src/c/"]]);
  });

  test("what a file offers and nobody takes, nobody else, or tests alone", () => {
    const tree = [
      parseSource(
        "src/a/one.ts",
        `export const [taken, dead] = [1, 2]; export function own() { return own(); } export class Tested {}
         export interface Shape { x: Named } export type Named = 1; export type Unnamed = 2;`,
      ),
      parseSource("src/a/two.ts", 'import { taken as t, type Shape } from "./one.js"; export const later = 1;'),
      parseSource("src/a/three.ts", 'export { through } from "./four.js"; await import("./two.js");'),
      parseSource("src/a/four.ts", "export const through = 1;"),
      parseSource("src/a/five.ts", 'import * as all from "./six.js";'),
      parseSource("src/a/six.ts", "export const anything = 1;"),
    ];
    const tests = [parseSource("test/a.test.ts", 'import { Tested } from "../src/a/one.js";')];
    expect(deadExports(tree, tests)).toEqual([
      "src/a/one.ts: nobody uses dead",
      "src/a/one.ts: nobody else uses own",
      "src/a/one.ts: tests alone use Tested",
      "src/a/one.ts: nobody names Unnamed",
    ]);
  });

  test("a family that leans on another, a wire on another, and a file that nobody needs", () => {
    const tree = [
      parseSource("src/families/index.ts", 'import { a } from "./a.js"; import { b } from "./b/index.js";'),
      parseSource("src/families/a.ts", 'import { b } from "./b/dialect.js"; import { m } from "./model-list.js";'),
      parseSource("src/families/b/index.ts", 'import { d } from "./dialect.js";'),
      parseSource("src/families/b/dialect.ts", 'new Worker(new URL("./worker.js", import.meta.url));'),
      parseSource("src/families/b/worker.ts", ""),
      parseSource("src/families/model-list.ts", ""),
      parseSource("src/families/dead.ts", 'import "./a.js";'),
      parseSource("src/wire/one/index.ts", 'import { t } from "../two/scan.js"; import { j } from "../json/text.js";'),
      parseSource("src/wire/two/index.ts", ""),
      parseSource("src/wire/json/text.ts", ""),
    ];
    expect(importsAmong(familiesOf(tree), tree)).toEqual([
      "src/families/a.ts may not import src/families/b/dialect.ts",
    ]);
    expect(importsAmong(wiresOf(tree), tree)).toEqual(["src/wire/one/index.ts may not import src/wire/two/scan.ts"]);
    const dead = ["src/families/dead.ts", "src/wire/one/index.ts", "src/wire/two/index.ts", "src/wire/json/text.ts"];
    expect(unreached(tree, ["src/families/index.ts"])).toEqual(dead);
  });
});

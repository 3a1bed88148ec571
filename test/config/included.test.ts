/** A settings file that includes others: one set of settings, whose problems name the file that has them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { readSettingsFile } from "../../src/config/file.js";
import { FileStamp, textsOfFile } from "../../src/config/included.js";
import type { Settings } from "../../src/config/settings.js";
import { watchSettings } from "../../src/config/watch.js";

const base = mkdtempSync(join(tmpdir(), "tollgate-include-"));
afterAll(() => rmSync(base, { recursive: true }));

const PATIENT = { timeout: 60_000, interval: 5 };
let path: string;

beforeEach(() => {
  path = join(mkdtempSync(join(base, "case-")), "tollgate.yaml");
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(dirname(path), name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

const MAIN = "include: [conf.d/*.yaml]\nupstreams:\n  one: { family: sim }\n";
const model = (name: string, upstream: string): string =>
  `models:\n  ${name}: { targets: [{ upstream: ${upstream} }], price: free, output_tokens_max: 10 }\n`;
const read = () => readSettingsFile(path, {});
function problems(): readonly string[] {
  try {
    read();
  } catch (error) {
    return (error as { problems: readonly string[] }).problems;
  }
  return [];
}

test("blocks are joined by name, lists one after the other, in the order of the files' names", () => {
  write({
    "tollgate.yaml": `${MAIN}accounts: { acme: }\nkeys:\n  - { account: acme, secret: "sk-0000000000000001" }\n`,
    "conf.d/b.yaml": `${model("late", "two")}keys: [{ account: team, secret: "sk-0000000000000002" }]\n`,
    "conf.d/a.yaml": `upstreams: { two: { family: sim } }\naccounts: { team: { credit: 5 } }\n${model("early", "one")}`,
    "conf.d/notes.txt": "not: [yaml",
    "conf.d/.hidden.yaml": "not: [yaml",
  });
  const { settings, blocks } = read();
  expect(settings.upstreams.map(({ id }) => id)).toEqual(["one", "two"]);
  expect(settings.models.map(({ id }) => id)).toEqual(["early", "late"]);
  expect(settings.accounts.map(({ id }) => id)).toEqual(["acme", "team"]);
  expect(settings.keys.map(({ accountId }) => accountId)).toEqual(["acme", "team"]);
  const places = Object.fromEntries(blocks.map(({ kind, name, place }) => [`${kind}.${name}`, place]));
  expect(places).toMatchObject({
    "upstream.one": "tollgate.yaml:3",
    "upstream.two": join("conf.d", "a.yaml:1"),
    "model.late": join("conf.d", "b.yaml:2"),
  });
});

test.each([
  {
    name: "a wrong value",
    files: { "conf.d/a.yaml": model("m", "none") },
    want: /^conf.d\/a.yaml:2:\d+ models.m.targets\[0\].upstream: must name/,
  },
  {
    name: "a name twice",
    files: { "conf.d/a.yaml": "upstreams:\n  one: { family: sim }\n" },
    want: /^conf.d\/a.yaml:2:3 upstreams.one: is also in tollgate.yaml:3/,
  },
  {
    name: "a wrong key",
    files: {
      "conf.d/a.yaml":
        'accounts: { a: }\nkeys:\n  - { account: a, secret: "sk-0000000000000001" }\n  - { account: b, secret: "sk-0000000000000002" }\n',
    },
    want: /^conf.d\/a.yaml:4:\d+ keys\[1\].account: must name/,
  },
  { name: "no YAML", files: { "conf.d/a.yaml": "models: [" }, want: /^conf.d\/a.yaml:1:\d+ is not valid YAML/ },
  { name: "an empty file", files: { "conf.d/a.yaml": "\n" }, want: /^conf.d\/a.yaml:1:1 is empty/ },
  { name: "no blocks", files: { "conf.d/a.yaml": "- one\n" }, want: /^conf.d\/a.yaml:1:1 must be blocks/ },
  {
    name: "an include of its own",
    files: { "conf.d/a.yaml": "include: [b.yaml]\n" },
    want: /^conf.d\/a.yaml:1:1 include: may only stand/,
  },
  {
    name: "a list in the place of a block",
    files: { "conf.d/a.yaml": "upstreams: []\n" },
    want: /^conf.d\/a.yaml:1:1 upstreams: is also in tollgate.yaml:2/,
  },
  {
    name: "a missing file",
    files: { "tollgate.yaml": "include: [conf.d/gone.yaml]\n" },
    want: /^conf.d\/gone.yaml: cannot be read: there is no such file/,
  },
  {
    name: "a missing directory",
    files: { "tollgate.yaml": "include: [gone/*.yaml]\n" },
    want: /^tollgate.yaml: include: gone\/\*.yaml cannot be read: there is no such file/,
  },
  {
    name: "no list",
    files: { "tollgate.yaml": "include: conf.d/a.yaml\nupstreams: {}\n" },
    want: /^tollgate.yaml:1:\d+ include: must be a list of files/,
  },
])("$name is refused by its place", ({ files, want }) => {
  write({ "tollgate.yaml": MAIN, "conf.d/z.yaml": model("fine", "one"), ...files });
  expect(problems()).toEqual([expect.stringMatching(want)]);
});

test("problems of several files stand in the order of the files, and a directory without files includes none", () => {
  write({ "tollgate.yaml": `${MAIN}${model("bad", "gone")}`, "conf.d/a.yaml": "models: { m: { targets: [] } }" });
  expect(problems().map((line) => line.split(":")[0])).toEqual(["tollgate.yaml", join("conf.d", "a.yaml")]);
  write({ "tollgate.yaml": "include: [empty/*.yaml]\nupstreams: { one: { family: sim } }\n", "empty/x.txt": "" });
  expect(textsOfFile(path)).toHaveLength(1);
  expect(read().settings.upstreams).toHaveLength(1);
});

test("a pattern for the directory of the main file leaves that file out", () => {
  write({ "tollgate.yaml": MAIN.replace("conf.d/*.yaml", '"*.yaml"'), "more.yaml": model("m", "one") });
  expect(textsOfFile(path).map(({ name }) => name)).toEqual(["tollgate.yaml", "more.yaml"]);
  expect(read().settings.models).toHaveLength(1);
});

test("a change of any of the files changes the stamp and the version", () => {
  write({ "tollgate.yaml": MAIN, "conf.d/a.yaml": model("m", "one") });
  const stamp = new FileStamp(path);
  const seen = new Set<string>([stamp.read()]);
  const versions = new Set([read().version]);
  for (const files of [
    { "conf.d/a.yaml": model("other-m", "one") },
    { "conf.d/b.yaml": model("m", "one") },
    { "tollgate.yaml": `${MAIN}# said\n` },
  ]) {
    write(files);
    seen.add(stamp.read());
    versions.add(read().version);
  }
  rmSync(join(dirname(path), "conf.d", "b.yaml"));
  seen.add(stamp.read());
  expect(seen.size).toBe(5);
  expect(versions.size).toBe(4);
});

test("a changed included file comes into force, and so does a new one", async () => {
  write({ "tollgate.yaml": MAIN, "conf.d/a.yaml": model("first", "one") });
  const inForce: Settings[] = [];
  const watching = watchSettings({
    path,
    env: {},
    load: () => read().settings,
    onSettings: (settings) => void inForce.push(settings),
    onRefused: () => undefined,
    pollMs: 20,
    settleMs: 10,
  });
  const names = (): readonly string[] => inForce.at(-1)?.models.map(({ id }) => id) ?? [];
  try {
    write({ "conf.d/a.yaml": model("second", "one") });
    await vi.waitFor(() => expect(names()).toEqual(["second"]), PATIENT);
    write({ "conf.d/b.yaml": model("third", "one") });
    await vi.waitFor(() => expect(names()).toEqual(["second", "third"]), PATIENT);
  } finally {
    await watching.close();
  }
});

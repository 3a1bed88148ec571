/** The parts of the proof are what they say: their commands exist, and no file that they load is missing from them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { AGENTS } from "../agents/agent.js";
import { ONE_BACKEND } from "../backends/one-backend.mjs";
import { statefulTests } from "../backends/stateful.mjs";
import { testFiles, tiersOf } from "../support/tiers.mjs";
import { loadedBy } from "./loaded.mjs";
import { PARTS } from "./parts.mjs";
import { isTouched } from "./proofs.mjs";
import type { Part, Task } from "./runner.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SCRIPTS: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).scripts;
const FILE = /\btest\/[\w/.-]+\.test\.ts\b/g;

const smokes = PARTS.flatMap(({ name, smoke }) => (typeof smoke === "string" ? [] : [{ name, task: smoke }]));
const scriptOf = ({ command: [program, verb, script = ""] }: Task): string | undefined =>
  program === "npm" && verb === "run" ? script : undefined;

test("each has a name of its own, and a sentence", () => {
  expect(new Set(PARTS.map(({ name }) => name)).size).toBe(PARTS.length);
  for (const { about } of PARTS) expect(about).toMatch(/^[A-Z0-9].*\.$/);
});

test("their scripts and files exist", () => {
  const named = [...PARTS, ...smokes.map(({ task }) => task)];
  const scripts = named.map(scriptOf).filter((script) => script !== undefined);
  expect(scripts.filter((script) => !(script in SCRIPTS))).toEqual([]);
  const files = named.flatMap((task) => textOf(task).match(FILE) ?? []);
  const places = PARTS.flatMap(({ touches }) => touches.map((place) => place.replace(/^!/, "")));
  expect([...files, ...places].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("the agent of the smoke has tests: a filter that matches none runs nothing and fails nothing", () => {
  const { task } = smokes.find(({ name }) => name === "agents") ?? {};
  expect(AGENTS.map(({ name }) => name)).toContain(task?.command.at(-1));
  const filtered = smokes.filter(({ task: { command } }) => command.includes("-t"));
  expect(filtered.map(({ name }) => name)).toEqual(["agents"]);
});

test("a change of a file that a part's tests load makes its proof stale", () => {
  const { platform } = tiersOf(ROOT);
  const stateful = statefulTests(ROOT).chosen.filter((file) => !(file in ONE_BACKEND));
  const filesOf = (part: Part): readonly string[] => {
    if (part.name === "backends") return stateful;
    if (part.name.startsWith("node-")) return platform;
    const named = textOf(part);
    return testFiles(ROOT).filter((file) =>
      named.split(/\s+/).some((word) => word.startsWith("test/") && file.startsWith(word)),
    );
  };
  const loaded = PARTS.map((part) => ({ ...part, files: loadedBy(ROOT, filesOf(part)) }));
  const missed = loaded.flatMap(({ name, touches, files }) =>
    files.filter((path) => !isTouched(touches, path)).map((path) => `${name}: ${path}`),
  );
  expect(missed).toEqual([]);
  expect(loaded.filter(({ files }) => files.length > 0).length).toBeGreaterThan(12);
});

test("every file of the last tier is in a part", () => {
  const named = PARTS.map(textOf).join(" ");
  const isRun = (file: string): boolean =>
    named.includes(file) ||
    ["agents", "cluster", "frameworks", "kill-loop"].some((name) => file.startsWith(`test/${name}/`));
  const { prove } = tiersOf(ROOT);
  expect(prove.length).toBeGreaterThan(20);
  expect(prove.filter((file) => !isRun(file))).toEqual([]);
});

test("every search that has a long form runs in it", () => {
  const sweeping = testFiles(ROOT).filter((file) => loadedBy(ROOT, [file]).includes("test/support/sweep.ts"));
  const { command, env } = PARTS.find(({ name }) => name === "long-sweeps") ?? {};
  expect(env).toEqual({ TOLLGATE_SWEEP: "long" });
  expect(sweeping.length).toBeGreaterThan(10);
  // They have parts of their own, with more cases.
  const others = sweeping.filter((file) => !command?.includes(file));
  expect(others.filter((file) => !/^test\/(formatting|money|kill-loop|cluster)\//.test(file))).toEqual([]);
});

/** What a task runs, as text, with the npm script that it names. */
function textOf(task: Task): string {
  const script = scriptOf(task);
  return [...task.command, script === undefined ? "" : (SCRIPTS[script] ?? "")].join(" ");
}

/** `npm run prove` goes on where it stopped, knows what a change touched, and names what it could not run. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isTouched, PROOFS, readProofs } from "./proofs.mjs";
import { listParts, type Part, prove, smoke, type Task } from "./runner.mjs";

const RUNNER = new URL("runner.mjs", import.meta.url);
const NO_GIT = spawnSync("git", ["--version"]).status === 0 ? undefined : "(not run: there is no git)";
const IDENTITY = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];

let root = "";
let aside = "";
let said: string[] = [];
/** What each test has a copy of. */
const first = mkdtempSync(join(tmpdir(), "tollgate-prove-first-"));

beforeAll(() => {
  root = first;
  git("init", "-q");
  write(".gitignore", "dist\n.proofs.json\n");
  for (const path of ["src/a.ts", "src/b.ts", "docs/page.md"]) write(path, "first\n");
  commit();
});
afterAll(() => rmSync(first, { recursive: true }));

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tollgate-prove-"));
  aside = mkdtempSync(join(tmpdir(), "tollgate-prove-ran-"));
  said = [];
  cpSync(first, root, { recursive: true });
});
afterEach(() => [root, aside].forEach((path) => rmSync(path, { recursive: true, force: true })));

describe.skipIf(NO_GIT)(`a run of the parts ${NO_GIT ?? ""}`, () => {
  test("records one that fails, goes on, and next time runs what is not proven", async () => {
    const fails = toy("second", { command: sh("echo no >&2; exit 3") });
    expect(await proveParts([toy("first"), fails, toy("third")])).toBe(1);
    expect(ran()).toEqual(["first", "third"]);
    expect(said).toContain("\npart 3 of 3: third (since 0 min, 1 proven)");
    expect(readFileSync(join(root, "dist/proofs/second.log"), "utf8")).toBe("no\n");
    expect(tableSaid()).toEqual([
      expect.stringMatching(/^first +[0-9a-f]{8} +passed +\d+ +proven$/),
      expect.stringMatching(/^second +[0-9a-f]{8} +failed +\d+ +see dist\/proofs\/second.log$/),
      expect.stringMatching(/^third +[0-9a-f]{8} +passed +\d+ +proven$/),
    ]);
    expect(said.at(-1)).toBe("\n2 of 3 parts are proven, 1 failed, 0 could not run, 0 are stale or new.");
    expect(await proveParts([toy("first"), toy("second"), toy("third")])).toBe(0);
    expect(ran()).toEqual(["second"]);
    expect(await proveParts([toy("first"), toy("second"), toy("third")], true)).toBe(0);
    expect(ran()).toEqual(["first", "second", "third"]);
  });

  test("keeps the commit, whether the tree was dirty, the verdict and the time", async () => {
    write("docs/page.md", "second\n");
    await proveParts([toy("first")]);
    const head = git("rev-parse", "HEAD").trim();
    expect(readProofs(root).get("first")).toEqual({
      part: "first",
      commit: head,
      tree: expect.stringMatching(/^[0-9a-f]{40}$/),
      dirty: true,
      verdict: "passed",
      seconds: expect.any(Number),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      command: `sh -c echo first >> ${aside}/ran`,
    });
    expect(tableSaid()).toEqual([expect.stringContaining(`${head.slice(0, 8)}+`)]);
  });

  test("names what the machine lacks, counts it as not run, and installs what it can", async () => {
    const absent = { name: "a gate", probe: ["no-such-program"] };
    const installed = { name: "a tool", probe: ["test", "-e", `${aside}/tool`], install: ["touch", `${aside}/tool`] };
    const asked = { name: "a package", install: ["true"] };
    expect(await proveParts([toy("first", { needs: [absent, installed] }), toy("second", { needs: [asked] })])).toBe(0);
    expect(ran()).toEqual(["second"]);
    expect(tableSaid()[0]).toMatch(/^first +[0-9a-f]{8} +not run +0 +needs a gate$/);
    expect(said.at(-1)).toBe("\n1 of 2 parts are proven, 0 failed, 1 could not run, 0 are stale or new.");
    expect(existsSync(join(aside, "tool"))).toBe(true);
  });

  test("is not sure of a part whose files changed while it ran", async () => {
    const changing = toy("first", { command: sh("echo more >> src/a.ts") });
    expect(await proveParts([changing])).toBe(1);
    expect(tableSaid()[0]).toMatch(/^first .* unclear .* changed while it ran: src\/a.ts$/);
    const elsewhere = toy("first", { command: sh("echo more >> docs/page.md") });
    expect(await proveParts([elsewhere])).toBe(0);
  });

  test("ends with what it started when it is stopped, and keeps what was proven", async () => {
    const slow = toy("second", { command: sh(`echo $$ > ${aside}/pid; sleep 1000 & wait`) });
    write("dist/run.mjs", programOf([toy("first"), slow]));
    const child = spawn(process.execPath, ["dist/run.mjs"], { cwd: root, stdio: "ignore" });
    await expect.poll(() => existsSync(join(aside, "pid")) && readFileSync(join(aside, "pid"), "utf8")).toMatch(/\d\n/);
    const pid = Number(readFileSync(join(aside, "pid"), "utf8"));
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
    await expect.poll(() => isGroupThere(pid)).toBe(false);
    expect([...readProofs(root).values()].map(({ part, verdict }) => [part, verdict])).toEqual([["first", "passed"]]);
  });
});

describe.skipIf(NO_GIT)(`a proof ${NO_GIT ?? ""}`, () => {
  beforeEach(async () => {
    await proveParts([toy("first")]);
    ran();
  });

  test.each([
    { what: "nothing", change: () => {}, stale: "" },
    { what: "a commit of what it does not touch", change: () => commitOf("docs/page.md"), stale: "" },
    { what: "a commit of what it leaves out", change: () => commitOf("src/out/x.ts"), stale: "" },
    { what: "a commit of what it touches", change: () => commitOf("src/a.ts"), stale: "src/a.ts" },
    { what: "a change that is not committed", change: () => write("src/a.ts", "new\n"), stale: "src/a.ts" },
    { what: "a file that git does not know yet", change: () => write("src/c.ts", "new\n"), stale: "src/c.ts" },
    { what: "a file that is gone", change: () => rmSync(join(root, "src/b.ts")), stale: "src/b.ts" },
    {
      what: "many files",
      change: () => "abcde".split("").forEach((name) => write(`src/${name}.ts`, "new\n")),
      stale: "src/a.ts, src/b.ts, src/c.ts and 2 more",
    },
  ])("is as good after $what as it should be", async ({ change, stale }) => {
    change();
    listToy(toy("first"));
    expect(tableSaid()[0]).toMatch(new RegExp(`  ${stale === "" ? "proven" : `stale: ${stale}`}$`));
    expect(await proveParts([toy("first")])).toBe(0);
    expect(ran()).toEqual(stale === "" ? [] : ["first"]);
  });

  test("of a tree that is not committed counts for that tree, also when it is committed", async () => {
    write("src/a.ts", "new\n");
    await proveParts([toy("first")]);
    expect(ran()).toEqual(["first"]);
    commit();
    await proveParts([toy("first")]);
    expect(ran()).toEqual([]);
    write("src/a.ts", "newer\n");
    await proveParts([toy("first")]);
    expect(ran()).toEqual(["first"]);
  });

  test("is stale where the part's command changed, or the script that it names", () => {
    listToy(toy("first", { command: sh("exit 0") }));
    expect(tableSaid()[0]).toMatch(/ stale: its command changed$/);
  });

  test("of an npm script is stale where the script changed", async () => {
    const scripted = { ...toy("first", { command: ["npm", "run", "it"] }), touches: ["src/"] };
    write("package.json", JSON.stringify({ scripts: { it: "true" } }));
    expect(await proveParts([scripted])).toBe(0);
    write("package.json", JSON.stringify({ scripts: { it: "true", other: "false" } }));
    listToy(scripted);
    expect(tableSaid()[0]).toMatch(/ proven$/);
    write("package.json", JSON.stringify({ scripts: { it: "false" } }));
    listToy(scripted);
    expect(tableSaid()[0]).toMatch(/ stale: its command changed$/);
  });

  test("leaves the index of the user as it was", () => {
    write("src/a.ts", "new\n");
    write("src/c.ts", "new\n");
    listToy(toy("first"));
    expect(git("status", "--porcelain")).toBe(" M src/a.ts\n?? src/c.ts\n");
  });
});

describe("the smokes", () => {
  test("run all, are bounded, are no proof, and say what was not run", async () => {
    const hangs = sh(`echo $$ > ${aside}/pid; sleep 1000 & wait`);
    const parts = [
      toy("first", { smoke: { command: sh("exit 1") } }),
      toy("second", { smoke: { command: hangs } }),
      toy("third", { smoke: "npm test runs its small form" }),
      toy("fourth", { smoke: { command: sh("exit 0"), needs: [{ name: "a gate", probe: ["no-such-program"] }] } }),
      toy("fifth", {
        smoke: { command: sh(`test "$WORD" = said && echo fifth >> ${aside}/ran`), env: { WORD: "said" } },
      }),
    ];
    const run = { root, parts, say, signal: new AbortController().signal };
    expect(await smoke(run, { msMax: 500 })).toBe(1);
    expect(ran()).toEqual(["fifth"]);
    await expect.poll(() => isGroupThere(Number(readFileSync(join(aside, "pid"), "utf8")))).toBe(false);
    expect(tableSaid()).toEqual([
      expect.stringMatching(/^first +failed +\d+ +see dist\/proofs\/first.smoke.log$/),
      expect.stringMatching(/^second +failed +\d+ +ended after \d+ s$/),
      expect.stringMatching(/^third +npm test runs its small form$/),
      expect.stringMatching(/^fourth +not run +needs a gate$/),
      expect.stringMatching(/^fifth +passed +\d+$/),
    ]);
    expect(existsSync(join(root, PROOFS))).toBe(false);
    expect(await smoke({ ...run, parts: parts.slice(2) })).toBe(0);
  });
});

test.each([
  { path: "src/a.ts", is: true },
  { path: "src/out/a.ts", is: false },
  { path: "src", is: false },
  { path: "lock.json", is: true },
  { path: "lock.json.old", is: false },
])("$path is touched: $is", ({ path, is }) => {
  expect(isTouched(["src/", "!src/out/", "lock.json"], path)).toBe(is);
});

/** A part that writes its name when it runs. */
function toy(name: string, more: Partial<Task & Pick<Part, "smoke">> = {}): Part {
  const command = sh(`echo ${name} >> ${aside}/ran`);
  return { name, about: `What ${name} is about.`, command, touches: ["src/", "!src/out/"], smoke: "none", ...more };
}

function sh(script: string): readonly string[] {
  return ["sh", "-c", script];
}

/** The parts that ran since this was last asked. */
function ran(): readonly string[] {
  const path = join(aside, "ran");
  const names = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  rmSync(path, { force: true });
  return names;
}

function say(line: string): void {
  said.push(line);
}

/** The rows of the table that was printed last. */
function tableSaid(): readonly string[] {
  const table = said.findLast((text) => /^\n(part|smoke) /.test(text)) ?? "";
  return table.trim().split("\n").slice(2);
}

function proveParts(parts: readonly Part[], again = false): Promise<number> {
  return prove({ root, parts, say, signal: new AbortController().signal }, { again });
}

function listToy(part: Part): void {
  listParts({ root, parts: [part], say });
}

/** A program that proves parts until it is interrupted. */
function programOf(parts: readonly Part[]): string {
  return `import { prove } from ${JSON.stringify(RUNNER.href)};
const stop = new AbortController();
process.on("SIGINT", () => stop.abort());
const run = { root: ${JSON.stringify(root)}, parts: ${JSON.stringify(parts)}, say: () => {}, signal: stop.signal };
process.exitCode = await prove(run, { again: false });
`;
}

function isGroupThere(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function git(...args: string[]): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
  const own = { ...env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8", env: own });
  expect(status, stderr).toBe(0);
  return stdout;
}

function commit(): void {
  git("add", "--all");
  git(...IDENTITY, "commit", "-q", "-m", "x");
}

function commitOf(path: string): void {
  write(path, "new\n");
  commit();
}

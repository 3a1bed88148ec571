/** What makes a clone ready: it compiles what changed, once, and stops where that fails. */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

// Each test compiles, which takes as long as the machine needs for it.
vi.setConfig({ testTimeout: 600_000 });

const COMPILES = "prepare: step 2 of 3: compile (some 5 seconds); then: serve\n";
const clone = mkdtempSync(join(tmpdir(), "tollgate-clone-"));
afterAll(() => rmSync(clone, { recursive: true }));

/** A clone as small as can be, with the packages that were installed for this one. */
beforeAll(() => {
  write("package.json", '{ "type": "module" }');
  write("package-lock.json", "{}");
  write("src/cli/main.ts", program("first"));
  for (const thread of [
    "store/sqlite/worker",
    "reading/reading-worker",
    "records/record-worker",
    "serve/settings-worker",
  ])
    write(`src/${thread}.ts`, "export {};\n");
  write("gen/tollgate.binpb", "");
  for (const file of ["prepare.mjs", "bundle.mjs"]) {
    mkdirSync(join(clone, "src", "build"), { recursive: true });
    copyFileSync(join("src", "build", file), join(clone, "src", "build", file));
  }
  mkdirSync(join(clone, "node_modules", ".bin"), { recursive: true });
  for (const name of ["vite", "@photostructure", "node-gyp-build"])
    symlinkSync(resolve("node_modules", name), join(clone, "node_modules", name));
  write("node_modules/.package-lock.json", "{}");
});

test("compiles a fresh clone, makes the command, and then has nothing to do", () => {
  expect(prepare("start")).toEqual({ code: 0, stdout: COMPILES, stderr: "" });
  expect(command()).toBe("first\n");
  expect(prepare("start")).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("compiles again what changed, and leaves nothing of what is gone", () => {
  write("src/cli/main.ts", program("second"));
  write("dist/program/old.js", "");
  expect(prepare("start")).toEqual({ code: 0, stdout: COMPILES, stderr: "" });
  expect(command()).toBe("second\n");
  expect(existsSync(join(clone, "dist", "program", "old.js"))).toBe(false);
});

test("builds the console behind what it starts, and does not wait for it", async () => {
  const built = join(clone, "console-is-built");
  write(
    "console/build.mjs",
    `await new Promise((resolve) => setTimeout(resolve, 200)); (await import("node:fs")).writeFileSync("${built}", "");`,
  );
  expect(prepare("start").code).toBe(0);
  await expect.poll(() => existsSync(built)).toBe(true);
  rmSync(join(clone, "console"), { recursive: true });
});

test("stops where the sources cannot be compiled, each time until they are put right", () => {
  write("src/cli/main.ts", 'import { lost } from "./lost.js";\nlost();\n');
  for (let round = 0; round < 2; round++) {
    const { code, stderr } = prepare("start");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^prepare: the program cannot be compiled: [^]*\.\/lost\.js/m);
  }
  write("src/cli/main.ts", program("third"));
  expect(prepare("start").code).toBe(0);
  expect(command()).toBe("third\n");
});

describe.skipIf(process.getuid?.() !== 0)("tools, which root installs (not run: this is not root)", () => {
  const bin = mkdtempSync(join(tmpdir(), "tollgate-tools-"));
  const calls = join(bin, "calls");
  afterAll(() => rmSync(bin, { recursive: true }));
  const program = (name: string, text: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  /** No tool is there but the fakes. */
  const prepareAlone = (purpose: string): { code: number | null; stdout: string; said: string[] } => {
    rmSync(calls, { force: true });
    const found = prepare(purpose, { PATH: bin, TOLLGATE_TEST_DATABASE_URL: "", TOLLGATE_TEST_REDIS_URL: "" });
    return { ...found, said: existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [] };
  };

  beforeAll(() => {
    symlinkSync("/bin/sh", join(bin, "sh"));
    program("sleep", `echo "sleep $1" >> ${calls}`);
  });

  test("are asked for again where apt-get fails, and no more than twice", () => {
    program("apt-get", `[ "$1" = --version ] && exit 0\necho "$6" >> ${calls}\nexit 100`);
    const { code, stdout, said } = prepareAlone("test");
    expect(said).toEqual(["update", "sleep 5", "update", "sleep 20", "update"]);
    expect(code).toBe(0);
    expect(stdout).toContain("prepare: curl is missing, so tests that use it will not run; install curl to run them\n");
  });

  test.each([
    { purpose: "test", other: /protobuf|golang|jdk|python|prometheus|chromium/ },
    { purpose: "browser", other: /protobuf|golang|jdk|python|prometheus|nginx/ },
    { purpose: "prove", other: /never/ },
  ])("of $purpose are what its tests use", ({ purpose, other }) => {
    // The second attempt to install succeeds.
    program(
      "apt-get",
      `[ "$1" = --version ] && exit 0\necho "$*" >> ${calls}\n[ "$6" = update ] || [ -e ${bin}/again ]`,
    );
    program("sleep", `echo > ${bin}/again`);
    const { said } = prepareAlone(purpose);
    rmSync(join(bin, "again"));
    expect(said).toHaveLength(4);
    expect(said[3]).toBe(said[1]);
    expect(said[3]).not.toMatch(other);
    if (purpose === "prove") for (const one of ["nginx-light", "chromium", "golang-go"]) expect(said[3]).toContain(one);
  });
});

test("a failed install says what is missing on Debian, Alpine and macOS, and what is left is said before it", () => {
  write("package-lock.json", "{ }");
  write("npm.mjs", "process.exit(1);\n");
  const { code, stdout, stderr } = prepare("start", { npm_execpath: join(clone, "npm.mjs") });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^prepare: step 1 of 3: install the packages \(.*\); then: compile, serve\n$/);
  for (const remedy of [
    "Debian, Ubuntu:  apt-get install",
    "Alpine:          apk add",
    "macOS:           xcode-select",
  ])
    expect(stderr).toContain(remedy);
});

test("says how it is used", () => {
  expect(prepare("nothing")).toEqual({
    code: 1,
    stdout: "",
    stderr: "prepare: usage: node src/build/prepare.mjs start|test|browser|prove|release\n",
  });
});

function program(says: string): string {
  return `#!/usr/bin/env node\nconsole.log("${says}");\n`;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), text);
}

function prepare(
  purpose: string,
  env: NodeJS.ProcessEnv = {},
): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["src/build/prepare.mjs", purpose], {
    cwd: clone,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

function command(): string {
  return spawnSync(join(clone, "node_modules", ".bin", "tollgate"), { encoding: "utf8" }).stdout;
}

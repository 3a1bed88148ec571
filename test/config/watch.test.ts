/** Hot reload: the file in force changes whole or not at all. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { ConfigError } from "../../src/config/config-error.js";
import { readSettingsFile } from "../../src/config/file.js";
import type { Settings } from "../../src/config/settings.js";
import { type SettingsWatch, watchSettings } from "../../src/config/watch.js";
import { allowTimeToFail } from "../support/pauses.js";

const base = mkdtempSync(join(tmpdir(), "tollgate-watch-"));
afterAll(() => rmSync(base, { recursive: true }));

const PATIENT = { timeout: 60_000, interval: 5 };
let path: string;
let inForce: Settings[];
let refused: (readonly string[])[];
let watching: SettingsWatch | undefined;

beforeEach(() => {
  path = join(mkdtempSync(join(base, "case-")), "tollgate.yaml");
  writeFileSync(path, account("first"));
  [inForce, refused] = [[], []];
});
afterEach(() => watching?.close());

function start(onSettings: (settings: Settings) => void = () => undefined): void {
  watching = watchSettings({
    path,
    env: {},
    load: (file, env) => readSettingsFile(file, env).settings,
    onSettings: (settings) => {
      onSettings(settings);
      inForce.push(settings);
    },
    onRefused: (problems) => refused.push(problems),
    pollMs: 20,
    settleMs: 10,
  });
}

test("a changed file comes into force", async () => {
  start();
  writeFileSync(path, account("second"));
  await vi.waitFor(() => expect(names()).toEqual(["second"]), PATIENT);
  expect(refused).toEqual([]);
});

test("a file put in the old one's place comes into force, as editors do it", async () => {
  start();
  writeFileSync(`${path}.new`, account("second"));
  renameSync(`${path}.new`, path);
  await vi.waitFor(() => expect(names()).toEqual(["second"]), PATIENT);
});

test("a link that is swapped comes into force, as mounted settings do it", async () => {
  const directory = mkdtempSync(join(base, "mount-"));
  for (const version of ["one", "two"]) {
    mkdirSync(join(directory, version));
    writeFileSync(join(directory, version, "tollgate.yaml"), account(version));
  }
  symlinkSync("one", join(directory, "current"));
  path = join(directory, "current", "tollgate.yaml");
  start();
  symlinkSync("two", join(directory, "next"));
  renameSync(join(directory, "next"), join(directory, "current"));
  await vi.waitFor(() => expect(names()).toEqual(["two"]), PATIENT);
});

test("a wrong file is refused with its lines, and the next good one is taken", async () => {
  start();
  writeFileSync(path, "accounts:\n  Second: {}\n");
  await vi.waitFor(() => expect(refused).toHaveLength(1), PATIENT);
  expect(refused[0]).toEqual(["tollgate.yaml:2:3 accounts.Second: must be named by 1 to 64 of a-z, 0-9, _, . and -"]);
  expect(inForce).toEqual([]);
  writeFileSync(path, account("third"));
  await vi.waitFor(() => expect(names()).toEqual(["third"]), PATIENT);
  expect(refused).toHaveLength(1);
});

test("a file that is removed or emptied takes nothing away", async () => {
  start();
  rmSync(path);
  await vi.waitFor(() => expect(refused).toHaveLength(1), PATIENT);
  expect(refused[0]?.[0]).toBe("tollgate.yaml: cannot be read: there is no such file");
  writeFileSync(path, "");
  await vi.waitFor(() => expect(refused).toHaveLength(2), PATIENT);
  expect(refused[1]).toEqual(["tollgate.yaml:1:1 is empty; remove it to run without settings"]);
  expect(inForce).toEqual([]);
});

test("settings that cannot be put into force are refused too, and the watch goes on", async () => {
  start((settings) => {
    if (settings.accounts[0]?.id === "second") throw new ConfigError(["the model gpt-x has no price"]);
  });
  writeFileSync(path, account("second"));
  await vi.waitFor(() => expect(refused).toEqual([["the model gpt-x has no price"]]), PATIENT);
  writeFileSync(path, account("third"));
  await vi.waitFor(() => expect(names()).toEqual(["third"]), PATIENT);
});

test("a file written in many pieces is read once it is whole", async () => {
  start();
  const whole = Array.from({ length: 200 }, (_, index) => `  a${index}: {}\n`);
  writeFileSync(path, "accounts:\n");
  for (const line of whole) writeFileSync(path, line, { flag: "a" });
  await vi.waitFor(() => expect(inForce.at(-1)?.accounts).toHaveLength(200), PATIENT);
  expect(refused).toEqual([]);
});

test("after the close nothing is read", async () => {
  start();
  await watching?.close();
  writeFileSync(path, account("second"));
  await allowTimeToFail(100);
  expect(inForce).toEqual([]);
});

function account(id: string): string {
  return `accounts:\n  ${id}: {}\n`;
}

function names(): (string | undefined)[] {
  return inForce.map((settings) => settings.accounts[0]?.id);
}

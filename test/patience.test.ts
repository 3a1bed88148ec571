/** How long tests wait: at least ten times what is usual, so that none fails because other work runs beside it. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { PROJECTS } from "../vitest.config.js";
import { readSources } from "./support/source-file.js";

/** What is waited for comes within a second where nothing else runs, and within some five in the middle of a run. */
const WAIT_LEAST_MS = 60_000;
/** In the call, or in what a file gives to all of its calls. */
const SHORT_WAITS = [
  /\b(?:expect\.poll|vi\.waitFor|vi\.waitUntil|vi\.setConfig)\([^;]*?imeout: ?([\d_]+)/g,
  /\{ timeout: ([\d_]+), interval: /g,
];
const ROOT = fileURLToPath(new URL("../", import.meta.url));
const SELF = "test/patience.test.ts";
const sources = readSources(ROOT, "test").filter(({ path }) => path !== SELF);

test("what is polled for, and each test and hook, has its time by default", () => {
  expect(PROJECTS.length).toBeGreaterThan(1);
  for (const {
    testTimeout,
    hookTimeout,
    expect: { poll },
  } of PROJECTS) {
    expect(testTimeout).toBeGreaterThanOrEqual(WAIT_LEAST_MS);
    expect(hookTimeout).toBeGreaterThanOrEqual(WAIT_LEAST_MS);
    expect(poll.timeout).toBeGreaterThanOrEqual(WAIT_LEAST_MS);
  }
});

test("no wait of vitest's has less time than that", () => {
  const short = sources.flatMap(({ path, text }) =>
    SHORT_WAITS.flatMap((waits) => Array.from(text.matchAll(waits)))
      .filter(([, ms = ""]) => Number(ms.replaceAll("_", "")) < WAIT_LEAST_MS)
      .map(([found]) => `${path}: ${found}`),
  );
  expect(short).toEqual([]);
});

test("waits that have no default of the configuration name their time", () => {
  const bare = sources.flatMap(({ path }) =>
    readFileSync(ROOT + path, "utf8")
      .split("\n")
      .filter((line) => /\bvi\.wait(?:For|Until)\(.*\)\);$/.test(line) && !/(?:timeout: |, [A-Z_]+\);)/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(bare).toEqual([]);
});

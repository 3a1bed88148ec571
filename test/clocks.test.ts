/** The time of day is for dates alone: a clock that is set must neither end nor prolong anything that lasts. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Every place that reads the time of day, with the date that it makes of it. What lasts reads `performance.now`. */
const DATES: Readonly<Record<string, string>> = {
  "src/cli/account.ts": "part of an id",
  "src/cli/correction.ts": "part of an id",
  "src/families/bedrock/index.ts": "the date of a signature",
  "src/families/sim/index.ts": "when an answer was made",
  "src/families/vertex/index.ts": "a token's end as Google tells it, made a life at once",
  "src/observe/log.ts": "the time of a line",
  "src/rpc/remote-channel.ts": "a deadline as the gRPC library takes it, at the moment of the call",
  "src/rpc/server.ts": "a deadline as the gRPC library tells it, made a life at once",
  "src/serve/core.ts": "dates of rows, of keys' ends, of budgets, and of answers that are kept across starts",
  "src/serve/request-id.ts": "part of an id",
  "src/serve/settings-check.ts": "the date of the prices in force",
  "src/store/sqlite-file.ts": "when a loss was accepted",
};

test("every reader of the time of day is known, and makes a date of it", () => {
  const files = readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" });
  const readers = files
    .map((path) => `src/${path}`)
    .filter((path) => /\.(ts|mjs)$/.test(path) && !path.startsWith("src/console/"))
    .filter((path) => /\bDate\.now\b|new Date\(\)/.test(readFileSync(`${ROOT}${path}`, "utf8")));
  expect(readers.toSorted()).toEqual(Object.keys(DATES).toSorted());
});

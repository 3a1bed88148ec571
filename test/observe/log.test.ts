/** What is logged has no credential in it, whatever part of a line carries one, at every level. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createLog, type Log } from "../../src/observe/log.js";
import { protectSecrets } from "../../src/base/redaction.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

const SHAPED = "sk-A1b2C3d4E5f6G7h8";
const CONFIGURED = "correct horse battery staple";

const LEVELS = ["debug", "info", "warn", "error"] as const satisfies readonly (keyof Log)[];

test.each([SHAPED, CONFIGURED])("no line has the secret %s", async (secret) => {
  protectSecrets([CONFIGURED]);
  const file = `${temporaryDirectory()}.log`;
  const log = createLog("debug", file);
  const circle: { secret: string; itself?: object } = { secret };
  circle.itself = circle;
  for (const level of LEVELS) {
    log[level]({}, `in its message: ${secret}`);
    log[level]({ value: secret, [secret]: 1 }, "in a field, and as its name");
    log[level]({ deep: { list: [`in ${secret}`] } }, "deep in a field");
    log[level]({ err: new Error(`in an error: ${secret}`, { cause: new Error(secret) }) }, "in an error");
    log[level]({ circle }, "in what holds itself");
  }
  await expect
    .poll(() => {
      log.flush();
      return readFileSync(file, "utf8").trim().split("\n").length;
    })
    .toBe(5 * LEVELS.length);
  const text = readFileSync(file, "utf8");
  expect(text).not.toContain(secret);
  expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(5 * LEVELS.length);
});

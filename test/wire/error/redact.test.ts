/** What an upstream writes cannot make the redaction of its words slow. */
import { expect, test } from "vitest";
import { withoutSecrets } from "../../../src/base/redaction.js";
import { redacted } from "../../../src/wire/error/redact.js";

const CHARACTERS = 8_000;
/** Ordinary words take one; a pattern that begins anew at every character takes hundreds. */
const TIMES_MAX = 60;
/** Of what patterns look for: each alone, in pairs, and with what stands between words. */
const SIGNS = [
  "a",
  "a1",
  ".",
  "-",
  "_",
  "/",
  ":",
  "@",
  " ",
  "[",
  "eyJ",
  "sk-",
  "://",
  "bearer ",
  "-----BEGIN ",
  "?key=",
];

function cpuUs(work: () => unknown): number {
  let least = Infinity;
  for (let round = 0; round < 5; round += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}

test.each([
  { name: "of errors", redact: redacted },
  { name: "of the log", redact: withoutSecrets },
])("no text of repeated signs makes the redaction $name slow", ({ redact }) => {
  const filled = (unit: string): string => unit.repeat(Math.ceil(CHARACTERS / unit.length)).slice(0, CHARACTERS);
  // One that has a trace of a credential, so that all patterns are asked.
  const words = `sk-0123456789abcdef ${filled("the model said that it had nothing to say ")}`;
  redact(words);
  const usual = Math.max(
    cpuUs(() => redact(words)),
    200,
  );
  const slow = SIGNS.flatMap((one) => SIGNS.map((other) => one + other))
    .map((unit) => ({ unit, times: cpuUs(() => redact(filled(unit))) / usual }))
    .filter(({ times }) => times > TIMES_MAX);
  expect(slow).toEqual([]);
});

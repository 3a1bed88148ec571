/** The pages of errors and headers say what the code says. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REASONS } from "../../src/base/errors.js";
import { documentedReasons, errorsPage } from "../support/errors-page.js";
import { ANSWERED, ASKED, headersPage, OTHERS } from "../support/headers-page.js";
import { expectMadeBelow } from "../support/reference-page.js";

test("docs/errors.md has a row for each refusal", () => {
  expectMadeBelow("docs/errors.md", errorsPage());
});

test("every refusal has its meaning and an example that fills its message", () => {
  expect(
    documentedReasons()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(Object.keys(REASONS).sort());
  for (const { name, meaning, example } of documentedReasons()) {
    expect(meaning, name).toMatch(/^[A-Z].*[.?]$/);
    expect(REASONS[name].say(example), name).not.toMatch(/undefined|NaN/);
  }
});

test("docs/headers.md has a row for each header", () => {
  expectMadeBelow("docs/headers.md", headersPage());
});

test("every header that the program names is documented, or is named as nobody's business", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.startsWith("console/"))
    .map((name) => readFileSync(`src/${name}`, "utf8"));
  const found = sources.flatMap((text) =>
    [...text.matchAll(/"((?:x|retry|idempot[a-z]+|last-event)-[a-z0-9-]*[a-z0-9])"/g)].map(([, name = ""]) => name),
  );
  const known = new Set([...ASKED, ...ANSWERED].map(({ name }) => name).concat(OTHERS));
  const place =
    "belongs into ASKED or ANSWERED of test/support/headers-page.ts, or into OTHERS if no client is told it";
  expect([...new Set(found)].filter((name) => !known.has(name)).sort(), `each ${place}`).toEqual([]);
  const said = sources.join("\n");
  expect(
    [...known].filter((name) => !said.includes(`"${name}"`) && !/^x-ratelimit-|^(authorization)$/.test(name)),
    "each is said no more, and stands in a list of test/support/headers-page.ts",
  ).toEqual([]);
});

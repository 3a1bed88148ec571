/** docs/keys.md names every setting of a key, as the protocol and as the settings file spell it, and no other. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { keySeed } from "../../src/config/key-schema.js";
import { SETTING_NAMES } from "../../src/keys/key-settings.js";

const ROW = /^\| `(\w+)` \| `(\w+)` \| \S.* \|$/;
const rows = readFileSync("docs/keys.md", "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, setting, member] = ROW.exec(line) ?? [];
    return setting === undefined || member === undefined ? [] : [{ setting, member }];
  });

test("every setting of the protocol has a row, in its order, and no row is about another", () => {
  const documented = rows.map(({ setting }) => setting).sort();
  expect(documented).toEqual([...SETTING_NAMES].sort());
  expect(SETTING_NAMES.length).toBeGreaterThan(15);
});

test("every name of the settings file is one that it takes, and none is missing", () => {
  const names = new Set(rows.map(({ member }) => member));
  const given = { account: "acme", secret: "sk-a-secret-of-this-test", ...valuesOf(names) };
  expect(unknownOf(given)).toEqual([]);
  expect(unknownOf({ ...given, ends_with_maker: true })).toEqual(["ends_with_maker"]);
  expect(names.size).toBe(rows.length);
});

function valuesOf(names: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries([...names].map((name) => [name, undefined]));
}

/** The members that the schema does not know. */
function unknownOf(given: object): string[] {
  const issues = keySeed.safeParse(given).error?.issues ?? [];
  return issues.flatMap((issue) => (issue.code === "unrecognized_keys" ? issue.keys : []));
}

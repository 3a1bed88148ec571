/** Which tests a change touches, and which tier each test file is in: over a small tree of its own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tiersOf } from "../support/tiers.mjs";
import { touchedTests } from "./touched-tests.mjs";

const FILES = {
  "src/limits/rate.ts": 'import { sum } from "../money.js";',
  "src/gateway/generate.ts": 'import { rate } from "../limits/rate.js";',
  "src/money.ts": "export const sum = 0;",
  "test/limits/rate.test.ts": 'import { rate } from "../../src/limits/rate.js";',
  "test/limits/server.test.ts": 'import { createServer } from "node:http";',
  "test/gateway/generate.test.ts": 'import { generate } from "../../src/gateway/generate.js";',
  "test/gateway/types.test.ts": 'import type { Rate } from "../../src/limits/rate.js";',
  "test/support/world.ts": 'import { spawn } from "node:child_process";',
  "test/flow/call.test.ts": 'import { start } from "../support/world.js";',
  "test/flow/long.prove.test.ts": 'import { start } from "../support/world.js";',
  "test/console/browser/page.test.ts": "export {};",
};
const UNIT = ["gateway/generate", "gateway/types", "limits/rate"].map((name) => `test/${name}.test.ts`);

function tree(): string {
  const root = mkdtempSync(join(tmpdir(), "tollgate-tiers-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return `${root}/`;
}

test("each test file is in one tier", () => {
  expect(tiersOf(tree())).toEqual({
    unit: UNIT,
    platform: ["test/flow/call.test.ts", "test/limits/server.test.ts"],
    prove: ["test/flow/long.prove.test.ts"],
  });
});

test.each([
  { changed: "src/limits/rate.ts", want: ["gateway/generate", "limits/rate", "limits/server"] },
  { changed: "src/money.ts", want: ["gateway/generate", "limits/rate"] },
  { changed: "src/gateway/generate.ts", want: ["gateway/generate", "gateway/types"] },
  { changed: "test/flow/call.test.ts", want: ["flow/call"] },
  { changed: "docs/keys.md", want: [] },
])("a change of $changed touches $want", ({ changed, want }) => {
  expect(touchedTests(tree(), [changed])).toEqual(want.map((name) => `test/${name}.test.ts`));
});

/** No test file is forgotten that keeps state: it runs on both backends, or is on the list of those that do not. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ONE_BACKEND } from "./one-backend.mjs";
import { statefulTests } from "./stateful.mjs";

/** Put together, for a file that names it is looked for. */
const DATABASE = ["TOLLGATE", "DATABASE", "URL"].join("_");
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test("whoever opens a driver or a database by itself is on the list of one backend, with a reason", () => {
  const { chosen, own } = statefulTests(ROOT);
  // `openTestStore` opens what the run is about; `askDatabase` and `tamperDatabase` look behind its back.
  expect(own.filter(({ file }) => !(file in ONE_BACKEND))).toEqual([]);
  const stateful = new Set([...chosen, ...own.map(({ file }) => file)]);
  expect(Object.keys(ONE_BACKEND).filter((file) => !stateful.has(file))).toEqual([]);
  for (const [file, why] of Object.entries(ONE_BACKEND)) expect(why.length, file).toBeGreaterThan(10);
});

test("the tests of HTTP and gRPC run on both", () => {
  const both = statefulTests(ROOT).chosen.filter((file) => !(file in ONE_BACKEND));
  expect(both.length).toBeGreaterThan(150);
  for (const file of [
    "flow/money/money",
    "flow/clients/openai-client",
    "flow/refusals/bad-input",
    "rpc/methods/people-matrix",
    "cli/operator",
  ])
    expect(both).toContain(`test/${file}.test.ts`);
});

test("each way to a state of its own is found", () => {
  const root = mkdtempSync(join(tmpdir(), "tollgate-backends-"));
  const files: Readonly<Record<string, string>> = {
    "test/support/test-store.ts": "export {};",
    "test/support/stores.ts": 'import "../../src/store/sqlite/store.js";',
    "test/support/gateway-process.ts": 'import "./test-store.js";',
    "test/rpc/world.ts": 'import { open } from "../../src/store/postgres/store.js";',
    "test/a/gateway.test.ts": 'import { start } from "../support/gateway-process.js";',
    "test/a/driver.test.ts": 'import { open } from "../../src/store/sqlite/store.js";',
    "test/a/world.test.ts": 'import { world } from "../rpc/world.js";',
    "test/a/each.test.ts":
      'import { open } from "../../src/store/sqlite/store.js";\nimport { onEachStore } from "../support/stores.js";',
    "test/a/named.test.ts": 'import "../support/gateway-process.js"; start({ NAMED: url });'.replace("NAMED", DATABASE),
    "test/a/types.test.ts": 'import type { Sqlite } from "../../src/store/sqlite/binding.js";',
    "test/a/none.test.ts": 'import { join } from "node:path";',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  expect(statefulTests(root)).toEqual({
    chosen: ["each", "gateway", "named"].map((name) => `test/a/${name}.test.ts`),
    own: [
      { file: "test/a/driver.test.ts", by: "test/a/driver.test.ts" },
      { file: "test/a/named.test.ts", by: "test/a/named.test.ts" },
      { file: "test/a/world.test.ts", by: "test/rpc/world.ts" },
    ],
  });
});

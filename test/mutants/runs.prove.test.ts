/** A run over mutants says which of them the tests notice. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { Evaluator } from "./evaluator.mjs";
import { loneKillers, reportLines } from "./report.mjs";
import { type Options, type Report, runMutants } from "./run.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const roots: string[] = [];

afterAll(() => roots.forEach((root) => rmSync(root, { recursive: true, force: true })));

function project(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "tollgate-mutants-test-"));
  roots.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  return root;
}

describe("a run", () => {
  const CONFIG = `export default { test: { projects: [
    { test: { name: "toy", include: ["test/**/*.test.ts"], pool: "forks", isolate: false } },
  ] } };`;
  const IMPORTS = 'import { expect, test } from "vitest";\n';
  const files = {
    "package.json": '{ "type": "module" }',
    "vitest.config.ts": CONFIG,
    "src/fare/fare.ts": `/** Fares. */
      export function fare(age: number): number {
        if (age < 6) return 0;
        return 3;
      }
      export const unused = (a: number): number => -a + 1;
      export const never = (a: boolean): boolean => !a;`,
    "test/fare/fare.test.ts": `${IMPORTS}import { fare } from "../../src/fare/fare.js";
      test("is less for children", () => expect([fare(5), fare(7)]).toEqual([0, 3]));`,
    "test/fare/free.test.ts": `${IMPORTS}import { fare } from "../../src/fare/fare.js";
      test("is free for some", () => expect(fare(1)).toBe(0));`,
    "test/fare/broken.test.ts": `${IMPORTS}import { fare } from "../../src/fare/fare.js";
      test("is what it is not", () => expect(fare(1)).toBe(9));`,
    "test/other/other.test.ts": `${IMPORTS}import { unused } from "../../src/fare/fare.js";
import "node:net";
      test("is negative", () => expect(unused(4)).toBeLessThan(-2));`,
  };
  const options = (root: string): Options => ({
    root,
    size: 100,
    seed: 1,
    workers: 1,
    budgetSeconds: 60,
    folders: ["fare"],
    files: [],
    isWhole: false,
    allKillers: false,
    say: () => undefined,
  });
  const verdicts = ({ mutants }: Report): string[] =>
    mutants.map(({ line, operator, text, verdict }) => `${line} ${operator} ${text}: ${verdict}`);

  test("names what no test notices or reaches, and tests that kill nothing alone", async () => {
    const root = project(files);
    const report = await runMutants({ ...options(root), isWhole: true, allKillers: true });
    expect(verdicts(report)).toEqual([
      "3 condition true true: killed",
      "3 condition false false: killed",
      "3 boundary age <= 6: survived",
      "3 number (6 + 1): survived",
      "3 number (6 - 1): killed",
      "3 number (0 + 1): killed",
      "4 undefined returned return undefined;: killed",
      "4 number (3 + 1): killed",
      "4 number (3 - 1): killed",
      // By a test of another folder.
      "6 arithmetic -a - 1: survived",
      "6 number (1 + 1): killed",
      "6 number (1 - 1): survived",
      "7 negation removed a: unreached",
    ]);
    expect(report.excluded).toMatchObject([{ file: "test/fare/broken.test.ts" }]);
    expect(loneKillers(report.mutants)).toEqual([
      { file: "test/fare/free.test.ts", reached: 6, killed: 2, alone: 0 },
      { file: "test/other/other.test.ts", reached: 3, killed: 1, alone: 1 },
      { file: "test/fare/fare.test.ts", reached: 9, killed: 7, alone: 5 },
    ]);
    expect(readFileSync(join(root, "src/fare/fare.ts"), "utf8")).toBe(files["src/fare/fare.ts"]);
    const lines = reportLines(report);
    expect(lines).toContain("survived: src/fare/fare.ts:3 boundary (2 of 2 test files ran)");
    expect(lines).toContain("survived: src/fare/fare.ts:7 negation removed (no test reaches it)");
    expect(lines).toContain("never alone: test/fare/free.test.ts kills 2 of 6 that it reaches");
  });

  test("ends what never ends, and goes on", async () => {
    const endless = `${IMPORTS}test("ends", () => { while (process.env["TOLLGATE_MUTANT"] === "1"); });`;
    const root = project({ ...files, "test/endless.test.ts": endless });
    const evaluator = new Evaluator({ copy: root });
    const run = (mutant: number, limitMs: number): Promise<unknown> =>
      evaluator.run(mutant, ["test/endless.test.ts"], () => limitMs);
    expect(await run(1, 1_000)).toMatchObject({ hung: "test/endless.test.ts" });
    expect(await run(2, 100_000)).toMatchObject({ files: [{ file: "test/endless.test.ts", failed: [] }] });
    await evaluator.close();
  });
});

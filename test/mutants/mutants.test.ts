/** Mutants change what a file means at one place; `runs.prove.test.ts` runs tests over them. */
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { changesOf } from "./operators.mjs";
import { comparedLines } from "./report.mjs";
import type { Report, Tried } from "./run.mjs";
import { type Mutant, mutantsOf, sameSample, sampleOf } from "./sample.mjs";
import { IS_MUTANT, schemataOf } from "./schemata.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
test.each([
  { text: "a < b", want: ["boundary: a <= b"] },
  { text: "a >= b", want: ["boundary: a > b"] },
  { text: "a !== b", want: ["equality: a === b"] },
  { text: "a && b", want: ["logic: a || b"] },
  { text: "a ?? b", want: ["?? removed: a"] },
  { text: "a - b", want: ["arithmetic: a + b"] },
  { text: "a + 'text'", want: [] },
  { text: "!a", want: ["negation removed: a"] },
  { text: "true", want: ["boolean: false"] },
  { text: "0", want: ["number: (0 + 1)"] },
  { text: "10n", want: ["number: (10n + 1n)", "number: (10n - 1n)"] },
  { text: "{ 1: a }", want: [] },
  { text: "a ? b : c", want: ["condition true: true", "condition false: false"] },
  { text: "a?.b.c(d)", want: ["?. removed: a.b.c(d)"] },
  { text: "a?.b![c]", want: ["?. removed: a.b![c]"] },
  { text: "Math.min(a, b)", want: ["other method: Math.max(a, b)"] },
  { text: "a.some(b)?.c", want: ["?. removed: a.some(b).c", "other method: a.every(b)?.c"] },
  { text: "[a, ...b]", want: ["element removed: nothing"] },
  { text: "{ a: b, c: d }", want: ["property removed: nothing", "property removed: nothing"] },
  { text: "a as 1 | true", want: [] },
  { text: "() => { if (a) return b; }", want: ["condition true: true", "condition false: false"] },
  { text: "() => { while (a) b; }", want: ["condition false: false", "statement removed: nothing"] },
  { text: "() => { return a; }", want: ["undefined returned: return undefined;"] },
  { text: "() => { throw new Error('1' + a + 1); }", want: ["throw removed: nothing"] },
  { text: "() => { assert(a < b); this.#log.warn(1); }", want: [] },
])("the mutants of $text", ({ text, want }) => {
  const found = changesOf("a.ts", `const x = ${text};`);
  expect(found.map((change) => `${change.operator}: ${change.text === "" ? "nothing" : change.text}`)).toEqual(want);
});

describe("a text with all its mutants", () => {
  const SOURCE = `
    /** The part of a list that a number may be in. */
    export const TABLE = { one: 1, two: 2 };
    export function f(a: number, b?: { c?: number[] }): unknown {
      const list = [1, true, a];
      if (a < 3 && b?.c?.some((d) => d === a)) list.push(7);
      else if (a > 10) throw new RangeError("a");
      return [list, TABLE.two, b?.c ?? 0];
    }`;
  const changes = changesOf("a.ts", SOURCE).map((change, index) => Object.assign(change, { id: index + 1 }));

  function outcomes(text: string, active: number): string[] {
    const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
    const code = ts.transpile(text, compilerOptions);
    const exported: { f?: (a: number, b?: { c?: number[] }) => unknown } = {};
    const required = (): unknown => ({ isMutant: (id: number) => id === active });
    // oxlint-disable-next-line no-new-func
    new Function("exports", "require", code)(exported, required);
    return [[1], [1, { c: [1] }], [1, { c: [1, 2] }], [2, { c: [2] }], [3, { c: [3] }], [10], [11], [1, {}]].map(
      (args) => {
        try {
          return JSON.stringify(exported.f?.(...(args as [number])));
        } catch (error) {
          return String(error);
        }
      },
    );
  }

  test("does what the source does, on the same lines, where none of them runs", () => {
    const text = schemataOf(SOURCE, changes, "./switch.js");
    expect(text.split("\n")).toHaveLength(SOURCE.split("\n").length);
    expect(text).toContain(`${IS_MUTANT}(${changes.length})`);
    expect(outcomes(text, 0)).toEqual(outcomes(SOURCE, 0));
  });

  test("does what each mutant does by itself where that one runs", () => {
    expect(changes.length).toBeGreaterThan(25);
    const text = schemataOf(SOURCE, changes, "./switch.js");
    const same = changes.filter((change) => {
      const alone = outcomes(schemataOf(SOURCE, [change], "./switch.js"), change.id);
      expect(outcomes(text, change.id)).toEqual(alone);
      return JSON.stringify(alone) === JSON.stringify(outcomes(SOURCE, 0));
    });
    // What `?.` and a branch without an effect guard, these arguments do not show.
    expect(same.map(({ operator }) => operator)).toEqual(["property removed", "number", "number"]);
  });
});

test("a sample has as many of each folder as there are, by the seed alone", () => {
  const of = (folder: string, count: number): Mutant[] =>
    Array.from({ length: count }, (_, index) => ({
      id: index,
      key: `${folder} ${index}`,
      folder,
      file: "",
      line: 1,
      original: "",
      start: 0,
      end: 1,
      text: "",
      operator: "",
      kind: "expression",
    }));
  const mutants = [...of("many", 100), ...of("few", 3), ...of("some", 20)];
  const sample = sampleOf(mutants, 23, 7);
  const count = (folder: string): number => sample.filter((mutant) => mutant.folder === folder).length;
  expect(["many", "few", "some"].map(count)).toEqual([10, 3, 10]);
  expect(sampleOf(mutants, 23, 7)).toEqual(sample);
  expect(sampleOf(mutants, 23, 8)).not.toEqual(sample);
  expect(sampleOf(mutants, 1000, 7)).toHaveLength(123);
});

test("what an earlier run killed and this one does not is worse; what it does not try is not", () => {
  const tried = (key: string, verdict: Tried["verdict"]): Tried => ({
    key,
    folder: "f",
    file: "f.ts",
    line: 1,
    operator: "o",
    original: "a",
    text: "b",
    verdict,
    killers: [],
    reaching: [],
    ran: 0,
    seconds: 0,
  });
  const report = (...mutants: Tried[]): Report => ({
    seed: 1,
    seconds: 1,
    isWhole: false,
    allKillers: false,
    gone: [],
    excluded: [],
    mutants,
  });
  const before = report(tried("a", "killed"), tried("b", "survived"), tried("c", "timeout"));
  expect(comparedLines(before, report(tried("a", "timeout"), tried("b", "survived"))).isWorse).toBe(false);
  expect(comparedLines(before, report(tried("c", "unreached"))).isWorse).toBe(true);
});

test("every file of the program is a text that its mutants may be put into", () => {
  const found = mutantsOf(ROOT, ["limits"]);
  expect(found.length).toBeGreaterThan(100);
  expect(new Set(found.map(({ key }) => key)).size).toBe(found.length);
  const [first, last] = [found[0], found.at(-1)];
  // A later run tries the same ones, as far as the sources still have them.
  expect(sameSample(found, [last?.key ?? "", "gone", first?.key ?? ""])).toEqual({
    sample: [last, first],
    gone: ["gone"],
  });
});

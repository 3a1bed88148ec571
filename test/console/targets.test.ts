/** How the targets of a model move in its form, and what they say as its spec. */
import { describe, expect, test } from "vitest";
import type { TargetSpec } from "../../gen/console/settings_object.js";
import {
  canMove,
  dropped,
  moved,
  newTarget,
  targetSpecs,
  type TypedTarget,
  typedTargets,
  without,
} from "../../console/admin/targets.js";
import { fc } from "../support/seeds.js";

const spec = (upstream: string, priority: number, weight = ""): TargetSpec => ({
  upstream,
  model: "",
  weight,
  priority,
  cost: undefined,
});
/** Such as `a b/c`: a and b share the first level. */
const shown = (targets: readonly TypedTarget[]): string => {
  const levels = new Map<number, string[]>();
  for (const { level, upstream } of targets) levels.set(level, [...(levels.get(level) ?? []), upstream]);
  return [...levels.values()].map((names) => names.join(" ")).join("/");
};
const targetsOf = (text: string): readonly TypedTarget[] =>
  typedTargets(text.split("/").flatMap((names, index) => names.split(" ").map((name) => spec(name, index + 1))));
const keyOf = (targets: readonly TypedTarget[], name: string): string =>
  targets.find(({ upstream }) => upstream === name)?.key ?? "";

describe("a step", () => {
  test.each([
    { before: "a/b/c", name: "c", to: "up", after: "a/b c" },
    { before: "a/b c", name: "c", to: "up", after: "a/c/b" },
    { before: "a/c/b", name: "c", to: "up", after: "a c/b" },
    { before: "a c/b", name: "c", to: "up", after: "c/a/b" },
    { before: "c/a/b", name: "c", to: "up", after: "c/a/b" },
    { before: "a/b/c", name: "a", to: "down", after: "a b/c" },
    { before: "a b/c", name: "a", to: "down", after: "b/a/c" },
    { before: "a/b", name: "b", to: "down", after: "a/b" },
  ] as const)("$before, $name $to: $after", ({ before, name, to, after }) => {
    const targets = targetsOf(before);
    expect(shown(moved(targets, keyOf(targets, name), to))).toBe(after);
  });

  test("back undoes it, in which levels there are and who shares them", () => {
    const levels = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(levels, fc.nat(5), fc.constantFrom("up" as const, "down" as const), (numbers, index, to) => {
        const targets = typedTargets(numbers.map((level, place) => spec(`t${place}`, level)));
        const target = targets[index % targets.length];
        if (target === undefined || !canMove(targets, target, to)) return;
        const there = moved(targets, target.key, to);
        const back = moved(there, target.key, to === "up" ? "down" : "up");
        const plain = (all: readonly TypedTarget[]): string =>
          shown(all.toSorted((one, other) => one.level - other.level || (one.key < other.key ? -1 : 1)));
        expect(plain(back)).toBe(plain(targets));
      }),
    );
  });
});

test.each([
  { before: "a/b/c", name: "c", at: "a", position: "before", after: "c/a/b" },
  { before: "a/b/c", name: "c", at: "a", position: "after", after: "a/c/b" },
  { before: "a/b/c", name: "c", at: "a", position: "on", after: "a c/b" },
  { before: "a b/c", name: "c", at: "b", position: "before", after: "a c b" },
  { before: "a b/c", name: "a", at: "c", position: "after", after: "b/c/a" },
] as const)("$before, $name dropped $position $at: $after", ({ before, name, at, position, after }) => {
  const targets = targetsOf(before);
  const place = { key: keyOf(targets, at), position };
  expect(shown(dropped(targets, keyOf(targets, name), place))).toBe(after);
});

test("a target is added as the last one, and the levels close up when one is removed", () => {
  const targets = targetsOf("a/b/c");
  const added = [...targets, { ...newTarget(targets), upstream: "d" }];
  expect(shown(added)).toBe("a/b/c/d");
  expect(shown(without(added, keyOf(added, "b")))).toBe("a/c/d");
  expect(new Set(added.map(({ key }) => key)).size).toBe(4);
});

test("the spec says the order, the weights and the costs, and keeps of a cost what the form does not show", () => {
  const cost = { ...NO_PRICE, input: "1", output: "2", cacheRead: "0.5" };
  const specs = [spec("b", 7, "2"), { ...spec("a", 0), cost }];
  const [a, b] = targetSpecs(typedTargets(specs));
  expect(a).toMatchObject({ upstream: "a", priority: 0, cost: { input: "1", cacheRead: "0.5" } });
  expect(b).toMatchObject({ upstream: "b", priority: 2, weight: "2", cost: undefined });
});

const NO_PRICE = {
  free: false,
  input: "",
  cacheRead: "",
  cacheWrite: "",
  cacheWrite1h: "",
  output: "",
  reasoning: "",
  image: "",
  audioInput: "",
  audioOutput: "",
  request: "",
  tiers: [],
  serviceTiers: {},
  tools: {},
  units: {},
};

test("what the form does not show of a target stays", () => {
  const timeouts = { profile: "", firstOutput: "2m", idle: "", total: "" };
  const retries = { attempts: 2, backoff: "", backoffMax: "", coolDownMax: "" };
  const specs = [{ ...spec("a", 0), timeouts, retries }, spec("b", 2)];
  expect(targetSpecs(typedTargets(specs))).toEqual(specs);
});

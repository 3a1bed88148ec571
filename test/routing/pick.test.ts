/** Which target is tried, by priority, weight and health, on a clock that the test tells. */
import { describe, expect, test } from "vitest";
import type { Target } from "../../src/routing/model.js";
import { firstTargets, likelyOrder, pickProbe, pickTarget } from "../../src/routing/pick.js";
import { ScriptedUpstream } from "./scripted-upstream.js";
import { targetOf, type TargetOptions } from "./served.js";

const ME = "acme";
const OTHER = "bolt";
const LEAST = (): number => 0;
const MOST = (): number => 0.999_999;

function target(id: string, options: TargetOptions = {}): Target {
  return targetOf(new ScriptedUpstream([]), id, options);
}

/** Fails by turns of two accounts, until the target is ejected for 30 s. */
function eject({ health }: Target, nowMs: number): void {
  for (let index = 0; index < 5; index += 1) {
    const accountId = index % 2 === 0 ? ME : OTHER;
    const token = health.begin(nowMs, accountId);
    health.end();
    health.fail({ nowMs, token, accountId }, true);
  }
}

const idsOf = (targets: readonly Target[]): string[] => targets.map(({ served }) => served.id);

describe("the target to try", () => {
  test("is of the best priority that has one well", () => {
    const targets = [target("low", { priority: 2 }), target("high"), target("lowest", { priority: 3 })];
    const [low, high] = targets;
    expect(pickTarget(targets, [], 0, ME, LEAST)?.served.id).toBe("high");
    if (high !== undefined) eject(high, 0);
    expect(pickTarget(targets, [], 0, ME, LEAST)?.served.id).toBe("low");
    expect(pickTarget(targets, low === undefined ? [] : [low], 0, ME, LEAST)?.served.id).toBe("lowest");
  });

  test("is back once its ejection is over", () => {
    const targets = [target("a"), target("b", { priority: 2 })];
    if (targets[0] !== undefined) eject(targets[0], 0);
    expect(pickTarget(targets, [], 29_999, ME, LEAST)?.served.id).toBe("b");
    expect(pickTarget(targets, [], 30_000, ME, LEAST)?.served.id).toBe("a");
  });

  test("is not one that was tried, and there is none where all were", () => {
    const [only] = [target("only")];
    expect(pickTarget([only], [], 0, ME, LEAST)).toBe(only);
    expect(pickTarget([only], [only], 0, ME, LEAST)).toBeUndefined();
    const pair = [target("a"), target("b")];
    expect(pickTarget(pair, pair, 0, ME, LEAST)).toBeUndefined();
  });

  test("is not one alone that is ejected", () => {
    const only = target("only");
    eject(only, 0);
    expect(pickTarget([only], [], 0, ME, LEAST)).toBeUndefined();
  });

  test("goes by weight among equals", () => {
    const targets = [target("a", { weight: 1 }), target("b", { weight: 3 }), target("c", { weight: 0 })];
    const at = (share: number): string | undefined => pickTarget(targets, [], 0, ME, () => share)?.served.id;
    expect([0, 0.249, 0.25, 0.999].map(at)).toEqual(["a", "a", "b", "b"]);
  });

  test("is one of them even where none has a weight", () => {
    const targets = [target("a", { weight: 0 }), target("b", { weight: 0 })];
    for (const random of [LEAST, MOST]) expect(pickTarget(targets, [], 0, ME, random)?.served.id).toBe("b");
  });
});

/** Asks a target that is ejected, which is its probe of this second. */
function probe({ health }: Target, nowMs: number): void {
  health.begin(nowMs, OTHER);
  health.end();
}

describe("a probe", () => {
  test("is of the best priority that may be asked again, once a second", () => {
    const targets = [target("second", { priority: 2 }), target("first")];
    for (const one of targets) eject(one, 0);
    expect(pickProbe(targets, [], 1, ME)?.served.id).toBe("first");
    expect(pickProbe(targets, targets.slice(1), 1, ME)?.served.id).toBe("second");
    if (targets[1] !== undefined) probe(targets[1], 1);
    expect(pickProbe(targets, [], 1_000, ME)?.served.id).toBe("second");
    expect(pickProbe(targets, [], 1_001, ME)?.served.id).toBe("first");
  });

  test("is of none where all were probed just now", () => {
    const targets = [target("only")];
    for (const one of targets) {
      eject(one, 0);
      probe(one, 1);
    }
    expect(pickProbe(targets, [], 1_000, ME)).toBeUndefined();
  });
});

describe("those of which one is tried first", () => {
  test("are all of the best priority, or the one that may be probed, or none", () => {
    const targets = [target("a"), target("b"), target("c", { priority: 2 })];
    expect(idsOf(firstTargets(targets, 0, ME))).toEqual(["a", "b"]);
    for (const one of targets) eject(one, 0);
    expect(idsOf(firstTargets(targets, 1, ME))).toEqual(["a"]);
    for (const one of targets) probe(one, 1);
    expect(firstTargets(targets, 1_000, ME)).toEqual([]);
  });
});

test("as they would likely be tried: the well before others, by priority, by weight", () => {
  const ejected = target("ejected");
  eject(ejected, 0);
  const targets = [target("second", { priority: 2 }), ejected, target("light"), target("heavy", { weight: 5 })];
  expect(idsOf(likelyOrder(targets, 0))).toEqual(["heavy", "light", "second", "ejected"]);
});

/** What a plan allows an owner: each way above it, by each field, is refused, and what is within it is not. */
import { describe, expect, test } from "vitest";
import type { ContentSettings, ModelLimits } from "../../src/api/index.js";
import { checkBlocks } from "../../src/config/blocks.js";
import { KeySettings } from "../../src/api/index.js";
import {
  copyOf,
  differingSettings,
  type OwnSettings,
  type Plan,
  requireMemberWithin,
  requireWithin,
  withKeyDefaults,
} from "../../src/plans/plan.js";
import { fc } from "../support/seeds.js";

const NUMBERS = [
  "budgetDayNanos",
  "budgetWeekNanos",
  "budgetMonthNanos",
  "budgetQuarterNanos",
  "budgetTotalNanos",
  "requestCostMaxNanos",
  "requestsPerMinute",
  "tokensPerMinute",
  "concurrency",
] as const;
const LIMITS = {
  budget_day: "1",
  budget_week: "8",
  budget_month: "2",
  budget_quarter: "9",
  budget_total: "3",
  request_cost_max: "4",
  requests_per_minute: "5",
  tokens_per_minute: "6",
  concurrency: "7",
};
const BLOCK = {
  ...LIMITS,
  models: { "gpt-*": { requests_per_minute: "10" }, o1: { tokens_per_minute: "20", concurrency: "2" } },
  content: { allowed: "true", redactions: ["###-##-####"], body_bytes_max: "1000" },
  members: LIMITS,
  keys: { ...LIMITS, expires_after_days: "30" },
};

function planOf(block: object): Plan {
  const { settings, problems } = checkBlocks({ plans: { team: block as never } }, undefined);
  expect(problems).toEqual([]);
  const plan = settings?.plans[0];
  if (plan === undefined) throw new Error("there is no plan");
  return plan;
}

const PLAN = planOf(BLOCK);
const OWN: OwnSettings = copyOf(PLAN);
const limit = (model: string, more: Partial<ModelLimits>): ModelLimits => ({
  model,
  requestsPerMinute: 0n,
  tokensPerMinute: 0n,
  concurrency: 0n,
  ...more,
});
const content = (more: Partial<ContentSettings>): ContentSettings => ({
  kept: true,
  redactions: ["###-##-####"],
  bodyBytesMax: 0,
  totalBytesMax: 0n,
  ...more,
});

describe("an owner", () => {
  test.each(NUMBERS)("raises %s neither above the plan nor to no limit, and may lower it", (name) => {
    const most = OWN[name];
    for (const wrong of [0n, most + 1n, 10n ** 18n])
      expect(() => requireWithin(PLAN, OWN, { [name]: wrong })).toThrow("the plan team allows no more");
    for (const right of [most, most - 1n, 1n].filter((value) => value > 0n))
      expect(() => requireWithin(PLAN, OWN, { [name]: right })).not.toThrow();
  });

  test.each(NUMBERS)("keeps a %s that an operator raised, and does not raise it more", (name) => {
    const raised = { ...OWN, [name]: 900_000_000_000n };
    expect(() => requireWithin(PLAN, raised, { [name]: 900_000_000_000n })).not.toThrow();
    expect(() => requireWithin(PLAN, raised, { [name]: 900_000_000_001n })).toThrow("allows no more");
    expect(() => requireWithin(PLAN, raised, { [name]: 0n })).toThrow("allows no more");
  });

  const gpt = limit("gpt-*", { requestsPerMinute: 10n });
  const o1 = limit("o1", { tokensPerMinute: 20n, concurrency: 2n });
  test.each<{ name: string; models: ModelLimits[] }>([
    { name: "without any", models: [] },
    { name: "without one", models: [gpt] },
    { name: "by a narrower glob", models: [limit("gpt-4*", { requestsPerMinute: 10n }), o1] },
    { name: "by a wider glob alone", models: [limit("*", { requestsPerMinute: 1n }), o1] },
    { name: "in other letters", models: [limit("GPT-*", { requestsPerMinute: 10n }), o1] },
    { name: "with more", models: [limit("gpt-*", { requestsPerMinute: 11n }), o1] },
    { name: "with no limit", models: [limit("gpt-*", {}), o1] },
    { name: "with no limit of one kind", models: [gpt, limit("o1", { tokensPerMinute: 20n })] },
  ])("does not write the limits of models $name", ({ models }) => {
    expect(() => requireWithin(PLAN, OWN, { modelLimits: models })).toThrow("the plan team allows no more");
  });

  test("writes more, and narrower, limits of models", () => {
    const models = [limit("o1", { tokensPerMinute: 1n, concurrency: 1n }), gpt, limit("*", { concurrency: 9n })];
    expect(() => requireWithin(PLAN, OWN, { modelLimits: models })).not.toThrow();
  });

  test.each<{ name: string; wanted: ContentSettings }>([
    { name: "larger bodies", wanted: content({ bodyBytesMax: 1001 }) },
    { name: "larger bodies by the default", wanted: content({ bodyBytesMax: 0 }) },
    { name: "more in all", wanted: content({ bodyBytesMax: 9, totalBytesMax: 268_435_457n }) },
    { name: "less removed", wanted: content({ bodyBytesMax: 9, redactions: [] }) },
    { name: "another rule", wanted: content({ bodyBytesMax: 9, redactions: ["###-##-###"] }) },
  ])("does not store content with $name", ({ wanted }) => {
    expect(() => requireWithin(PLAN, OWN, { content: wanted })).toThrow("the plan team allows no more");
  });

  test("stores content within the plan, and turns it off", () => {
    const right = content({ bodyBytesMax: 1000, totalBytesMax: 9n, redactions: ["###-##-####", "*@*"] });
    expect(() => requireWithin(PLAN, OWN, { content: right })).not.toThrow();
    expect(() => requireWithin(PLAN, OWN, { content: undefined })).not.toThrow();
    expect(() => requireWithin(PLAN, OWN, { content: { ...right, kept: false } })).not.toThrow();
  });

  test("gets nothing past the plan by what was written while nothing was stored", () => {
    for (const part of [{ bodyBytesMax: 1_048_576 }, { redactions: [] }, { totalBytesMax: 17_179_869_184n }]) {
      const off = content({ kept: false, bodyBytesMax: 9, ...part });
      expect(() => requireWithin(PLAN, OWN, { content: off })).not.toThrow();
      expect(() => requireWithin(PLAN, { ...OWN, content: off }, { content: { ...off, kept: true } })).toThrow();
    }
  });

  test("stores no content where the plan does not allow it, and changes nothing of what an operator turned on", () => {
    const plan = planOf({});
    const own = { ...copyOf(plan), content: content({ bodyBytesMax: 9 }) };
    expect(() => requireWithin(plan, copyOf(plan), { content: content({ bodyBytesMax: 9 }) })).toThrow("content.kept");
    expect(() => requireWithin(plan, own, { content: content({ bodyBytesMax: 9, redactions: [] }) })).toThrow();
    expect(() => requireWithin(plan, own, { content: content({ bodyBytesMax: 9 }) })).not.toThrow();
    expect(() => requireWithin(plan, own, { content: content({ bodyBytesMax: 9, kept: false }) })).not.toThrow();
  });

  test.each(NUMBERS)("gives a member at most the plan's %s", (name) => {
    const none = KeySettings.decode(new Uint8Array());
    const most = PLAN.members[name];
    const before = { ...none, [name]: most };
    for (const wrong of [0n, most + 1n])
      expect(() => requireMemberWithin(PLAN, before, { ...none, [name]: wrong })).toThrow("allows no more");
    expect(() => requireMemberWithin(PLAN, none, { ...none, ...PLAN.members })).not.toThrow();
  });

  test("is free where the plan has no limit", () => {
    const plan = planOf({});
    for (const name of NUMBERS)
      for (const value of [0n, 10n ** 17n]) expect(() => requireWithin(plan, OWN, { [name]: value })).not.toThrow();
    expect(() => requireWithin(plan, OWN, { modelLimits: [] })).not.toThrow();
  });

  test("ends within the plan by whatever steps, in each number", () => {
    const value = fc.bigInt({ min: 0n, max: 12_000_000_000n });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...NUMBERS), value), { maxLength: 20 }), (steps) => {
        const own = { ...OWN };
        for (const [name, wanted] of steps) {
          try {
            requireWithin(PLAN, own, { [name]: wanted });
            own[name] = wanted;
          } catch {
            continue;
          }
        }
        for (const name of NUMBERS) {
          expect(own[name]).toBeGreaterThan(0n);
          expect(own[name]).toBeLessThanOrEqual(OWN[name]);
        }
      }),
    );
  });
});

describe("a copy", () => {
  test("differs in nothing from the plan, and leaves what an account stores within it", () => {
    const own = { ...OWN, content: content({ bodyBytesMax: 9_999, totalBytesMax: 5n, redactions: ["*@*"] }) };
    const copied = copyOf(PLAN, own);
    expect(copied.content).toEqual(
      content({ bodyBytesMax: 1000, totalBytesMax: 5n, redactions: ["###-##-####", "*@*"] }),
    );
    expect(differingSettings(copied, copyOf(PLAN, copied))).toEqual([]);
    expect(differingSettings(own, copied)).toEqual(["content"]);
  });

  test("names the settings that differ, and no order of models", () => {
    const turned = { ...OWN, modelLimits: OWN.modelLimits.toReversed() };
    expect(differingSettings(OWN, turned)).toEqual([]);
    expect(differingSettings(OWN, { ...turned, concurrency: 1n, budgetDayNanos: 1n })).toEqual([
      "budget_day_nanos",
      "concurrency",
    ]);
  });

  test("turns content off where the plan does not allow it", () => {
    const own = { ...OWN, content: content({}) };
    expect(copyOf(planOf({}), own).content).toEqual(content({ kept: false }));
    expect(copyOf(planOf({})).content).toBeUndefined();
  });
});

test("a new key gets the plan's limits and expiry where it names none", () => {
  const none = KeySettings.decode(new Uint8Array());
  const made = withKeyDefaults(PLAN, { ...none, concurrency: 100n, name: "a key" }, 1_000.5);
  expect(made).toMatchObject({ ...PLAN.members, concurrency: 100n, name: "a key" });
  expect(made.expireTime).toEqual(new Date(1_000 + 30 * 86_400_000));
  const own = new Date(5);
  expect(withKeyDefaults(PLAN, { ...none, expireTime: own }, 0).expireTime).toBe(own);
  expect(withKeyDefaults(planOf({}), none, 0)).toEqual(none);
});

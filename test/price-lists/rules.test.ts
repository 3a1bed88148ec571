/** Which changes of published prices come into force by themselves: the errors of real lists, one row each. */
import type { ModelInfo, Provider } from "@pydantic/genai-prices";
import { describe, expect, test } from "vitest";
import { changesOf, type Comparison, type PriceChange } from "../../src/price-lists/rules.js";
import type { SnapshotModel } from "../../src/price-lists/snapshot.js";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const PRICES = { input_mtok: 3, output_mtok: 15, cache_read_mtok: 0.3 };
const LONG = { base: 3, tiers: [{ start: 200_000, price: 6 }] };
const WRITES = { cache_write_mtok: 3.75, cache_write_1h_mtok: 6 };

type Prices = ModelInfo["prices"];
type Others = SnapshotModel["others"];

function model(id: string, prices: Prices, match: ModelInfo["match"] = { equals: id }): ModelInfo {
  return { id, match, prices };
}

/** Nineteen models that stay as they are, so that a change of one is 5 %. */
const SAME = Array.from({ length: 19 }, (_, index) => model(`same-${index}`, { ...PRICES, ...WRITES }));

function provider(models: readonly ModelInfo[]): Provider {
  return { id: "acme", name: "Acme", api_pattern: "", models: [...models, ...SAME] };
}

interface Case {
  readonly before: readonly ModelInfo[];
  readonly after: readonly { readonly model: ModelInfo; readonly others: Others }[];
  readonly more?: Partial<Comparison>;
  readonly expires?: string;
}

function compare({ before, after, more = {}, expires = "2026-12-30T00:00:00Z" }: Case): readonly PriceChange[] {
  const same = SAME.map((one) => ({ model: one, others: {} }));
  const snapshot = {
    serial: 2,
    made: "2026-11-30T00:00:00Z",
    expires,
    providers: new Map([["acme", [...after, ...same]]]),
  };
  const providers = [provider(before)];
  const find = (): undefined => undefined;
  return changesOf({ providers, snapshot, nowMs: NOW, find, held: new Set(), confirmed: new Map(), ...more });
}

/** A change of the model `one`, and what two other sources say of it. */
function changed(from: Prices, to: Prices, ...others: readonly Readonly<Record<string, number>>[]): Case {
  const said = Object.fromEntries(others.map((prices, index) => [`source ${index + 1}`, prices]));
  return { before: [model("one", from)], after: [{ model: model("one", to), others: said }] };
}

function added(prices: Prices, ...others: readonly Readonly<Record<string, number>>[]): Case {
  const said = Object.fromEntries(others.map((told, index) => [`source ${index + 1}`, told]));
  return { before: [], after: [{ model: model("one", prices), others: said }] };
}

describe("by itself comes into force", () => {
  test.each<{ name: string; given: Case }>([
    {
      name: "a lower price that a second source has",
      given: changed(PRICES, { ...PRICES, input_mtok: 2 }, { input_mtok: 2 }),
    },
    {
      name: "a price that another source has within 5 %, whatever a third one says",
      given: changed(PRICES, { ...PRICES, input_mtok: 6 }, { input_mtok: 300_000 }, { input_mtok: 5.8 }),
    },
    { name: "a new model of two sources", given: added(PRICES, PRICES) },
    {
      name: "a price whose date has come",
      given: changed(
        PRICES,
        [
          { prices: PRICES },
          { constraint: { type: "start_date", start_date: "2026-11-30" }, prices: { ...PRICES, output_mtok: 20 } },
        ],
        { output_mtok: 20 },
      ),
    },
    {
      name: "a tier that lists write with thresholds of their own",
      given: changed(
        { ...PRICES, input_mtok: LONG },
        { ...PRICES, input_mtok: { base: 3, tiers: [{ start: 199_999, price: 5 }] } },
        { "input_mtok>200000": 5 },
      ),
    },
  ])("$name", ({ given }) => {
    const [change, ...others] = compare(given);
    expect(change?.reasons).toEqual([]);
    expect(others).toEqual([]);
  });
});

describe("an operator decides on", () => {
  const twice = (prices: Readonly<Record<string, number>>) => [prices, prices] as const;
  test.each<{ name: string; given: Case; reason: string }>([
    ...[1_000, 1_000_000, 100, 100_000, 0.001, 1e-6].map((factor) => ({
      name: `a unit that is wrong ${factor} times, though both sources have it`,
      given: changed(PRICES, { ...PRICES, input_mtok: 3 * factor }, ...twice({ input_mtok: 3 * factor })),
      reason: "input_mtok more than doubles or falls below half",
    })),
    {
      name: "a change that one source alone has",
      given: changed(PRICES, { ...PRICES, output_mtok: 16 }, { output_mtok: 15 }, {}),
      reason: "no second source has this output_mtok",
    },
    {
      name: "a new model that is dearer in the only other source",
      given: added(PRICES, { ...PRICES, input_mtok: 15 }),
      reason: "no second source has this input_mtok",
    },
    {
      name: "a cache price that is missing and written as zero",
      given: changed(PRICES, { ...PRICES, cache_read_mtok: 0 }, ...twice({ cache_read_mtok: 0 })),
      reason: "cache_read_mtok becomes zero",
    },
    {
      name: "a new model that is free",
      given: added({ input_mtok: 0, output_mtok: 0 }, ...twice({ input_mtok: 0, output_mtok: 0 })),
      reason: "input_mtok becomes zero",
    },
    {
      name: "a component that vanishes",
      given: changed(PRICES, { input_mtok: 3, output_mtok: 15 }, ...twice(PRICES)),
      reason: "cache_read_mtok vanishes",
    },
    {
      name: "a tier that is lost",
      given: changed({ ...PRICES, input_mtok: LONG }, PRICES, ...twice(PRICES)),
      reason: "input_mtok>200000 vanishes",
    },
    {
      name: "a new model without the tier that another source has",
      given: added(PRICES, { ...PRICES, "input_mtok>200000": 6 }),
      reason: "input_mtok>200000 is missing",
    },
    {
      name: "a new model without the cache price that another source has",
      given: added({ input_mtok: 3, output_mtok: 15 }, PRICES),
      reason: "cache_read_mtok is missing",
    },
    {
      name: "a new model without the price of an hour's cache, which its provider has",
      given: added({ ...PRICES, cache_write_mtok: 3.75 }, { ...PRICES, cache_write_mtok: 3.75 }),
      reason: "cache_write_1h_mtok is missing",
    },
    {
      name: "a new model without a price of output",
      given: added({ input_mtok: 3 }, { input_mtok: 3 }),
      reason: "output_mtok is missing",
    },
    {
      name: "a component that is new",
      given: changed({ input_mtok: 3, output_mtok: 15 }, PRICES, ...twice(PRICES)),
      reason: "cache_read_mtok was not there before",
    },
    {
      name: "a cache that is dearer to read than input",
      given: changed(
        { ...PRICES, cache_read_mtok: 2 },
        { ...PRICES, cache_read_mtok: 3.5 },
        ...twice({ cache_read_mtok: 3.5 }),
      ),
      reason: "cache_read_mtok is above the price of input",
    },
    {
      name: "an alias that has the price of its parent, and takes the name from it",
      given: { ...added(PRICES, PRICES), more: { find: () => model("parent", PRICES) } },
      reason: "parent prices a name of it until now",
    },
    {
      name: "a new model whose price covers whatever has a word in its name",
      given: { before: [], after: [{ model: model("one", PRICES, { contains: "one" }), others: { other: PRICES } }] },
      reason: "its price covers names by a pattern",
    },
    {
      name: "names that an existing price newly covers",
      given: {
        before: [model("one", PRICES)],
        after: [{ model: model("one", PRICES, { starts_with: "one" }), others: { other: PRICES } }],
      },
      reason: "the names that it prices change",
    },
    {
      name: "a model that is not there any more",
      given: { before: [model("one", PRICES)], after: [] },
      reason: "the snapshot does not have the model",
    },
    {
      name: "whatever an expired snapshot changes",
      given: { ...changed(PRICES, { ...PRICES, input_mtok: 2 }, { input_mtok: 2 }), expires: "2026-11-30T11:00:00Z" },
      reason: "the snapshot has expired",
    },
    {
      name: "a model that was rolled back or rejected before",
      given: {
        ...changed(PRICES, { ...PRICES, input_mtok: 2 }, { input_mtok: 2 }),
        more: { held: new Set(["acme/one"]) },
      },
      reason: "an operator decided on this model before",
    },
  ])("$name", ({ given, reason }) => {
    const [change] = compare(given);
    expect(change?.reasons).toContain(reason);
  });

  test("every change where more than a tenth of the models changes", () => {
    const to = { ...PRICES, input_mtok: 2 };
    const names = ["one", "two", "three"];
    const before = names.map((name) => model(name, PRICES));
    const after = names.map((name) => ({ model: model(name, to), others: { other: to } }));
    const changes = compare({ before, after });
    expect(changes).toHaveLength(3);
    for (const { reasons } of changes) expect(reasons).toEqual(["more than 10 % of the models change at once"]);
    expect(
      compare({
        before,
        after: [after[0], ...before.slice(1).map((one) => ({ model: one, others: {} }))].flatMap((one) => one ?? []),
      })[0]?.reasons,
    ).toEqual([]);
  });
});

test("a price of a later date changes nothing, and is not taken along with a change of today", () => {
  const later = {
    constraint: { type: "start_date" as const, start_date: "2026-12-24" },
    prices: { ...PRICES, input_mtok: 1.6 },
  };
  expect(compare(changed(PRICES, [{ prices: PRICES }, later]))).toEqual([]);
  const [change] = compare(changed(PRICES, [{ prices: { ...PRICES, input_mtok: 2 } }, later], { input_mtok: 2 }));
  expect(change?.proposed?.prices).toEqual({ ...PRICES, input_mtok: 2 });
});

test("a promotion that ends is a change of its day, which a second source must have", () => {
  const end = {
    constraint: { type: "start_date" as const, start_date: "2026-11-30" },
    prices: { input_mtok: 4, output_mtok: 15 },
  };
  const prices = [{ prices: { input_mtok: 2, output_mtok: 15 } }, end];
  const stale = changed({ input_mtok: 2, output_mtok: 15 }, prices, { input_mtok: 2 });
  expect(compare(stale)[0]?.reasons).toEqual(["no second source has this input_mtok"]);
  expect(compare(changed({ input_mtok: 2, output_mtok: 15 }, prices, { input_mtok: 4 }))[0]?.reasons).toEqual([]);
});

test("a change keeps the context of the model, which no second source confirms", () => {
  const before = { ...model("one", PRICES), context_window: 200_000 };
  const after = { ...model("one", { ...PRICES, input_mtok: 2 }), context_window: 1 };
  const [change] = compare({ before: [before], after: [{ model: after, others: { other: { input_mtok: 2 } } }] });
  expect(change?.proposed).toEqual({ ...before, prices: { ...PRICES, input_mtok: 2 } });
});

test("another proposal for the same model has another id", () => {
  const ids = [2, 2, 2.5].map((input_mtok) => compare(changed(PRICES, { ...PRICES, input_mtok }))[0]?.id);
  expect(ids[0]).toBe(ids[1]);
  expect(ids[0]).not.toBe(ids[2]);
});

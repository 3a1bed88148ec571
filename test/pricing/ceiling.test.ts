/** The ceiling covers every usage, and the affordable limit is the largest that fits. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import type { Meter, Price, PriceTier, TokenPrices, ToolUse, Usage } from "../../src/api/index.js";
import { affordableOutputTokens, ceilingNanos } from "../../src/pricing/ceiling.js";
import { meterPicos, meterPicosMax } from "../../src/pricing/meter-price.js";
import { rateOf } from "../../src/pricing/rates.js";
import { maxPrice } from "../../src/pricing/max-price.js";
import { costNanos } from "../../src/pricing/price.js";
import { FREE, priceOf } from "./prices.js";

const RUNS = { numRuns: 500 };

const picos = fc.oneof(fc.constant(0n), fc.bigInt(0n, 5_000n), fc.bigInt(0n, 600_000_000n));
const tokenPrices: fc.Arbitrary<TokenPrices> = fc.record({
  inputPicos: picos,
  cacheReadPicos: picos,
  cacheWritePicos: picos,
  cacheWrite1hPicos: picos,
  outputPicos: picos,
  reasoningPicos: picos,
  imagePicos: picos,
  audioInputPicos: picos,
  audioOutputPicos: picos,
  requestPicos: fc.bigInt(0n, 10n ** 12n),
});
// Tiers may fall as well as rise: no rule of the field forbids it.
const tiers: fc.Arbitrary<PriceTier[]> = fc
  .uniqueArray(fc.record({ aboveInputTokens: fc.bigInt(1n, 2_000_000n), prices: tokenPrices }), {
    maxLength: 3,
    selector: ({ aboveInputTokens }) => aboveInputTokens,
  })
  .map((list) => list.toSorted((a, b) => (a.aboveInputTokens < b.aboveInputTokens ? -1 : 1)));
const prices: fc.Arbitrary<Price> = fc
  .record({
    base: tokenPrices,
    longer: tiers,
    served: fc.subarray(["priority", "flex"]),
    dear: tokenPrices,
    others: tiers,
    hosted: fc.subarray(["web_search", "file_search"]),
    callPicos: fc.bigInt(0n, 10n ** 11n),
    rates: fc.uniqueArray(
      fc.record({
        unit: fc.constantFrom("search_unit", "picture"),
        variant: fc.constantFrom("", "large"),
        picos: fc.bigInt(0n, 10n ** 12n),
        per: fc.bigInt(1n, 3_600n),
        step: fc.bigInt(1n, 20n),
        minimum: fc.bigInt(0n, 30n),
      }),
      { selector: ({ unit, variant }) => `${unit}/${variant}`, maxLength: 4 },
    ),
    tokensUnpriced: fc.boolean(),
  })
  .map(({ base, longer, served, dear, others, hosted, callPicos, rates, tokensUnpriced }): Price =>
    Object.assign({}, base, {
      tiers: longer,
      serviceTiers: served.map((name) => ({ name, prices: dear, tiers: others })),
      tools: hosted.map((name) => ({ name, callPicos })),
      rates,
      tokensUnpriced,
    }),
  );
const asked = {
  serviceTier: fc.constantFrom("", "priority", "flex", "unheard_of"),
  toolCallsMax: fc.tuple(fc.bigInt(0n, 50n), fc.bigInt(0n, 50n)).map(([web, file]): ToolUse[] => [
    { name: "web_search", calls: web },
    { name: "file_search", calls: file },
  ]),
  metersMax: fc.tuple(fc.bigInt(0n, 500n), fc.bigInt(0n, 500n)).map(([units, pictures]): Meter[] => [
    { unit: "search_unit", variant: "", quantity: units },
    { unit: "picture", variant: "", quantity: pictures },
  ]),
};
const bounds = fc.record({
  inputTokensMax: fc.nat(2_000_000),
  outputTokensMax: fc.nat(200_000),
  candidateCount: fc.integer({ min: 1, max: 128 }),
  ...asked,
});

/** Splits a total into parts by cuts, so that no token is counted twice. */
function split(total: number, cuts: readonly number[]): bigint[] {
  const edges = [0, ...cuts.map((cut) => Math.floor(cut * total)).toSorted((a, b) => a - b), total];
  return edges.slice(1).map((edge, i) => BigInt(edge - (edges[i] ?? 0)));
}

const VARIANTS = ["", "large", "small", "tiny"];

/** A part of the most of each unit, split among its variants. */
function usedOf(metersMax: readonly Meter[], part: number, cuts: readonly number[]): Meter[] {
  return metersMax.flatMap(({ unit, quantity }) => {
    const parts = split(Math.floor(Number(quantity) * part), cuts);
    const meters = VARIANTS.map((variant, at) => ({ unit, variant, quantity: parts[at] ?? 0n }));
    return meters.filter(({ quantity: used }) => used > 0n);
  });
}

const share = fc.double({ min: 0, max: 1, noNaN: true });

describe("the ceiling", () => {
  test("covers every usage within the bounds, whatever its mixture", () => {
    fc.assert(
      fc.property(
        bounds,
        prices,
        fc.array(share, { minLength: 5, maxLength: 5 }),
        fc.array(share, { minLength: 2, maxLength: 2 }),
        fc.tuple(share, share),
        fc.tuple(fc.boolean(), share, fc.array(share, { minLength: 3, maxLength: 3 })),
        (limits, price, inputCuts, outputCuts, [inputShare, outputShare], [isDowngraded, calledShare, meterCuts]) => {
          const input = split(Math.floor(limits.inputTokensMax * inputShare), inputCuts);
          const output = split(Math.floor(limits.outputTokensMax * limits.candidateCount * outputShare), outputCuts);
          const usage: Usage = {
            inputTokens: input[0] ?? 0n,
            cacheReadTokens: input[1] ?? 0n,
            cacheWriteTokens: input[2] ?? 0n,
            cacheWrite1hTokens: input[3] ?? 0n,
            imageTokens: input[4] ?? 0n,
            audioInputTokens: input[5] ?? 0n,
            outputTokens: output[0] ?? 0n,
            reasoningTokens: output[1] ?? 0n,
            audioOutputTokens: output[2] ?? 0n,
            meters: usedOf(limits.metersMax, calledShare, meterCuts),
          };
          const served = {
            serviceTier: isDowngraded ? "" : limits.serviceTier,
            toolUses: limits.toolCallsMax.map(({ name, calls }) => ({
              name,
              calls: BigInt(Math.floor(Number(calls) * calledShare)),
            })),
          };
          expect(costNanos(usage, price, served)).toBeLessThanOrEqual(ceilingNanos(limits, price));
        },
      ),
      RUNS,
    );
  });

  test("covers other units alone, in several variants with steps and minimums of their own", () => {
    const cuts = fc.array(share, { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(asked.metersMax, prices, share, cuts, (metersMax, price, part, meterCuts) => {
        const used = usedOf(metersMax, part, meterCuts);
        expect(meterPicos(used, price)).toBeLessThanOrEqual(meterPicosMax(metersMax, price));
      }),
      RUNS,
    );
  });

  test("of several targets covers each of them", () => {
    fc.assert(
      fc.property(bounds, fc.array(prices, { minLength: 1, maxLength: 4 }), (limits, several) => {
        const most = ceilingNanos(limits, maxPrice(several));
        const whole = maxPrice(several);
        for (const price of several) {
          // What one target does not price is left out of the model's price, and refused or flagged elsewhere.
          const { serviceTiers, tools, rates } = whole;
          const kept = {
            ...price,
            serviceTiers: price.serviceTiers.filter(({ name }) => serviceTiers.some((tier) => tier.name === name)),
            tools: price.tools.filter(({ name }) => tools.some((tool) => tool.name === name)),
            rates: rates.map((rate) => Object.assign({}, rate, rateOf(price, rate))),
          };
          expect(ceilingNanos(limits, kept)).toBeLessThanOrEqual(most);
        }
      }),
      RUNS,
    );
  });

  test.each([
    { name: "nothing", limits: [0, 0, 1], price: FREE, want: 0n },
    { name: "a free model", limits: [1_000, 1_000, 4], price: FREE, want: 0n },
    {
      name: "input and output",
      limits: [1_000, 100, 1],
      price: priceOf({ input: 250_000n, output: 2_000_000n }),
      want: 450_000n,
    },
    {
      name: "each candidate's output, but one input",
      limits: [1_000, 100, 3],
      price: priceOf({ input: 250_000n, output: 2_000_000n }),
      want: 850_000n,
    },
    { name: "the request", limits: [0, 0, 1], price: { ...FREE, requestPicos: 5_000n }, want: 5n },
    {
      name: "a part of a nano-USD, rounded up once",
      limits: [1, 1, 1],
      price: priceOf({ input: 1n, output: 1n }),
      want: 1n,
    },
    {
      name: "writing to the cache where that is dearest",
      limits: [10, 0, 1],
      price: { ...FREE, inputPicos: 1_000n, cacheWrite1hPicos: 2_000n },
      want: 20n,
    },
    {
      name: "reasoning where that is dearest",
      limits: [0, 10, 1],
      price: { ...FREE, outputPicos: 1_000n, reasoningPicos: 3_000n },
      want: 30n,
    },
  ] as const)("counts $name", ({ limits: [inputTokensMax, outputTokensMax, candidateCount], price, want }) => {
    expect(ceilingNanos({ inputTokensMax, outputTokensMax, candidateCount }, price)).toBe(want);
  });
});

describe("the affordable output", () => {
  test("is the largest limit whose ceiling fits the amount", () => {
    fc.assert(
      fc.property(bounds, prices, fc.bigInt(0n, 10n ** 13n), (limits, price, amount) => {
        const affordable = affordableOutputTokens(limits, price, amount);
        const ceilingOf = (outputTokensMax: number): bigint => ceilingNanos({ ...limits, outputTokensMax }, price);
        expect(affordable).toBeLessThanOrEqual(limits.outputTokensMax);
        if (affordable > 0) expect(ceilingOf(affordable)).toBeLessThanOrEqual(amount);
        if (affordable < limits.outputTokensMax) expect(ceilingOf(affordable + 1)).toBeGreaterThan(amount);
      }),
      RUNS,
    );
  });

  test("is nothing where the prompt alone is too dear", () => {
    const limits = { inputTokensMax: 1_000, outputTokensMax: 100, candidateCount: 1 };
    expect(affordableOutputTokens(limits, priceOf({ input: 1_000n, output: 0n }), 999n)).toBe(0);
    expect(affordableOutputTokens(limits, priceOf({ input: 1_000n, output: 0n }), 1_000n)).toBe(100);
  });
});

test("no target has no dearest price", () => {
  expect(() => maxPrice([])).toThrow();
});

/** What a surface's request is charged whose client left, and whose upstream told nothing. */
import { describe, expect, test } from "vitest";
import type { Price, Rate } from "../../src/api/index.js";
import { UsageSource } from "../../src/api/index.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { type Charge, chargeOf, type ChargeTerms } from "../../src/gateway/charge.js";
import { isUnitPriced } from "../../src/pricing/rates.js";
import { moderations } from "../../src/wire/openai-moderations/index.js";
import { rerank } from "../../src/wire/rerank/index.js";
import type { AnswerReport, SurfaceWire, WireRequest } from "../../src/wire/wire.js";
import { FREE, priceOf } from "../pricing/prices.js";

const UNIT: Rate = { unit: "search_unit", variant: "", picos: 2_000_000_000_000n, per: 1_000n, step: 1n, minimum: 0n };
const BY_UNITS: Price = { ...FREE, rates: [UNIT], tokensUnpriced: true };
const BY_TOKENS = priceOf({ input: 20_000n, output: 0n });

function asked(wire: SurfaceWire, body: object): WireRequest {
  return wire.readRequest({ wire: wire.name, body: Buffer.from(JSON.stringify(body)), headers: {} });
}

const RANKING = asked(rerank, { model: "m", query: "x", documents: Array.from({ length: 101 }, () => "a document") });
const JUDGEMENT = asked(moderations, { input: "is this harmful" });

function terms(request: WireRequest, price: Price, cutInput: ChargeTerms["cutInput"]): ChargeTerms {
  const units = price === BY_UNITS ? (["search_unit"] as const) : undefined;
  return {
    request,
    modelId: "m",
    contextTokens: 0,
    price,
    units,
    accountId: "acme",
    inputTokensMax: 100_000,
    cutInput,
  };
}

describe.each([
  {
    name: "a ranking by units",
    request: RANKING,
    price: BY_UNITS,
    units: [{ unit: "search_unit", variant: "", quantity: 2n }],
  },
  { name: "a ranking by tokens", request: RANKING, price: BY_TOKENS, units: [] },
  { name: "a judgement by tokens", request: JUDGEMENT, price: BY_TOKENS, units: [] },
])("$name whose client left before anything came", ({ request, price, units }) => {
  test("is charged as if it was told, where its upstream bills on", async () => {
    const { usage, usageSource } = await chargeOf(undefined, "left", terms(request, price, "billed"));
    expect(usageSource).toBe(UsageSource.USAGE_SOURCE_COUNTED);
    expect(usage.meters).toEqual(units);
    expect(usage.inputTokens > 0n).toBe(units.length === 0);
  });

  test("is the operator's cost where nobody bills it, and counts in limits", async () => {
    const { usageSource, unbilled } = await chargeOf(undefined, "left", terms(request, price, "unbilled"));
    expect(usageSource).toBe(UsageSource.USAGE_SOURCE_NONE);
    expect(unbilled?.meters).toEqual(units);
  });

  test("is free where it never was sent", async () => {
    const { usageSource, unbilled } = await chargeOf(undefined, "left", terms(request, price, undefined));
    expect(usageSource).toBe(UsageSource.USAGE_SOURCE_NONE);
    expect(unbilled).toBeUndefined();
  });
});

describe("a model that is priced by both units is charged by the one that its endpoint bills", () => {
  const both: Price = { ...BY_TOKENS, rates: [UNIT] };
  const meters = [{ unit: "search_unit", variant: "", quantity: 2n }];
  const charged = async (units: ChargeTerms["units"], usage: AnswerReport["usage"]): Promise<Charge["usage"]> => {
    const report: AnswerReport = { usage, made: "content", complete: true, text: "" };
    return (await chargeOf(report, "finished", { ...terms(RANKING, both, undefined), units })).usage;
  };

  test.each([
    { units: ["search_unit"] as const, told: { ...NO_USAGE, inputTokens: 700n, meters }, tokens: 0n, sold: meters },
    { units: undefined, told: { ...NO_USAGE, inputTokens: 700n, meters }, tokens: 700n, sold: [] },
    { units: ["token", "search_unit"] as const, told: { ...NO_USAGE, meters }, tokens: 0n, sold: meters },
    { units: ["token", "search_unit"] as const, told: { ...NO_USAGE, inputTokens: 9n }, tokens: 9n, sold: [] },
  ])("$units", async ({ units, told, tokens, sold }) => {
    expect(await charged(units, told)).toEqual({ ...NO_USAGE, inputTokens: tokens, meters: sold });
  });
});

test("a rate of one variant prices not the unit", () => {
  const fast = { ...FREE, rates: [{ ...UNIT, variant: "fast" }], tokensUnpriced: true };
  expect(isUnitPriced(fast, "search_unit")).toBe(false);
  expect(isUnitPriced(BY_UNITS, "search_unit")).toBe(true);
  expect(isUnitPriced(FREE, "search_unit")).toBe(true);
});

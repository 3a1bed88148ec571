/** What the package of published prices knows. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { waitForUpdate } from "@pydantic/genai-prices";
import { describe, expect, test, vi } from "vitest";
import { NO_USAGE } from "../../src/api/usage.js";
import { ceilingNanos } from "../../src/pricing/ceiling.js";
import { costNanos } from "../../src/pricing/price.js";
import { type KnownModel, knownModels } from "../../src/pricing/known-models.js";
import { PRICE_LIST } from "../../src/pricing/price-list.js";

const NOW = Date.parse("2026-11-21T12:00:00Z");

async function knownModel(pricedAs: string, id: string): Promise<KnownModel | undefined> {
  return (await knownModels(pricedAs, [id], NOW)).get(id);
}

test("the name of the list has the version of the package: with another one comes another date", () => {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: Record<string, string> };
  expect(PRICE_LIST.list).toBe(`genai-prices ${dependencies["@pydantic/genai-prices"]}`);
});

describe("a known model", () => {
  test.each([
    {
      pricedAs: "openai",
      id: "gpt-5.4-mini",
      input: 750_000n,
      read: 75_000n,
      output: 4_500_000n,
      context: 400_000,
      most: 128_000,
    },
    {
      pricedAs: "openai",
      id: "gpt-4o-2024-11-20",
      input: 2_500_000n,
      read: 1_250_000n,
      output: 10_000_000n,
      context: 128_000,
      most: 16_384,
    },
    {
      pricedAs: "anthropic",
      id: "claude-opus-4-5-20251101",
      input: 5_000_000n,
      read: 500_000n,
      output: 25_000_000n,
      context: 200_000,
      most: 64_000,
    },
    // The shorter of its two tiers.
    {
      pricedAs: "google",
      id: "gemini-2.5-pro",
      input: 1_250_000n,
      read: 125_000n,
      output: 10_000_000n,
      context: 1_048_576,
      most: 65_536,
    },
  ])("$id has an exact price and its limits", async ({ pricedAs, id, input, read, output, context, most }) => {
    expect(await knownModel(pricedAs, id)).toMatchObject({
      price: { inputPicos: input, cacheReadPicos: read, outputPicos: output, requestPicos: 0n },
      contextTokens: context,
      outputTokensMax: most,
    });
  });

  test("with tiers by length is sold at the tier of the prompt, not at the dearest", async () => {
    const price = (await knownModel("anthropic", "claude-sonnet-4-5"))?.price;
    assert(price !== undefined);
    const cost = (inputTokens: bigint): bigint =>
      costNanos({ ...NO_USAGE, inputTokens, cacheReadTokens: 1_000n, outputTokens: 1_000n }, price);
    // 3 and 15 USD up to 200,000 tokens, 6 and 22.50 above; what is read from the cache counts as prompt.
    expect(cost(199_000n)).toBe(199_000n * 3_000n + 1_000n * 300n + 1_000n * 15_000n);
    expect(cost(199_001n)).toBe(199_001n * 6_000n + 1_000n * 600n + 1_000n * 22_500n);
    const bounds = { inputTokensMax: 100_000, outputTokensMax: 1_000, candidateCount: 1 };
    // The dearest that a token of a prompt can be in that tier: written to the cache for an hour.
    expect(ceilingNanos(bounds, price)).toBe(100_000n * 6_000n + 1_000n * 15_000n);
  });

  test.each([
    { name: "no such model", pricedAs: "openai", id: "qwen3:8b" },
    { name: "no such family", pricedAs: "nobody", id: "gpt-4o" },
    { name: "priced by the hour", pricedAs: "openai", id: "whisper-1" },
    { name: "listed without a price", pricedAs: "github-copilot", id: "gpt-4o" },
    { name: "a name of Object's own", pricedAs: "openai", id: "__proto__" },
  ])("is not one: $name", async ({ pricedAs, id }) => {
    expect(await knownModel(pricedAs, id)).toBeUndefined();
  });

  test("is found among others, which are left out where unknown", async () => {
    const known = await knownModels("openai", ["gpt-4o", "no-such", "gpt-4.1"], NOW);
    expect([...known.keys()]).toEqual(["gpt-4o", "gpt-4.1"]);
  });
});

// What the package calls anew after an update would be dropped in silence, and charged too low.
test("every component that the package lists is one that is understood or refused", async () => {
  const understood = [
    /^(?:input|output|cache_read|cache_write|cache_write_1h)_mtok$/,
    /^(?:input|output)_(?:audio|image|video)_mtok$/,
    /^(?:cache_(?:audio|image)_read|output_(?:reasoning|citation))_mtok$/,
    /^(?:requests|web_searches|storage_searches)_kcount$/,
    // Refused.
    /_(?:hours|kpages|messages_kcount)$/,
  ];
  const names = new Set<string>();
  for (const { models } of (await waitForUpdate()) ?? []) {
    for (const { prices } of models) {
      for (const entry of Array.isArray(prices) ? prices : [{ prices }])
        for (const name of Object.keys(entry.prices)) names.add(name);
    }
  }
  expect(names.size).toBeGreaterThan(10);
  expect([...names].filter((name) => !understood.some((form) => form.test(name)))).toEqual([]);
});

test("every model of the package is read or refused, without a warning", async () => {
  const warn = vi.spyOn(console, "warn");
  let read = 0;
  for (const { id, models } of (await waitForUpdate()) ?? []) {
    const known = await knownModels(
      id,
      models.map((model) => model.id),
      NOW,
    );
    read += known.size;
    for (const { price } of known.values())
      for (const prices of [price, ...price.tiers.map((tier) => tier.prices)]) {
        for (const [, picos] of Object.entries(prices ?? {}).filter(([name]) => name.endsWith("Picos")))
          expect(typeof picos === "bigint" && picos >= 0n).toBe(true);
      }
  }
  expect(read).toBeGreaterThan(1_000);
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});

/** What the package of published prices knows. */
import { waitForUpdate } from "@pydantic/genai-prices";
import { describe, expect, test, vi } from "vitest";
import { knownModel, knownModels } from "../../src/pricing/known-models.js";

const NOW = Date.parse("2026-11-21T12:00:00Z");

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
    // The longer of its two tiers.
    {
      pricedAs: "google",
      id: "gemini-2.5-pro",
      input: 2_500_000n,
      read: 250_000n,
      output: 15_000_000n,
      context: 1_048_576,
      most: 65_536,
    },
  ])("$id has an exact price and its limits", async ({ pricedAs, id, input, read, output, context, most }) => {
    expect(await knownModel(pricedAs, id, NOW)).toMatchObject({
      price: { inputPicos: input, cacheReadPicos: read, outputPicos: output, requestPicos: 0n },
      contextTokens: context,
      outputTokensMax: most,
    });
  });

  test.each([
    { name: "no such model", pricedAs: "openai", id: "qwen3:8b" },
    { name: "no such family", pricedAs: "nobody", id: "gpt-4o" },
    { name: "priced by the hour", pricedAs: "openai", id: "whisper-1" },
    { name: "listed without a price", pricedAs: "github-copilot", id: "gpt-4o" },
    { name: "a name of Object's own", pricedAs: "openai", id: "__proto__" },
  ])("is not one: $name", async ({ pricedAs, id }) => {
    expect(await knownModel(pricedAs, id, NOW)).toBeUndefined();
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
      for (const picos of Object.values(price)) expect(typeof picos === "bigint" && picos >= 0n).toBe(true);
  }
  expect(read).toBeGreaterThan(1_000);
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});

/** Published price lists become exact prices, and never ones that are too low. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import { floatToUnits, readListedPrice, type ListedPrices } from "../../src/pricing/listed-price.js";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const one = (prices: ListedPrices["prices"]): ListedPrices[] => [{ prices }];

describe("a list", () => {
  test("gives what it names, and the rest by the rule", () => {
    expect(readListedPrice(one({ input_mtok: 0.75, cache_read_mtok: 0.075, output_mtok: 4.5 }), NOW)).toEqual({
      inputPicos: 750_000n,
      cacheReadPicos: 75_000n,
      cacheWritePicos: 750_000n,
      cacheWrite1hPicos: 750_000n,
      outputPicos: 4_500_000n,
      reasoningPicos: 4_500_000n,
      imagePicos: 750_000n,
      audioInputPicos: 750_000n,
      audioOutputPicos: 4_500_000n,
      requestPicos: 0n,
      tiers: [],
      serviceTiers: [],
      tools: [],
      rates: [],
      tokensUnpriced: false,
    });
  });

  test("keeps its tiers by length, each component as of its own start", () => {
    const listed = one({
      input_mtok: {
        base: 3,
        tiers: [
          { start: 200_000, price: 6 },
          { start: 500_000, price: 7 },
        ],
      },
      output_mtok: { base: 15, tiers: [{ start: 200_000, price: 22.5 }] },
      cache_read_mtok: 0.3,
    });
    const price = readListedPrice(listed, NOW);
    const seen = [price, ...(price?.tiers ?? []).map(({ prices }) => prices)];
    expect(price?.tiers.map(({ aboveInputTokens }) => aboveInputTokens)).toEqual([200_000n, 500_000n]);
    expect(seen.map((prices) => prices?.inputPicos)).toEqual([3_000_000n, 6_000_000n, 7_000_000n]);
    expect(seen.map((prices) => prices?.outputPicos)).toEqual([15_000_000n, 22_500_000n, 22_500_000n]);
    expect(seen.map((prices) => prices?.cacheReadPicos)).toEqual([300_000n, 300_000n, 300_000n]);
  });

  test("gives the calls of tools that the upstream runs", () => {
    const listed = one({ input_mtok: 1, web_searches_kcount: 10, storage_searches_kcount: 2.5 });
    expect(readListedPrice(listed, NOW)?.tools).toEqual([
      { name: "web_search", callPicos: 10_000_000_000n },
      { name: "file_search", callPicos: 2_500_000_000n },
    ]);
  });

  test("gives each component that it names", () => {
    const named = {
      input_mtok: 1,
      cache_read_mtok: 2,
      cache_write_mtok: 3,
      cache_write_1h_mtok: 4,
      output_mtok: 5,
      output_reasoning_mtok: 6,
      input_image_mtok: 7,
      input_audio_mtok: 8,
      output_audio_mtok: 9,
      requests_kcount: 12,
    };
    expect(Object.values(readListedPrice(one(named), NOW) ?? {}).slice(0, 10)).toEqual([
      1_000_000n,
      2_000_000n,
      3_000_000n,
      4_000_000n,
      5_000_000n,
      6_000_000n,
      7_000_000n,
      8_000_000n,
      9_000_000n,
      12_000_000_000n,
    ]);
  });

  test.each([
    {
      name: "tiers: what a short prompt costs",
      listed: one({ input_mtok: { base: 5, tiers: [{ start: 1_000, price: 10 }] } }),
      want: 5_000_000n,
    },
    { name: "an embedding: no output", listed: one({ input_mtok: 0.02 }), want: 20_000n },
    {
      name: "searches: they do not hide the tokens",
      listed: one({ input_mtok: 2, web_searches_kcount: 10 }),
      want: 2_000_000n,
    },
    { name: "nothing: no price", listed: one({}), want: undefined },
    { name: "hours: no price", listed: one({ input_mtok: 1, audio_hours: 0.3 }), want: undefined },
    { name: "pages: no price", listed: one({ input_document_kpages: 1 }), want: undefined },
    { name: "what is no number: no price", listed: one({ input_mtok: Number.NaN }), want: undefined },
    { name: "less than nothing: no price", listed: one({ input_mtok: -1 }), want: undefined },
    { name: "no list: no price", listed: [], want: undefined },
  ])("with $name", ({ listed, want }) => {
    expect(readListedPrice(listed, NOW)?.inputPicos).toBe(want);
  });

  test("prices all output at the dearest kind, which a usage does not tell", () => {
    expect(readListedPrice(one({ input_mtok: 1, output_mtok: 2.5, output_image_mtok: 30 }), NOW)?.outputPicos).toBe(
      30_000_000n,
    );
  });

  test.each([
    { name: "before the new price", now: "2026-01-01T00:00:00Z", want: 3_000_000n },
    { name: "from its day on", now: "2026-06-01T00:00:00Z", want: 2_000_000n },
    { name: "when hours of the day differ, at the dearest of them", now: "2026-12-01T03:00:00Z", want: 5_000_000n },
  ])("changes by date: $name", ({ now, want }) => {
    const listed: ListedPrices[] = [
      { prices: { input_mtok: 3 } },
      { constraint: { start_date: "2026-06-01" }, prices: { input_mtok: 2 } },
      { constraint: { start_date: "2026-12-01" }, prices: { input_mtok: 4 } },
    ];
    const byHour: ListedPrices[] = [{ constraint: { start_time: "01:00:00Z" }, prices: { input_mtok: 5 } }];
    const all = now.startsWith("2026-12") ? [...listed, ...byHour] : listed;
    expect(readListedPrice(all, Date.parse(now))?.inputPicos).toBe(want);
  });
});

describe("a float", () => {
  test.each([
    { value: 0.075, want: 75_000n },
    { value: 0.1 + 0.2, want: 300_000n },
    { value: 1e-7, want: 1n },
    { value: 0.0000015, want: 2n },
    { value: 600, want: 600_000_000n },
    { value: 0, want: 0n },
    { value: 1e9, want: undefined },
    { value: Number.POSITIVE_INFINITY, want: undefined },
  ])("$value is $want pico-USD a token", ({ value, want }) => {
    expect(floatToUnits(value, 6)).toBe(want);
  });

  test("with at most six decimals is read exactly", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 999_999_999_999n), (units) => {
        const digits = units.toString().padStart(7, "0");
        expect(floatToUnits(Number(`${digits.slice(0, -6)}.${digits.slice(-6)}`), 6)).toBe(units);
      }),
    );
  });
});

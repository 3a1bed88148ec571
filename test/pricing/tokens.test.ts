/** Counting tokens, off the event loop and in bounded time, and estimating them. */
import { fc } from "../support/seeds.js";
import { countTokens as countDirectly } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, describe, expect, test } from "vitest";
import { cutRuns, estimateTokens } from "../../src/pricing/text-runs.js";
import { closeTokenCounter, countTokens, countTokensExactly } from "../../src/pricing/tokens.js";

afterAll(closeTokenCounter);

const PLAIN = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

const SENTENCE = "The gateway holds the most that a call can cost, then settles what it did cost. ";
const PROSE = SENTENCE + "It is exact. ".repeat(20);
const CODE = `export function add(a: number, b: number): number {\n    return a + b;\n}\n`;

describe("counting", () => {
  test.each([
    { name: "nothing", text: "", want: 0 },
    { name: "prose", text: PROSE, want: countDirectly(PROSE, PLAIN) },
    { name: "code", text: CODE, want: countDirectly(CODE, PLAIN) },
    {
      name: "other scripts",
      text: "今日は良い天気です。 Привет, мир! 👩‍🚀",
      want: countDirectly("今日は良い天気です。 Привет, мир! 👩‍🚀", PLAIN),
    },
    // As a command it would be one token, or an error.
    {
      name: "the name of a special token, as the text that it is",
      text: "say <|endoftext|> now",
      want: countDirectly("say <|endoftext|> now", PLAIN),
    },
  ])("counts $name exactly", async ({ text, want }) => {
    expect(await countTokens(text, "gpt-4o")).toBe(want);
    expect(await countTokensExactly(text, "o200k_base")).toBe(want);
  });

  test("answers many at once, each its own", async () => {
    const texts = Array.from({ length: 50 }, (_, i) => "word ".repeat(i + 1));
    expect(await Promise.all(texts.map((text) => countTokens(text, "gpt-4o")))).toEqual(
      texts.map((text) => countDirectly(text, PLAIN)),
    );
  });

  // The plain tokenizer takes minutes for each of these: its time grows with the square of a word.
  test.each([
    { name: "blanks", text: " ".repeat(1_000_000) },
    { name: "one letter", text: "a".repeat(1_000_000) },
    { name: "signs", text: "=".repeat(1_000_000) },
    { name: "one long word of another script", text: "語".repeat(200_000) },
  ])("takes bounded time for a megabyte of $name", async ({ text }) => {
    expect(await countTokens(text, "gpt-4o")).toBeGreaterThan(1_000);
  });

  test("gives up nothing in silence: what is too long is no exact count, and still counted about", async () => {
    const text = "word ".repeat(900_000);
    expect(await countTokensExactly(text, "o200k_base")).toBeUndefined();
    const tokens = await countTokens(text, "gpt-4o");
    expect(tokens).toBeGreaterThan(850_000);
    expect(tokens).toBeLessThan(1_000_000);
  });

  test("starts again after it was closed", async () => {
    await closeTokenCounter();
    const waiting = countTokens(PROSE, "gpt-4o");
    await closeTokenCounter();
    // Closed while it counted: the estimate answers.
    expect(await waiting).toBe(estimateTokens(PROSE));
    expect(await countTokens("again", "gpt-4o")).toBe(1);
  });
});

describe("cutting", () => {
  test("loses nothing, and cuts no character in two", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: "grapheme", maxLength: 3 }), fc.nat(600))), (runs) => {
        const text = runs.map(([unit, times]) => unit.repeat(times)).join("");
        const parts = cutRuns(text);
        expect(parts.join("")).toBe(text);
        for (const part of parts) expect(/^[\uDC00-\uDFFF]/.test(part)).toBe(false);
      }),
    );
  });

  test("leaves ordinary text whole, and cuts much of it nearly for nothing", async () => {
    expect(cutRuns(PROSE.repeat(20))).toHaveLength(1);
    const long = PROSE.repeat(1_000);
    expect(cutRuns(long).length).toBeGreaterThan(10);
    const direct = countDirectly(long, PLAIN);
    const counted = await countTokens(long, "gpt-4o");
    expect(counted).toBeGreaterThanOrEqual(direct);
    // One for each quarter of a million characters, where a word is cut.
    expect(counted).toBeLessThanOrEqual(direct + Math.ceil(long.length / 250_000));
  });
});

test.each([
  { name: "prose", text: PROSE, from: 0.9, to: 1.4 },
  { name: "code", text: CODE, from: 0.9, to: 1.6 },
  { name: "numbers", text: "1234 567 89 0.25", from: 0.8, to: 1.8 },
  { name: "Chinese", text: "今日は良い天気です。", from: 0.9, to: 2.2 },
])("the estimate of $name is near the count", ({ text, from, to }) => {
  const ratio = estimateTokens(text) / countDirectly(text, PLAIN);
  expect(ratio).toBeGreaterThanOrEqual(from);
  expect(ratio).toBeLessThanOrEqual(to);
});

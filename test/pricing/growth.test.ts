/** How much longer a text becomes where a tokenizer first writes it in its compatibility form. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import { growthBytes } from "../../src/pricing/input-bound.js";

const UNKNOWN_MODEL = "somebody-1";
/** Signs of every script, the ones that grow most among them. */
const sign = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  fc.constantFrom("\ufdfa", "\ufdfb", "\u3300", "\u{1f240}", "\u{1d160}", "\u0344", "a", "\u4e2d", "\u{1f600}"),
);
const text = fc.array(sign, { maxLength: 200 }).map((signs) => signs.join(""));

const grown = (said: string): number => Buffer.byteLength(said.normalize("NFKC")) - Buffer.byteLength(said);
const escaped = (json: string): string =>
  json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

describe("the growth of a body", () => {
  test("is at least that of its text, spelled in any way and wherever it is cut", () => {
    fc.assert(
      fc.property(text, fc.nat(5_000), (said, before) => {
        const json = JSON.stringify({ text: "x".repeat(before) + said });
        const want = grown(JSON.parse(json).text as string);
        expect(growthBytes(() => Buffer.from(json), UNKNOWN_MODEL)).toBeGreaterThanOrEqual(want);
        expect(growthBytes(() => Buffer.from(escaped(json)), UNKNOWN_MODEL)).toBeGreaterThanOrEqual(want);
      }),
    );
  });

  test.each([
    { name: "plain text", body: "x".repeat(10_000), want: 0 },
    { name: "text of signs that stay", body: "\u4e2d".repeat(10_000), want: 0 },
    { name: "a sign on the edge of a piece", body: `${"x".repeat(4_095)}\ufdfa`, want: 30 },
    { name: "an escape on the edge of a piece", body: `${"x".repeat(4_095)}\\ufdfa`, want: 30 },
    { name: "a picture beside a word", body: `\u00e4\u00bd${"iVBORw0K".repeat(1_000_000)}`, want: 3 },
  ])("of $name is $want", ({ body, want }) => {
    expect(growthBytes(() => Buffer.from(body), UNKNOWN_MODEL)).toBe(want);
  });

  test("of a long text is bounded by a constant for each byte, and looked at no further than it matters", () => {
    const body = Buffer.from("\ufdfa".repeat(2_000_000));
    expect(growthBytes(() => body, UNKNOWN_MODEL)).toBeGreaterThanOrEqual(10 * body.length - 100);
    expect(growthBytes(() => body, UNKNOWN_MODEL)).toBeLessThanOrEqual(10 * body.length + 40_960);
    expect(growthBytes(() => body, UNKNOWN_MODEL, undefined, 1_000)).toBeLessThanOrEqual(41_000);
    // What does not grow is taken to, beyond what is looked at sign by sign.
    expect(growthBytes(() => Buffer.from("\u4e2d".repeat(1_000_000)), UNKNOWN_MODEL)).toBeGreaterThan(20_000_000);
    const unread = (): Buffer => expect.unreachable("nothing is left to fill");
    expect(growthBytes(unread, UNKNOWN_MODEL, undefined, 0)).toBe(0);
    expect(growthBytes(unread, "gpt-4o")).toBe(0);
  });
});

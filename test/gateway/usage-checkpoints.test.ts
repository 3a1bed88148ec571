/** What a live stream notes is never more than it delivered, and never a thousand tokens less. */
import { fc } from "../support/seeds.js";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, expect, test } from "vitest";
import { NO_USAGE } from "../../src/api/usage.js";
import type { Usage } from "../../src/api/index.js";
import { UsageCheckpoints } from "../../src/gateway/usage-checkpoints.js";
import { closeTokenCounter, countTokens } from "../../src/pricing/tokens.js";
import { wire } from "../../src/wire/openai-chat/index.js";
import { GrowingText } from "../../src/wire/answer/growing-text.js";
import { bySweep } from "../support/sweep.js";

afterAll(closeTokenCounter);

const START_MS = 1_000;
const LOST_TOKENS_MAX = 1_000;
const INPUT_TOKENS_MAX = 1_000;
const MODEL = "gpt-5";
const CONTENT = "Say something.";
const body = Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: CONTENT }] }));
const request = wire.readRequest({ wire: wire.name, body, headers: {} });

interface Growth {
  readonly noted: Usage | undefined;
  /** What was noted before the tokenizer could answer. */
  readonly notedAtOnce: Usage | undefined;
  /** The most characters that were in memory at once. */
  readonly keptLengthMax: number;
  /** All that came, by count, and by the fewest tokens that it can be. */
  readonly output: number;
  readonly certain: number;
}

/** Lets an answer grow piece by piece, `stepMs` apart, and gives what was noted in the end. */
async function grow(pieces: readonly string[], nowMs: number, usage?: Usage, stepMs = 0): Promise<Growth> {
  let noted: Usage | undefined;
  const options = { request, modelId: MODEL, inputTokensMax: INPUT_TOKENS_MAX, accountId: "acme", startMs: START_MS };
  const notes = new UsageCheckpoints({ ...options, note: (what) => (noted = what) });
  const grown = new GrowingText();
  let keptLengthMax = 0;
  for (const [place, piece] of pieces.entries()) {
    grown.add(piece);
    notes.see({ usage, made: "begun", complete: false, text: grown.toString(), grown }, nowMs + place * stepMs);
    keptLengthMax = Math.max(keptLengthMax, grown.keptLength);
  }
  const notedAtOnce = noted;
  // The tokenizer answers in order, and the last note follows its count.
  await countTokens("the end", MODEL);
  await new Promise((resolve) => setImmediate(resolve));
  return {
    noted,
    notedAtOnce,
    keptLengthMax,
    output: (await notes.output(grown)).tokens,
    certain: notes.certainTokens,
  };
}

const SCRIPTS: Readonly<Record<string, readonly string[]>> = {
  prose: [" The", " ledger", " never", " forgets,", " and", " pays", " once.\n"],
  "no blanks": ["账本", "从不", "忘记，", "无论", "一次。"],
  pictures: ["🦊", "👩‍👩‍👧", "🏳️‍🌈", "🇪🇺"],
  "one letter": ["x"],
  blanks: ["  ", "\n", "\t"],
  digits: ["3", "14", "159"],
  "base 64": ["q83v", "EjRW+", "eJqr/", "zN3u="],
};

test.each(Object.entries(SCRIPTS))("%s: within a thousand tokens, and never more", async (_, words) => {
  const property = fc.asyncProperty(
    fc.array(fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 120 }),
    // At once, or so slowly that it is also noted every few pieces.
    fc.constantFrom(0, 700),
    async (batches, stepMs) => {
      const pieces = batches.map((batch) => batch.join(""));
      const noted = Number((await grow(pieces, START_MS, undefined, stepMs)).noted?.outputTokens ?? 0n);
      const delivered = encode(pieces.join("")).length;
      expect(noted).toBeLessThanOrEqual(delivered);
      // What came with the last piece may not be noted yet.
      const last = encode(pieces.at(-1) ?? "").length;
      expect(delivered - noted).toBeLessThanOrEqual(LOST_TOKENS_MAX + last);
    },
  );
  await fc.assert(property, { numRuns: bySweep({ short: 10, long: 25, all: 25 }) });
});

test.each([
  { name: "nothing read while the stream is young", nowMs: START_MS + 1_999, usage: undefined, input: undefined },
  { name: "what was read by count", nowMs: START_MS + 2_000, usage: undefined, input: encode(CONTENT).length + 4 + 2 },
  {
    name: "what was read as it was told",
    nowMs: START_MS + 2_000,
    usage: { ...NO_USAGE, inputTokens: 40n, cacheReadTokens: 7n, outputTokens: 1n },
    input: 40,
  },
])("notes $name", async ({ nowMs, usage, input }) => {
  const { noted } = await grow([" word".repeat(10)], nowMs, usage);
  expect(noted?.inputTokens).toBe(input === undefined ? undefined : BigInt(input));
  expect(noted?.cacheReadTokens).toBe(input === undefined ? undefined : (usage?.cacheReadTokens ?? 0n));
});

test("a short answer is noted without the tokenizer", async () => {
  const { noted, notedAtOnce } = await grow([" word".repeat(40), " more"], START_MS + 2_000);
  // The last word may still grow.
  expect(notedAtOnce?.outputTokens).toBe(39n);
  expect(noted).toEqual(notedAtOnce);
});

test.each([...Object.entries(SCRIPTS), ["signs that are a token each", ["1,", "2;", "3,"]] as const])(
  "%s: of a text of any length only the end is kept",
  async (_, words) => {
    const pieces = Array.from({ length: 30_000 }, (__, place) => words[place % words.length] ?? "");
    const grown = await grow(pieces, START_MS);
    expect(grown.keptLengthMax).toBeLessThan(20_000);
    expect(grown.output).toBeGreaterThanOrEqual(grown.certain);
  },
);

test("what was counted piece by piece and forgotten is counted as the whole text is", async () => {
  const words = SCRIPTS["prose"] ?? [];
  const pieces = Array.from({ length: 3_000 }, (_, place) => words[place % words.length] ?? "");
  expect((await grow(pieces, START_MS)).output).toBe(encode(pieces.join("")).length);
});

test.each([
  { name: "thinks in secret", made: "begun", nonTextTokens: undefined, noted: true },
  { name: "made a picture", made: "content", nonTextTokens: 1_056, noted: true },
  { name: "only said that it will begin", made: "nothing", nonTextTokens: undefined, noted: false },
] as const)("an answer that $name is noted by its input, once, and by what came", (row) => {
  const noted: Usage[] = [];
  const options = { request, modelId: MODEL, inputTokensMax: INPUT_TOKENS_MAX, accountId: "acme", startMs: START_MS };
  const notes = new UsageCheckpoints({ ...options, note: (what) => noted.push(what) });
  const report = {
    usage: undefined,
    made: row.made,
    complete: false,
    text: "",
    grown: new GrowingText(),
    ...(row.nonTextTokens === undefined ? {} : { nonTextTokens: row.nonTextTokens }),
  };
  for (const afterMs of [10, 1_999, 2_000, 2_100, 9_000]) notes.see(report, START_MS + afterMs);
  expect(noted.length).toBe(row.noted ? 1 : 0);
  if (!row.noted) return;
  expect(noted[0]?.inputTokens).toBeGreaterThan(0n);
  expect(noted[0]?.outputTokens).toBe(BigInt(row.nonTextTokens ?? 0));
});

/** Whatever an answer tells of itself, it costs no more than what its request allowed, and the lie has a name. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import type { Price, Usage } from "../../src/api/index.js";
import { NO_USAGE, USAGE_FIELDS } from "../../src/api/usage.js";
import { billOf } from "../../src/gateway/bill.js";
import { chargeOf, type Ending } from "../../src/gateway/charge.js";
import { ceilingNanos } from "../../src/pricing/ceiling.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import { wire as openAiEmbeddings } from "../../src/wire/openai-embeddings/index.js";
import type { AnswerReport, WireRequest } from "../../src/wire/wire.js";
import { FREE } from "../pricing/prices.js";
import { priceOf } from "../pricing/prices.js";

const TIERED = priceOf({ input: 3_000n, output: 15_000n });
const PRICE: Price = {
  ...TIERED,
  tiers: [{ aboveInputTokens: 200n, prices: priceOf({ input: 6_000n, output: 22_000n }) }],
  serviceTiers: [{ name: "priority", prices: priceOf({ input: 30_000n, output: 90_000n }), tiers: [] }],
  tools: [
    { name: "web_search", callPicos: 10_000_000n },
    { name: "file_search", callPicos: 2_000_000n },
  ],
};
const DEAR = priceOf({ input: 900_000n, output: 900_000n });
const OUTPUT_TOKENS_MAX = 100;
const INPUT_TOKENS_MAX = 300;

const chat = (more: object = {}): WireRequest =>
  openAiChat.readRequest({
    wire: "openai-chat",
    body: Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], ...more })),
    headers: {},
  });
const REQUESTS = [
  { name: "a plain one", request: chat() },
  { name: "one in a tier of its own", request: chat({ service_tier: "priority" }) },
  { name: "one that may search", request: chat({ web_search_options: {} }) },
  {
    name: "one of vectors",
    request: openAiEmbeddings.readRequest({
      wire: "openai-embeddings",
      body: Buffer.from('{"model":"m","input":["hi","ho"]}'),
      headers: {},
    }),
  },
];

/** Counts as they may be, at the bounds, and as far beyond as a wire lets through. */
const count = fc.oneof(
  fc.constantFrom(0n, 1n, 100n, 101n, 300n, 301n, 1_000_000_000_000n),
  fc.bigInt({ min: 0n, max: 1_000n }),
);
const usages: fc.Arbitrary<Usage> = fc
  .tuple(...USAGE_FIELDS.map(() => count))
  .map((counts) => Object.assign({}, NO_USAGE, ...USAGE_FIELDS.map((field, at) => ({ [field]: counts[at] }))));
const reports: fc.Arbitrary<AnswerReport> = fc.record({
  made: fc.constantFrom("begun", "content"),
  usage: usages,
  complete: fc.boolean(),
  text: fc.constantFrom("", "hello"),
  serviceTier: fc.constantFrom("", "default", "priority", "turbo"),
  toolUses: fc.option(
    fc.uniqueArray(fc.record({ name: fc.constantFrom("web_search", "file_search", "oracle"), calls: count }), {
      selector: ({ name }) => name,
    }),
    { nil: undefined },
  ),
  rounds: fc.option(
    fc.record({ countMax: fc.constantFrom(2, 1_000), usages: fc.option(fc.array(usages), { nil: undefined }) }),
    { nil: undefined },
  ),
});
const answers = fc.constantFrom(undefined, { price: DEAR, cost: DEAR }, { price: undefined, cost: undefined });
const endings = fc.constantFrom<Ending>("finished", "left", "failed");

describe.each(REQUESTS)("whatever is told of $name", ({ request }) => {
  const { serviceTier = "", toolCallsMax = [], roundsMax = 1 } = request.facts;
  const bounds = {
    inputTokensMax: INPUT_TOKENS_MAX,
    outputTokensMax: OUTPUT_TOKENS_MAX,
    candidateCount: 1,
    serviceTier,
    toolCallsMax,
  };
  const heldNanos = ceilingNanos(bounds, PRICE);
  const inputMost = roundsMax === 1 ? INPUT_TOKENS_MAX : (INPUT_TOKENS_MAX + OUTPUT_TOKENS_MAX) * roundsMax;
  const mostNanos = ceilingNanos({ ...bounds, inputTokensMax: inputMost }, PRICE);

  test("it costs what the request allowed at most", async () => {
    await fc.assert(
      fc.asyncProperty(reports, answers, endings, async (report, answered, ending) => {
        const charge = await chargeOf(report, ending, {
          request,
          modelId: "gpt-4o",
          contextTokens: 0,
          inputTokensMax: INPUT_TOKENS_MAX,
          price: FREE,
          accountId: "acme",
          outputTokensMax: OUTPUT_TOKENS_MAX,
        });
        const plan = { serviceTier, toolCallsMax };
        const bill = billOf(charge.usage, report, { price: PRICE, cost: PRICE, plan, heldNanos, answered });
        expect(bill.costNanos).toBeLessThanOrEqual(mostNanos);
        if (answered === undefined && !isAsked(report, serviceTier)) expect(bill.doubt).toBe("other_tier");
      }),
      { numRuns: 1_000 },
    );
  });
});

function isAsked({ serviceTier = "" }: AnswerReport, asked: string): boolean {
  return serviceTier === "" || (serviceTier === "default" ? "" : serviceTier) === asked;
}

/** Each figure that reaches a price, one above what a request without tools allows. */
const BEYOND = [
  { figure: "input", usage: { inputTokens: 301n }, doubt: "above_input" },
  { figure: "a cache's reading", usage: { cacheReadTokens: 301n }, doubt: "above_input" },
  { figure: "a cache's writing", usage: { cacheWriteTokens: 301n }, doubt: "above_input" },
  { figure: "a cache's writing for an hour", usage: { cacheWrite1hTokens: 301n }, doubt: "above_input" },
  { figure: "pictures", usage: { imageTokens: 301n }, doubt: "above_input" },
  { figure: "sound", usage: { audioInputTokens: 301n }, doubt: "above_input" },
  { figure: "all that was read", usage: { inputTokens: 200n, cacheReadTokens: 101n }, doubt: "above_input" },
  { figure: "output", usage: { inputTokens: 9n, outputTokens: 101n }, doubt: "above_limit" },
  { figure: "reasoning", usage: { inputTokens: 9n, reasoningTokens: 101n }, doubt: "above_limit" },
  { figure: "spoken output", usage: { inputTokens: 9n, audioOutputTokens: 101n }, doubt: "above_limit" },
] as const;

test.each(BEYOND)("one token too many of $figure is not charged, and named", async ({ usage: told, doubt }) => {
  const usage = { ...NO_USAGE, outputTokens: 1n, ...told };
  const report: AnswerReport = { made: "content", usage, complete: true, text: "hello" };
  const charge = await chargeOf(report, "finished", {
    request: chat(),
    modelId: "gpt-4o",
    contextTokens: 1_000,
    inputTokensMax: INPUT_TOKENS_MAX,
    price: FREE,
    accountId: "acme",
    outputTokensMax: OUTPUT_TOKENS_MAX,
  });
  expect(charge.doubt).toBe(doubt);
  const total = (one: Usage): bigint => USAGE_FIELDS.reduce((sum, field) => sum + one[field], 0n);
  expect(total(charge.usage)).toBeLessThan(total(usage));
});

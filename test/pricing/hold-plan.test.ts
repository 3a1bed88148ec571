/** What a request may cost before it runs: by its bytes, by a count of its input, and by what was held for it. */
import { fc } from "../support/seeds.js";
import { afterAll, describe, expect, test } from "vitest";
import type { Price } from "../../src/api/index.js";
import { ceilingNanos } from "../../src/pricing/ceiling.js";
import { IMAGE_TOKENS_MAX } from "../../src/pricing/input-bound.js";
import { type Plan, planByBytes, type PlanQuestion } from "../../src/pricing/hold-plan.js";
import { countInput } from "../../src/pricing/request-tokens.js";
import { closeTokenCounter } from "../../src/pricing/tokens.js";
import { wire } from "../../src/wire/openai-chat/index.js";
import type { WireRequest } from "../../src/wire/wire.js";
import { FREE, priceOf } from "./prices.js";

afterAll(() => closeTokenCounter());

/** Counted by a tokenizer that we have. */
const COUNTED = "gpt-4o";
const PRICE = priceOf({ input: 3_000_000n, output: 15_000_000n });
const OUTPUT_TOKENS_MAX = 4_096;

interface Asked {
  readonly body?: object;
  readonly content?: unknown;
  readonly models?: readonly string[];
  readonly isClose?: boolean;
  readonly price?: Price;
  readonly outputTokensMax?: number;
  readonly modelTokensMax?: number;
  readonly contextTokens?: number;
  readonly limitIsSent?: boolean;
  readonly mayClamp?: boolean;
}

function requestOf({ content = "Hi", body = {} }: Asked): WireRequest {
  const said = { model: "m", messages: [{ role: "user", content }], ...body };
  return wire.readRequest({ wire: wire.name, body: Buffer.from(JSON.stringify(said)), headers: {} }, "generate");
}

function questionOf(asked: Asked): PlanQuestion {
  const { models = [COUNTED], isClose: tokenizerIsClose = true, price = PRICE } = asked;
  const { modelTokensMax: outputTokensMax = OUTPUT_TOKENS_MAX, contextTokens = 0 } = asked;
  const targets = models.map((model) => ({ model, served: { family: { tokenizerIsClose } } }));
  return {
    request: requestOf(asked),
    model: { price, contextTokens, outputTokensMax, targets },
    outputTokensMax: asked.outputTokensMax,
    limitIsSent: asked.limitIsSent ?? true,
    mayClamp: asked.mayClamp ?? true,
    accountId: "acme",
  };
}

function planOf(asked: Asked = {}): Plan {
  return planByBytes(questionOf(asked));
}

const PICTURE = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }];

test.each<{ name: string; asked: Asked; want: number | undefined }>([
  { name: "the model's own where none is asked", asked: {}, want: OUTPUT_TOKENS_MAX },
  { name: "what the body asks", asked: { body: { max_tokens: 100 } }, want: 100 },
  { name: "no more than the model can", asked: { body: { max_tokens: 10_000 } }, want: OUTPUT_TOKENS_MAX },
  { name: "what stands beside the body", asked: { body: { max_tokens: 100 }, outputTokensMax: 50 }, want: 50 },
  {
    name: "what is asked of a model without a limit",
    asked: { body: { max_tokens: 100 }, modelTokensMax: 0 },
    want: 100,
  },
  { name: "none for a free model without a limit", asked: { modelTokensMax: 0, price: FREE }, want: undefined },
])("the limit of output is $name", ({ asked, want }) => {
  expect(planOf(asked).outputTokensMax).toBe(want);
});

test("a limit that is not sent to all targets is only sent: the hold is by the model's own, and is not lowered", () => {
  const asked = { body: { max_tokens: 100 }, limitIsSent: false };
  const plan = planOf(asked);
  expect(plan.outputTokensMax).toBe(OUTPUT_TOKENS_MAX);
  expect(plan.leastNanos).toBe(plan.amountNanos);
  expect(plan.sentOutputTokens(plan.coveredOutputTokens(plan.amountNanos))).toBe(100);
  expect(planOf({ ...asked, outputTokensMax: 50 }).outputTokensMax).toBe(OUTPUT_TOKENS_MAX);
  expect(planOf({ ...asked, modelTokensMax: 0, price: FREE }).outputTokensMax).toBeUndefined();
});

test("an amount covers all candidates, and the tokens of a minute count them too", () => {
  const [one, three] = [planOf({ body: { max_tokens: 100 } }), planOf({ body: { max_tokens: 100, n: 3 } })];
  expect(three.candidateCount).toBe(3);
  const input = BigInt(three.inputTokensMax - one.inputTokensMax);
  expect(three.amountNanos - one.amountNanos).toBe((input * 3_000_000n + 200n * 15_000_000n) / 1_000n);
  expect(three.tokens).toBe(three.inputTokensMax + 300);
});

test("a template of tools is in the hold, and not in the client's limits", () => {
  const tools = [{ type: "function", function: { name: "f", parameters: {} } }];
  const plan = planOf({ body: { tools, max_tokens: 1 } });
  expect(plan.inputTokensMax - (plan.tokens - 1)).toBe(1_024);
});

test("the dearest of the targets counts", () => {
  const [dear, cheap] = [planOf({ content: PICTURE, models: ["gpt-4o-mini"] }), planOf({ content: PICTURE })];
  expect(dear.inputTokensMax).toBeGreaterThan(IMAGE_TOKENS_MAX);
  expect(cheap.inputTokensMax).toBeLessThan(IMAGE_TOKENS_MAX);
  expect(planOf({ content: PICTURE, models: [COUNTED, "gpt-4o-mini"] }).inputTokensMax).toBe(dear.inputTokensMax);
});

describe("the least that will do", () => {
  test.each([
    { name: "pays 256 tokens where the limit may be lowered", mayClamp: true, asked: 4_000, tokens: 256 },
    { name: "pays all of a shorter answer", mayClamp: true, asked: 100, tokens: 100 },
    { name: "is the amount where it may not", mayClamp: false, asked: 4_000, tokens: 4_000 },
  ])("$name", ({ mayClamp, asked, tokens }) => {
    const plan = planOf({ mayClamp, body: { max_tokens: asked } });
    const { inputTokensMax, candidateCount } = plan;
    expect(plan.leastNanos).toBe(ceilingNanos({ inputTokensMax, outputTokensMax: tokens, candidateCount }, PRICE));
    expect(plan.amountNanos >= plan.leastNanos).toBe(true);
  });
});

describe("what a hold covers", () => {
  test("is all that was asked where it is the amount", () => {
    const plan = planOf();
    expect(plan.coveredOutputTokens(plan.amountNanos)).toBe(OUTPUT_TOKENS_MAX);
    expect(planOf({ modelTokensMax: 0, price: FREE }).coveredOutputTokens(0n)).toBeUndefined();
  });

  test("costs at most the hold, and one token more would not", () => {
    const cases = fc.record({
      limit: fc.integer({ min: 1, max: 100_000 }),
      candidates: fc.integer({ min: 1, max: 8 }),
      output: fc.bigInt({ min: 1n, max: 50_000_000n }),
      share: fc.integer({ min: 0, max: 100 }),
    });
    fc.assert(
      fc.property(cases, ({ limit, candidates, output, share }) => {
        const price = priceOf({ input: 3_000_000n, output });
        const plan = planOf({ body: { max_tokens: limit, n: candidates }, price, modelTokensMax: 100_000 });
        const heldNanos = plan.leastNanos + ((plan.amountNanos - plan.leastNanos) * BigInt(share)) / 100n;
        const covered = plan.coveredOutputTokens(heldNanos) ?? 0;
        const costOf = (outputTokensMax: number): bigint =>
          ceilingNanos({ inputTokensMax: plan.inputTokensMax, outputTokensMax, candidateCount: candidates }, price);
        expect(costOf(covered) <= heldNanos).toBe(true);
        expect(covered === limit || costOf(covered + 1) > heldNanos).toBe(true);
        expect(covered).toBeGreaterThanOrEqual(Math.min(limit, 256));
      }),
      { numRuns: 500 },
    );
  });
});

describe("by a count of the input", () => {
  const TEXT = "今天天气很好，我们去公园。".repeat(50);

  test("a plan is lower than by bytes, and still above what the request has", async () => {
    const plan = planOf({ content: TEXT });
    const counted = await plan.byCount();
    expect(counted?.inputTokensMax).toBeLessThan(plan.inputTokensMax);
    expect(counted?.inputTokensMax).toBeGreaterThan(await countInput(requestOf({ content: TEXT }), COUNTED));
    expect(counted && counted.amountNanos < plan.amountNanos).toBe(true);
    expect(counted?.outputTokensMax).toBe(plan.outputTokensMax);
  });

  test("the dearest of the targets counts here too", async () => {
    const [one, other] = await Promise.all(
      [["gpt-4o"], ["gpt-4"]].map((models) => planOf({ content: TEXT, models }).byCount()),
    );
    expect(other?.inputTokensMax).toBeGreaterThan(one?.inputTokensMax ?? Infinity);
    const both = await planOf({ content: TEXT, models: ["gpt-4o", "gpt-4"] }).byCount();
    expect(both?.inputTokensMax).toBe(other?.inputTokensMax);
  });

  test.each<{ name: string; asked: Asked }>([
    { name: "the family's tokenizer is another", asked: { content: TEXT, isClose: false } },
    {
      name: "one of the targets has a tokenizer that nobody knows",
      asked: { content: TEXT, models: [COUNTED, "x-1"] },
    },
    { name: "a picture came", asked: { content: PICTURE } },
    { name: "the count is no lower", asked: { content: TEXT, contextTokens: 100 } },
  ])("there is none where $name", async ({ asked }) => {
    expect(await planOf(asked).byCount()).toBeUndefined();
  });

  test("there is none a second time", async () => {
    const counted = await planOf({ content: TEXT }).byCount();
    expect(counted).toBeDefined();
    expect(await counted?.byCount()).toBeUndefined();
  });
});

test("of a body that fills the context by its bytes nothing more is looked at", () => {
  const question = questionOf({ content: "\ufdfa".repeat(1_000), models: ["nobody-knows-1"], contextTokens: 2_000 });
  const { source } = question.request;
  if (source === undefined) throw new Error("it came as bytes");
  const looked = { ...source, body: source.body };
  Object.defineProperty(looked, "body", { get: () => expect.unreachable("the body is looked at") });
  const request: WireRequest = { facts: question.request.facts, source: looked, prompt: () => expect.unreachable() };
  expect(planByBytes({ ...question, request }).inputTokensMax).toBe(2_000);
});

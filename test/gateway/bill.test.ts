/** What an answer tells of itself decides what it costs. */
import { describe, expect, test } from "vitest";
import type { Price } from "../../src/api/index.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { families } from "../../src/families/index.js";
import { askedOf, type BillTerms, billOf } from "../../src/gateway/bill.js";
import type { Plan } from "../../src/pricing/hold-plan.js";
import type { Target } from "../../src/routing/model.js";
import type { HostedTool } from "../../src/wire/request/hosted-tools.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as openAiResponses } from "../../src/wire/openai-responses/index.js";
import type { AnswerReport } from "../../src/wire/wire.js";
import { FREE, priceOf } from "../pricing/prices.js";

// One nano-USD a token, three in the priority tier, half of it in flex.
const PRICE: Price = {
  ...priceOf({ input: 1_000n, output: 1_000n }),
  serviceTiers: [
    { name: "priority", prices: priceOf({ input: 3_000n, output: 3_000n }), tiers: [] },
    { name: "flex", prices: priceOf({ input: 500n, output: 500n }), tiers: [] },
  ],
  tools: [
    { name: "web_search", callPicos: 10_000_000n },
    { name: "file_search", callPicos: 2_000_000n },
  ],
};
const DEAR = priceOf({ input: 20_000n, output: 20_000n });
const USAGE = { ...NO_USAGE, inputTokens: 60n, outputTokens: 40n };
const TERMS: BillTerms = {
  price: PRICE,
  cost: priceOf({ input: 400n, output: 400n }),
  plan: { serviceTier: "", toolCallsMax: [] },
  heldNanos: 100_000n,
  answered: undefined,
};

function reportOf(told: Partial<AnswerReport>): AnswerReport {
  return { usage: USAGE, complete: true, text: "hi", made: "content", ...told };
}
const uses = (calls: Readonly<Record<string, number>>) =>
  Object.entries(calls).map(([name, count]) => ({ name, calls: BigInt(count) }));

interface Row {
  readonly name: string;
  readonly told?: Partial<AnswerReport>;
  readonly terms?: Partial<BillTerms>;
  readonly costs: bigint;
  readonly doubt?: string;
}

const asked = (serviceTier: string, calls: Readonly<Record<string, number>> = {}): Partial<BillTerms> => ({
  plan: { serviceTier, toolCallsMax: uses(calls) },
});

const ROWS: readonly Row[] = [
  { name: "as it was asked", costs: 100n },
  { name: "in the ordinary tier by any of its names", told: { serviceTier: "default" }, costs: 100n },
  { name: "in the tier that was asked", told: { serviceTier: "priority" }, terms: asked("priority"), costs: 300n },
  { name: "in the tier that was asked, untold", terms: asked("priority"), costs: 300n },
  {
    name: "in the ordinary tier, although priority was asked",
    told: { serviceTier: "default" },
    terms: asked("priority"),
    costs: 100n,
    doubt: "other_tier",
  },
  { name: "in a tier that nobody asked", told: { serviceTier: "priority" }, costs: 300n, doubt: "other_tier" },
  { name: "in a tier without a price", told: { serviceTier: "turbo" }, costs: 100n, doubt: "other_tier" },
  {
    name: "in a tier without a price, at the dearest that was held",
    told: { serviceTier: "turbo" },
    terms: asked("priority"),
    costs: 300n,
    doubt: "other_tier",
  },
  {
    name: "in a tier without a price, at the dearest also where that is the ordinary one",
    told: { serviceTier: "turbo" },
    terms: asked("flex"),
    costs: 100n,
    doubt: "other_tier",
  },
  {
    name: "with the searches that were made, not those that were held",
    told: { toolUses: uses({ web_search: 2 }) },
    terms: asked("", { web_search: 5 }),
    costs: 100n + 20_000n,
  },
  {
    name: "with one call of each tool that was asked, where it cannot tell",
    terms: asked("", { web_search: 5, file_search: 9 }),
    costs: 12_100n,
  },
  {
    name: "without a call, where nothing came",
    told: { made: "nothing" },
    terms: asked("", { web_search: 5 }),
    costs: 100n,
  },
  {
    name: "with no more searches than were held",
    told: { toolUses: uses({ web_search: 6 }) },
    terms: asked("", { web_search: 5 }),
    costs: 50_100n,
    doubt: "other_tool",
  },
  {
    name: "without a tool that nobody asked",
    told: { toolUses: uses({ file_search: 1 }) },
    costs: 100n,
    doubt: "other_tool",
  },
  {
    name: "with a tool without a price, at the dearest that was held",
    told: { toolUses: uses({ oracle: 1 }) },
    terms: asked("", { file_search: 1, web_search: 1 }),
    costs: 10_100n,
    doubt: "other_tool",
  },
  {
    name: "with a tool without a price alone",
    told: { toolUses: uses({ oracle: 9 }) },
    costs: 100n,
    doubt: "other_tool",
  },
  {
    name: "by another model with a price",
    terms: { answered: { price: DEAR, cost: undefined } },
    costs: 2_000n,
    doubt: "other_model",
  },
  {
    name: "by another model without one",
    terms: { answered: { price: undefined, cost: undefined } },
    costs: 100n,
    doubt: "other_model",
  },
  {
    name: "by another model, up to what was held",
    terms: { answered: { price: DEAR, cost: undefined }, heldNanos: 500n },
    costs: 500n,
    doubt: "other_model",
  },
  {
    name: "in a tier that nobody asked, up to what was held",
    told: { serviceTier: "priority" },
    terms: { heldNanos: 150n },
    costs: 150n,
    doubt: "other_tier",
  },
  {
    name: "by another model, as the asked one where that is above what was held",
    terms: { answered: { price: DEAR, cost: undefined }, heldNanos: 50n },
    costs: 100n,
    doubt: "other_model",
  },
  {
    name: "with a tool of another name, as far as calls are left",
    told: { toolUses: uses({ web_search: 4, oracle: 9 }) },
    terms: asked("", { web_search: 5 }),
    costs: 50_100n,
    doubt: "other_tool",
  },
  {
    name: "by another model that is free",
    terms: { answered: { price: FREE, cost: undefined } },
    costs: 0n,
    doubt: "other_model",
  },
];

describe("an answer is charged", () => {
  test.each(ROWS)("$name", ({ told = {}, terms = {}, costs, doubt }) => {
    const bill = billOf(USAGE, reportOf(told), { ...TERMS, ...terms });
    expect(bill.costNanos).toBe(costs);
    expect(bill.doubt).toBe(doubt);
  });
});

test.each([
  { name: "at its own price for the target", terms: {}, want: 40n },
  { name: "not at all where nobody knows it", terms: { cost: undefined }, want: undefined },
  { name: "as the other model's", terms: { answered: { price: undefined, cost: DEAR } }, want: 2_000n },
])("the operator's cost is known beside it: $name", ({ terms, want }) => {
  expect(billOf(USAGE, reportOf({}), { ...TERMS, ...terms }).operatorCostNanos).toBe(want);
});

describe("an answer of several rounds is charged by the length of each", () => {
  // One nano-USD a token up to 100 tokens of input, ten above.
  const tiered: Price = {
    ...priceOf({ input: 1_000n, output: 1_000n }),
    tiers: [{ aboveInputTokens: 100n, prices: priceOf({ input: 10_000n, output: 10_000n }) }],
  };
  const body = (usage: object, calls: number): Buffer =>
    Buffer.from(
      JSON.stringify({
        id: "m",
        type: "message",
        role: "assistant",
        content: [
          ...Array.from({ length: calls }, (_, at) => ({ type: "server_tool_use", id: `s${at}`, name: "web_search" })),
          { type: "text", text: "hi" },
        ],
        usage,
      }),
    );
  const round = (input: number, output: number): object => ({ input_tokens: input, output_tokens: output });

  test.each([
    { name: "one round, at its tier", usage: round(240, 10), calls: 0, costs: 2_500n },
    {
      name: "four short rounds, told one by one",
      usage: { ...round(60, 5), iterations: [round(50, 5), round(60, 5), round(65, 5), round(65, 5)] },
      calls: 3,
      costs: 260n,
    },
    {
      name: "a short and a long round, told one by one",
      usage: { ...round(200, 5), iterations: [round(40, 5), round(200, 5)] },
      calls: 1,
      costs: 45n + 2_050n,
    },
    { name: "only their sum, which short rounds can be", usage: round(240, 20), calls: 3, costs: 260n },
    { name: "only their sum, of which one must be long", usage: round(240, 20), calls: 1, costs: 2_600n },
  ])("$name", ({ usage, calls, costs }) => {
    const { report } = anthropic.decodeAnswer(body(usage, calls));
    const plan = { serviceTier: "", toolCallsMax: [] };
    const told = { ...TERMS, price: { ...tiered, tools: [{ name: "web_search", callPicos: 0n }] }, plan };
    expect(billOf(report.usage ?? NO_USAGE, report, told).costNanos).toBe(costs);
  });

  test("a sum of OpenAI's, behind searches that it ran", () => {
    const search = { type: "web_search_call", status: "completed", action: { type: "search" } };
    const answer = {
      id: "r",
      object: "response",
      status: "completed",
      output: [search, search],
      usage: round(240, 20),
    };
    const { report } = openAiResponses.decodeAnswer(Buffer.from(JSON.stringify(answer)));
    expect(billOf(report.usage ?? NO_USAGE, report, { ...TERMS, price: tiered }).costNanos).toBe(260n);
  });
});

test("a typed request is charged the tools of its target's wire alone: others never reach it", () => {
  const rest = { place: undefined, callsMax: 3, isMember: false, isOfferedUnasked: false, end: 0 };
  const tool = (name: string, wire: string): HostedTool => ({
    ...rest,
    name,
    kind: "priced",
    param: `tools.${name}`,
    wire,
  });
  const hosted = [tool("web_search", "anthropic"), tool("file_search", "openai-responses")];
  const request = { source: undefined, hosted } as unknown as Parameters<typeof askedOf>[1]["request"];
  const plan = { serviceTier: "", toolCallsMax: uses({ web_search: 3, file_search: 3 }) } as unknown as Plan;
  const asked = (family: string): readonly string[] => {
    const target = { served: { family: families.find(({ name }) => name === family) } } as unknown as Target;
    return askedOf(target, { plan, request, kind: "chat" }).toolCallsMax.map(({ name }) => name);
  };
  expect([asked("anthropic"), asked("deepseek")]).toEqual([["web_search"], []]);
});

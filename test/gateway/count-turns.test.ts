/**
 * Whoever counts tokens for a request counts for its account, and a settlement counts beside all that is only asked: a
 * tenant whose texts fill the queue makes nobody else's count an estimate, and no settlement of its own.
 */
import { afterAll, expect, test } from "vitest";
import { planOf } from "../../src/gateway/admission.js";
import { chargeOf } from "../../src/gateway/charge.js";
import { UsageCheckpoints } from "../../src/gateway/usage-checkpoints.js";
import type { CountLane } from "../../src/pricing/token-counter.js";
import { planByBytes } from "../../src/pricing/hold-plan.js";
import { closeTokenCounter, countTokens } from "../../src/pricing/tokens.js";
import { wire } from "../../src/wire/openai-chat/index.js";
import { GrowingText } from "../../src/wire/answer/growing-text.js";
import { priceOf } from "../pricing/prices.js";
import { FREE } from "../pricing/prices.js";
import { askedOf, openPipeline } from "./pipeline.js";

afterAll(closeTokenCounter);

const MODEL = "gpt-4o";
/** An estimate of it is far from its count. */
const TEXT = "今天天气很好，我们去公园。".repeat(40);
const INPUT_TOKENS_MAX = 100_000;
/** More than one account may have waiting in either lane. */
const JOBS = 1_100;

const body = Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: TEXT }], max_tokens: 9 }));
const request = wire.readRequest({ wire: wire.name, body, headers: {} }, "generate");

/** Who counts, in which lane, and what it makes of the text; undefined where nobody could count it. */
interface Counter {
  readonly who: string;
  readonly lane: CountLane;
  readonly count: (account: string) => Promise<unknown>;
}

const asked = { price: FREE, request, modelId: MODEL, inputTokensMax: INPUT_TOKENS_MAX };

async function charged(accountId: string, side: "inputTokens" | "outputTokens"): Promise<bigint> {
  const report = { usage: undefined, made: "content", complete: true, text: TEXT } as const;
  const { usage } = await chargeOf(report, "finished", { ...asked, accountId, contextTokens: INPUT_TOKENS_MAX });
  return usage[side];
}

const COUNTERS: readonly Counter[] = [
  {
    who: "a hold",
    lane: "question",
    count: async (accountId) => {
      const targets = [{ model: MODEL, served: { family: { tokenizerIsClose: true } } }];
      const model = { price: priceOf({ input: 1n, output: 1n }), contextTokens: 0, outputTokensMax: 9, targets };
      const plan = planByBytes({
        request,
        model,
        outputTokensMax: undefined,
        limitIsSent: true,
        mayClamp: true,
        accountId,
      });
      return (await plan.byCount())?.inputTokensMax;
    },
  },
  { who: "the input of an answer without a report", lane: "settlement", count: (id) => charged(id, "inputTokens") },
  { who: "the output of an answer without a report", lane: "settlement", count: (id) => charged(id, "outputTokens") },
  {
    who: "a live stream",
    lane: "settlement",
    count: (accountId) => {
      const notes = new UsageCheckpoints({ ...asked, accountId, startMs: 0, note: () => undefined });
      const grown = new GrowingText();
      grown.add(TEXT);
      return notes.output(grown);
    },
  },
];

/** As many texts of the account as the lane takes, and more. */
function fill(account: string, lane: CountLane): Promise<unknown> {
  return Promise.all(Array.from({ length: JOBS }, () => countTokens("Some words.", MODEL, { account, lane })));
}

/** What one makes of the text while those lanes are full of an account's. */
async function beside(
  { count }: Counter,
  full: { readonly account: string; readonly lanes: readonly CountLane[] },
  counted: string,
): Promise<unknown> {
  const filling = full.lanes.map((lane) => fill(full.account, lane));
  const found = await count(counted);
  await Promise.all(filling);
  return found;
}

async function alone({ count }: Counter): Promise<unknown> {
  const found = await count("quiet");
  return found ?? expect.unreachable("nobody counted");
}

const LANES: readonly CountLane[] = ["question", "settlement"];

test.each(COUNTERS)("$who is exact for others while one account fills the queue, and estimated for it", async (one) => {
  const exact = await alone(one);
  expect(await beside(one, { account: "greedy", lanes: LANES }, "quiet")).toEqual(exact);
  expect(await beside(one, { account: "greedy", lanes: [one.lane] }, "greedy")).not.toEqual(exact);
});

const SETTLING = COUNTERS.filter(({ lane }) => lane === "settlement");

test.each(SETTLING)("$who is exact though its own account's questions fill their lane", async (one) => {
  const exact = await alone(one);
  expect(await beside(one, { account: "greedy", lanes: ["question"] }, "greedy")).toEqual(exact);
});

test("a request's count is its caller's own", async () => {
  const pipeline = await openPipeline();
  const targets = pipeline.model.targets.map((target) => {
    const family = { ...target.served.family, tokenizerIsClose: true };
    return { ...target, model: MODEL, served: { ...target.served, family } };
  });
  const call = pipeline.call();
  const plan = planOf(
    askedOf({ messages: [{ role: "user", content: TEXT }] }),
    { ...pipeline.model, targets },
    "chat",
    call,
  );
  const filling = fill(call.caller.accountId, "question");
  expect(await plan.byCount()).toBeUndefined();
  await filling;
});

/**
 * What money does to a request, for random balances, budgets, keys, models, limits and calls that run beside it: the
 * most is held where it is affordable; else the output limit is lowered, sent and told; and a refusal says whether it
 * passes by itself.
 */
import { fc } from "../../support/seeds.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { script } from "../../support/fake-upstream.js";
import { says, startWorld, type World } from "../../support/world.js";
import { bySweep } from "../../support/sweep.js";

type Json = Readonly<Record<string, unknown>>;

let world: World;
beforeAll(async () => {
  world = await startWorld("one process", undefined, MORE_MODELS.join(""));
});
afterAll(async () => {
  await world.management.verify();
  await world.close();
});

const RUNS = bySweep({ short: 120, long: 120, all: 3_000 });
/** A shorter answer helps nobody. */
const LEAST_TOKENS = 256;

interface Rates {
  /** Picos of a token. */
  readonly input: bigint;
  readonly output: bigint;
  /** Picos of each request. */
  readonly request: bigint;
}

interface Model {
  readonly outputTokensMax: number;
  readonly rates: Rates;
  /** Where the input is longer than so many tokens. */
  readonly above?: { readonly tokens: bigint; readonly rates: Rates };
}

const PLAIN_RATES = { input: 10_000n, output: 100_000n, request: 0n };
const MODELS: Readonly<Record<string, Model>> = {
  "fake-1": { outputTokensMax: 1_000, rates: PLAIN_RATES },
  "short-1": { outputTokensMax: 100, rates: PLAIN_RATES },
  "odd-1": { outputTokensMax: 777, rates: { input: 333n, output: 1_777n, request: 12_345_000n } },
  "tiered-1": {
    outputTokensMax: 600,
    rates: PLAIN_RATES,
    above: { tokens: 150n, rates: { input: 20_000n, output: 150_000n, request: 0n } },
  },
};
const MORE_MODELS = Object.entries({
  "short-1": `output_tokens_max: 100, price: { input: "0.01", output: "0.1" }`,
  "odd-1": `output_tokens_max: 777, price: { input: "0.000333", output: "0.001777", request: "0.000012345" }`,
  "tiered-1":
    `output_tokens_max: 600, price: { input: "0.01", output: "0.1", ` +
    `tiers: [{ above_input_tokens: 150, input: "0.02", output: "0.15" }] }`,
}).map(([name, rest]) => `  ${name}: { targets: [{ upstream: fake }], context_tokens: 100000, ${rest} }\n`);

/** How the client says it: of each way, where the limit stands, and whether it may ask for several answers. */
const CLIENTS: Readonly<Record<string, { readonly path: string; readonly limit: string; readonly isChat: boolean }>> = {
  chat: { path: "/v1/chat/completions", limit: "max_completion_tokens", isChat: true },
  "chat, by the older name": { path: "/v1/chat/completions", limit: "max_tokens", isChat: true },
  responses: { path: "/v1/responses", limit: "max_output_tokens", isChat: false },
  messages: { path: "/v1/messages", limit: "max_tokens", isChat: false },
};

/** An amount, as a share of what the request needs or of the most that it can cost. */
const amount = fc.record({
  of: fc.constantFrom("needed", "wanted"),
  permille: fc.oneof(fc.constant(1_000), fc.integer({ min: 1, max: 1_300 })),
  more: fc.integer({ min: -1, max: 1 }),
});
type Amount = typeof amount extends fc.Arbitrary<infer Value> ? Value : never;
const seldom = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { freq: 2, nil: undefined });

const CASES = fc.record({
  client: fc.constantFrom(...Object.keys(CLIENTS)),
  model: fc.constantFrom(...Object.keys(MODELS)),
  words: fc.constantFrom(1, 40),
  stream: fc.boolean(),
  /** What the body says; undefined where nothing. */
  asked: fc.constantFrom(undefined, undefined, 1, 200, 256, 257, 500, 5_000),
  candidates: fc.constantFrom(1, 1, 3),
  /** What the key says where the request says nothing. */
  refuses: fc.boolean(),
  clamp: fc.constantFrom(undefined, undefined, "0", "1"),
  free: amount,
  keyBudget: seldom(amount),
  accountBudget: seldom(amount),
  costMax: seldom(amount),
  period: fc.constantFrom("day", "month", "total"),
  /** The output limit of a call of the account that runs meanwhile, by the same key or another. */
  besideTokens: seldom(fc.constantFrom(50, 500)),
  isSameKey: fc.boolean(),
});
type Case = typeof CASES extends fc.Arbitrary<infer Value> ? Value : never;

const EASY: Case = {
  client: "chat",
  model: "fake-1",
  words: 1,
  stream: false,
  asked: undefined,
  candidates: 1,
  refuses: false,
  clamp: undefined,
  free: { of: "wanted", permille: 1_000, more: 0 },
  keyBudget: undefined,
  accountBudget: undefined,
  costMax: undefined,
  period: "total",
  besideTokens: undefined,
  isSameKey: false,
};
const LITTLE: Amount = { of: "needed", permille: 1_000, more: -1 };
/** One for each way, whatever is drawn. */
const WAYS: readonly Case[] = [
  EASY,
  { ...EASY, free: { of: "wanted", permille: 600, more: 0 } },
  { ...EASY, free: { of: "wanted", permille: 600, more: 0 }, refuses: true },
  { ...EASY, free: LITTLE },
  { ...EASY, free: LITTLE, besideTokens: 500 },
  { ...EASY, keyBudget: LITTLE, period: "day" },
  { ...EASY, keyBudget: LITTLE, besideTokens: 500, isSameKey: true },
  { ...EASY, accountBudget: LITTLE, besideTokens: 500 },
  { ...EASY, costMax: LITTLE, besideTokens: 500 },
];

let count = 0;

/** The body that the client sends, which some text tells from all others. */
function bodyOf({ client, model, words, stream, asked, candidates }: Case, mark: string): Json {
  const { limit = "", isChat } = CLIENTS[client] ?? {};
  const content = `${mark}${" word".repeat(words)}`;
  const isResponses = client === "responses";
  return {
    model,
    stream,
    ...(isResponses ? { input: content } : { messages: says(content) }),
    ...(isChat === true && candidates > 1 ? { n: candidates } : {}),
    // A client of Anthropic's always says it.
    ...(asked === undefined && client !== "messages" ? {} : { [limit]: asked ?? 5_000 }),
  };
}

/** The most that so many tokens of each answer can cost, in nano-USD: at the dearest length that the input may have. */
function costOf({ rates, above }: Model, bytes: number, outputTokens: number, candidates: number): bigint {
  const picos = (input: bigint, by: Rates): bigint =>
    input * by.input + BigInt(outputTokens * candidates) * by.output + by.request;
  const tokens = BigInt(bytes);
  const all = [picos(tokens, rates)];
  if (above !== undefined && tokens > above.tokens)
    all.splice(0, 1, picos(above.tokens, rates), picos(tokens, above.rates));
  return (all.reduce((most, one) => (one > most ? one : most)) + 999n) / 1_000n;
}

const least = (values: readonly bigint[]): bigint => values.reduce((one, other) => (other < one ? other : one));

/** What the request may take of one purse, now and once nothing runs beside it. */
interface Purse {
  readonly now: bigint;
  readonly alone: bigint;
}

interface Wanted {
  readonly most: number;
  readonly costOf: (tokens: number) => bigint;
  readonly needed: bigint;
}

type Outcome = { readonly status: 200; readonly limit: number } | { readonly status: 402 | 429 };

/** What must become of it. */
function outcomeOf({ most, costOf: cost, needed }: Wanted, purses: readonly Purse[]): Outcome {
  if (purses.some(({ alone }) => alone < needed)) return { status: 402 };
  if (purses.some(({ now }) => now < needed)) return { status: 429 };
  const covered = least(purses.map(({ now }) => now));
  let limit = most;
  while (cost(limit) > covered) limit -= 1;
  return { status: 200, limit };
}

async function holds(one: Case): Promise<void> {
  const id = `afford-${(count += 1)}`;
  const { front, management, upstream } = world;
  const body = bodyOf(one, id);
  const bytes = JSON.stringify(body).length;
  const model = MODELS[one.model] ?? { outputTokensMax: 0, rates: PLAIN_RATES };
  const { path = "", limit: limitName = "" } = CLIENTS[one.client] ?? {};
  const most = Math.min(Number(body[limitName] ?? Infinity), model.outputTokensMax);
  const cost = (tokens: number): bigint => costOf(model, bytes, tokens, Number(body["n"] ?? 1));
  const mayLower = one.clamp === undefined ? !one.refuses : one.clamp === "1";
  const needed = cost(mayLower ? Math.min(most, LEAST_TOKENS) : most);
  const nanos = ({ of, permille, more }: Amount): bigint => {
    const share = ((of === "needed" ? needed : cost(most)) * BigInt(permille)) / 1_000n + BigInt(more);
    return share > 0n ? share : 1n;
  };

  const hanging = chat(script({ hang: true }), { max_tokens: one.besideTokens, user: `${id} beside` });
  const { rates } = MODELS["fake-1"] ?? model;
  const isBeside = one.besideTokens !== undefined;
  const plain = { outputTokensMax: 1_000, rates };
  const held = isBeside ? costOf(plain, JSON.stringify(hanging).length, one.besideTokens ?? 0, 1) : 0n;
  // What one request may cost would be for the other one as well.
  const isSameKey = one.isSameKey && one.costMax === undefined;
  const purse = (share: Amount | undefined, beside: bigint): Purse | undefined =>
    share && { now: nanos(share), alone: nanos(share) + beside };
  const balance = { now: nanos(one.free), alone: nanos(one.free) + held };
  const ofKey = purse(one.keyBudget, isSameKey ? held : 0n);
  const ofAccount = purse(one.accountBudget, held);
  const ofOne = purse(one.costMax, 0n);
  // A day may end between two calls.
  const budget = `budget_${isBeside ? "total" : one.period}_nanos`;
  const wanted = outcomeOf(
    { most, costOf: cost, needed },
    [balance, ofKey, ofAccount, ofOne].filter((found) => found !== undefined),
  );

  await management.account(id, balance.alone);
  if (ofAccount !== undefined) {
    const settings = { [budget]: String(ofAccount.alone) };
    expect((await management.call("PATCH", `/accounts/${id}`, { settings })).status).toBe(200);
  }
  const { secret } = await management.makeKey(id, {
    refuse_unaffordable: one.refuses,
    ...(ofKey === undefined ? {} : { [budget]: String(ofKey.alone) }),
    ...(ofOne === undefined ? {} : { request_cost_max_nanos: String(ofOne.now) }),
  });
  const leaving = new AbortController();
  let running: Promise<unknown> | undefined;
  if (isBeside) {
    const key = isSameKey ? secret : (await management.makeKey(id)).secret;
    running = postChat(front, key, hanging, { signal: leaving.signal }).catch(() => undefined);
    await upstream.waitFor((request) => request.raw.includes(`${id} beside`));
  }
  const answer = await fetch(`${front.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      ...(one.clamp === undefined ? {} : { "x-tollgate-clamp": one.clamp }),
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(wanted.status);
  const sent = upstream.requests.filter(({ raw }) => raw.includes(`${id} word`)).map((request) => request.body as Json);
  // The limit goes upstream by whichever of its two names the client used.
  const limits = sent.map((json) => json["max_tokens"] ?? json["max_completion_tokens"]);
  expect(limits).toEqual(wanted.status === 200 ? [wanted.limit] : []);
  const isLowered = wanted.status === 200 && wanted.limit < most;
  expect(answer.headers.get("x-tollgate-clamped")).toBe(isLowered ? String(wanted.limit) : null);
  if (wanted.status !== 200) {
    const passes = wanted.status === 429;
    expect(answer.headers.get("x-should-retry")).toBe(String(passes));
    expect(answer.headers.get("retry-after")).toBe(passes ? "1" : null);
    expect(text.includes("Running requests hold")).toBe(passes);
  }
  const { availableNanos } = await management.balance(id);
  expect(availableNanos >= 0n, "available is never below zero").toBe(true);
  leaving.abort();
  await running;
}

test("a request is held for, lowered or refused as its money says", async () => {
  await fc.assert(fc.asyncProperty(CASES, holds), { numRuns: RUNS, examples: WAYS.map((way) => [way]) });
});

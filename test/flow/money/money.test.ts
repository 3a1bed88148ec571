/** No concurrency overspends a balance, and each request is settled exactly once, whichever way it ends. */
import { credentials, Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, deliveredText, postChat, readAll } from "../../support/chat-call.js";
import { type FakeScript, script } from "../../support/fake-upstream.js";
import type { Balance } from "../../support/management.js";
import { bySweep } from "../../support/sweep.js";
import { searchingModel, PRICE, startWorld, type World } from "../../support/world.js";
import { InferenceServiceClient } from "../../support/grpc-clients.js";

type Json = Readonly<Record<string, unknown>>;

const CONTEXT_TOKENS = 100_000n;

let world: World;
beforeAll(async () => {
  world = await startWorld("one process", undefined, searchingModel(Number(CONTEXT_TOKENS)));
});
afterAll(() => world.close());

/** An account of its own for each case, so that its entries tell what the case did and nothing else. */
let accounts = 0;
async function openAccount(creditNanos: bigint, settings: Json = {}): Promise<{ id: string; secret: string }> {
  const id = `case-${++accounts}`;
  await world.management.account(id, creditNanos);
  const { secret } = await world.management.makeKey(id, settings);
  return { id, secret };
}

async function requestsOf(accountId: string): Promise<Json[]> {
  const { body } = await world.management.call("GET", `/requests?account_id=${accountId}`);
  return body["requests"] as Json[];
}

/** The account's one request, once it is over. */
async function endedRequest(accountId: string): Promise<Json> {
  await expect.poll(async () => (await requestsOf(accountId))[0]?.["state"]).toMatch(/settled|voided|expired/);
  const requests = await requestsOf(accountId);
  expect(requests).toHaveLength(1);
  return requests[0]!;
}

async function entryKinds(accountId: string): Promise<string[]> {
  const { body } = await world.management.call("GET", `/accounts/${accountId}/entries?page_size=1000`);
  return (body["entries"] as { kind: string }[]).map((entry) => entry.kind).sort();
}

function expectSums(balance: Balance): void {
  expect(balance.availableNanos >= 0n, "available is never below zero").toBe(true);
  expect(balance.heldNanos >= 0n, "held is never below zero").toBe(true);
  expect(balance.availableNanos + balance.heldNanos + balance.spentNanos).toBe(balance.grantedNanos);
}

const CALLS = bySweep({ short: 250, long: 1_000, all: 1_000 });
const COVERED = 10;

/** What covers no more: the balance itself, or the account's budget of a day, with plenty of balance. */
const COVERS = [
  { what: "balance", timesCredit: 1n, budget: undefined, code: "insufficient_balance" },
  { what: "budget of an account", timesCredit: 1_000n, budget: "budget_day_nanos", code: "budget_exceeded" },
] as const;

describe.each(COVERS)("a $what that covers 10 calls", ({ timesCredit, budget, code }) => {
  test.each([false, true])(
    `serves ${COVERED} of ${CALLS} at once, refuses the others, and is never exceeded; streamed: %s`,
    async (stream) => {
      // The upstream reports that each call used its whole hold, so nothing comes back that an 11th could use.
      const outputTokens = 50;
      const bodyFor = (inputTokens: number): string =>
        JSON.stringify(
          chat(script({ usageIs: { prompt_tokens: inputTokens, completion_tokens: outputTokens } }), {
            max_tokens: outputTokens,
            ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
          }),
        );
      const bytes = bodyFor(100).length;
      expect(bytes).toBeLessThan(1000);
      const body = bodyFor(bytes);
      const holdNanos = BigInt(bytes) * PRICE.inputNanos + BigInt(outputTokens) * PRICE.outputNanos;
      const coveredNanos = holdNanos * BigInt(COVERED);
      const grantedNanos = coveredNanos * timesCredit;
      const { id, secret } = await openAccount(grantedNanos);
      if (budget !== undefined) {
        const change = { settings: { [budget]: String(coveredNanos) } };
        expect((await world.management.call("PATCH", `/accounts/${id}`, change)).status).toBe(200);
      }
      const secrets = [secret];
      for (let more = 0; more < 3; more++) secrets.push((await world.management.makeKey(id)).secret);

      const calls = { running: true };
      const samples: Balance[] = [];
      const sampling = (async () => {
        while (calls.running) samples.push(await world.management.balance(id));
      })();
      const answers = await Promise.all(
        Array.from({ length: CALLS }, async (_, call) => {
          const response = await postChat(world.front, secrets[call % secrets.length]!, body);
          return { status: response.status, text: await response.text() };
        }),
      );
      calls.running = false;
      await sampling;

      const served = answers.filter((answer) => answer.status === 200);
      // While the ten run, they alone hold what the others need; afterwards it is spent.
      const refused = answers.filter((answer) => answer.status === 402 || answer.status === 429);
      expect([served.length, refused.length]).toEqual([COVERED, CALLS - COVERED]);
      for (const { text } of served) expect(text).toContain(stream ? "data: [DONE]" : '"chat.completion"');
      const told = { 402: { type: "insufficient_quota", code }, 429: { type: "requests", code: "balance_held" } };
      for (const { status, text } of refused)
        expect(JSON.parse(text)).toMatchObject({ error: told[status === 402 ? 402 : 429] });
      expect(samples.length).toBeGreaterThan(1);
      for (const sample of samples) {
        expectSums(sample);
        expect(sample.heldNanos + sample.spentNanos <= coveredNanos, "no more is used than what covers it").toBe(true);
      }
      await expect.poll(async () => (await world.management.balance(id)).heldNanos).toBe(0n);
      const balance = await world.management.balance(id);
      expect(balance).toMatchObject({ availableNanos: grantedNanos - coveredNanos, spentNanos: coveredNanos });
      const kinds = await entryKinds(id);
      expect(kinds.filter((kind) => kind === "hold")).toHaveLength(COVERED);
      expect(kinds.filter((kind) => kind === "settle")).toHaveLength(COVERED);
      await world.management.verify();
    },
  );
});

/** How a request ends, and what the ledger then says of it. */
interface Way {
  readonly name: string;
  readonly fake: FakeScript;
  readonly more?: Json;
  /** The status that the client sees; undefined where it leaves before. */
  readonly status?: number;
  /** When the client leaves: before the head, or after so many characters of the stream. */
  readonly leave?: "before the head" | "in the stream";
  readonly state: "settled" | "voided";
  readonly source: "REPORTED" | "COUNTED" | "NONE";
  /** The exact cost; undefined where it is counted, and then bounded by what was delivered. */
  readonly costNanos?: bigint;
  readonly attempts?: number;
}

const STREAM = { stream: true };
const free = { state: "voided", source: "NONE", costNanos: 0n } as const;
const counted = { state: "settled", source: "COUNTED" } as const;
// Ten tokens read and four answered, as the fake upstream reports.
const reported = { state: "settled", source: "REPORTED", costNanos: 500n } as const;
const ten = { words: 10 };
const silent = { usageIs: { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 } };
// Some local models take roles that our typed form does not know.
const strangeRole = {
  messages: [
    { role: "ipython", content: "1 + 1" },
    { role: "user", content: script({ ...ten, usage: "none" }) },
  ],
};

const WAYS: readonly Way[] = [
  // First, while the upstream's few retries are not spent.
  {
    name: "an upstream that fails once",
    fake: { status: 500, times: 1, id: "money-once" },
    status: 200,
    ...reported,
    attempts: 2,
  },
  { name: "a whole answer", fake: {}, status: 200, ...reported },
  { name: "a stream", fake: {}, more: STREAM, status: 200, ...reported },
  { name: "two candidates", fake: {}, more: { n: 2 }, status: 200, ...reported },
  { name: "a tool call", fake: { calls: [{ name: "f", arguments: "{}" }] }, status: 200, ...reported },
  { name: "usage on every chunk", fake: { usage: "every" }, more: STREAM, status: 200, ...reported },
  { name: "no usage, whole", fake: { ...ten, usage: "none" }, status: 200, ...counted },
  { name: "no usage, streamed", fake: { ...ten, usage: "none" }, more: STREAM, status: 200, ...counted },
  {
    name: "no usage, of a request that the typed form cannot hold",
    fake: {},
    more: strangeRole,
    status: 200,
    ...counted,
  },
  {
    name: "a usage of zero with content, whole",
    fake: { ...ten, usageIs: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
    status: 200,
    ...counted,
  },
  {
    name: "a usage of zero with content, streamed",
    fake: { ...ten, usageIs: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
    more: STREAM,
    status: 200,
    ...counted,
  },
  { name: "an empty answer that reports no output, whole", fake: { text: "", ...silent }, status: 200, ...free },
  {
    name: "an empty answer that reports no output, streamed",
    fake: { text: "", ...silent },
    more: STREAM,
    status: 200,
    ...free,
  },
  { name: "an empty answer that reports output, whole", fake: { text: "" }, status: 200, ...reported },
  { name: "an empty answer that reports output, streamed", fake: { text: "" }, more: STREAM, status: 200, ...reported },
  { name: "a client that leaves a whole answer", fake: { hang: true }, leave: "before the head", ...free },
  {
    name: "a client that leaves a silent stream",
    fake: { hang: true },
    more: STREAM,
    leave: "before the head",
    ...free,
  },
  {
    name: "a client that leaves a stream",
    fake: { words: 900, eventDelayMs: 5 },
    more: STREAM,
    leave: "in the stream",
    ...counted,
  },
  { name: "an upstream cut before its head, whole", fake: { cutAfter: 0 }, status: 502, ...free },
  { name: "an upstream cut before its head, streamed", fake: { cutAfter: 0 }, more: STREAM, status: 502, ...free },
  { name: "an upstream cut in a whole answer", fake: { ...ten, cutAfter: 1 }, status: 502, ...free },
  { name: "an upstream cut in a stream", fake: { ...ten, cutAfter: 6 }, more: STREAM, status: 200, ...counted },
  { name: "a stream that just ends", fake: { ...ten, endAfter: 6 }, more: STREAM, status: 200, ...counted },
  { name: "an error event in a stream", fake: { ...ten, errorAfter: 6 }, more: STREAM, status: 200, ...counted },
  { name: "an error event at once", fake: { errorAfter: 0 }, more: STREAM, status: 502, ...free },
  { name: "a refusal by the upstream", fake: { status: 400 }, status: 400, ...free },
  { name: "a failing upstream", fake: { status: 500 }, status: 502, ...free },
  { name: "a failing upstream, streamed", fake: { status: 500 }, more: STREAM, status: 502, ...free },
  { name: "a busy upstream", fake: { status: 503 }, status: 503, ...free },
  { name: "an upstream that answers HTML", fake: { body: "<html>" }, status: 502, ...free },
];

describe.each(WAYS)("$name", (way) => {
  test("is settled exactly once, and the sums hold", async () => {
    await world.management.call("POST", "/upstreams/fake:reset", {});
    const { id, secret } = await openAccount(10_000_000n);
    const leaving = new AbortController();
    const marker = `marker of ${id}`;
    const body = chat(script(way.fake), { ...way.more, user: marker });
    const answered = postChat(world.front, secret, body, { signal: leaving.signal }).catch(() => undefined);
    if (way.leave === "before the head") {
      await world.upstream.waitFor((request) => request.raw.includes(marker));
      leaving.abort();
    }
    const response = await answered;
    expect(response?.status).toBe(way.leave === "before the head" ? undefined : (way.status ?? 200));
    const delivered = response === undefined ? "" : await read(response, way, leaving);
    if (way.leave !== undefined)
      await world.upstream.waitFor((request) => request.left && request.raw.includes(marker));

    const record = await endedRequest(id);
    const shown = await world.management.call("GET", `/requests/${String(record["id"])}`);
    expect(shown.body["request"]).toEqual(record);
    if (response !== undefined) expect(record["id"]).toBe(response.headers.get("x-request-id"));
    expect(record).toMatchObject({ state: way.state, usage_source: way.source.toLowerCase() });
    if (way.attempts !== undefined) expect(record["attempts"]).toBe(way.attempts);

    const cost = BigInt(String(record["cost_nanos"]));
    const outputTokens = 1_000n * BigInt(Number(way.more?.["n"] ?? 1));
    const holdNanos = BigInt(JSON.stringify(body).length) * PRICE.inputNanos + outputTokens * PRICE.outputNanos;
    expect(record["hold_nanos"]).toBe(String(holdNanos));
    if (way.costNanos !== undefined) expect(cost).toBe(way.costNanos);
    else expectCounted(record, delivered);
    const balance = await world.management.balance(id);
    expectSums(balance);
    expect(balance.heldNanos).toBe(0n);
    expect(balance.spentNanos).toBe(cost);
    expect(await entryKinds(id)).toEqual(["credit", "hold", way.state === "settled" ? "settle" : "void"].sort());
  });
});

/** Reads what the client of this way reads. */
async function read(response: Response, way: Way, leaving: AbortController): Promise<string> {
  if (way.leave === undefined) return readAll(response);
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes as Uint8Array, { stream: true });
      if (deliveredWords(text) >= 5) leaving.abort();
    }
  } catch {
    // We left ourselves.
  }
  return text;
}

function deliveredWords(text: string): number {
  const whole = text.startsWith("{") ? String(/"content":"([^"]*)"/.exec(text)?.[1]) : deliveredText(wholeLines(text));
  return whole.split(" ").filter((word) => word !== "").length;
}

function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

/** A count lies between what a client saw and, each word of `word123` being at most three tokens, three times that. */
function expectCounted(record: Json, delivered: string): void {
  const usage = record["usage"] as Record<string, string>;
  const input = BigInt(usage["input_tokens"] ?? 0);
  const output = Number(usage["output_tokens"] ?? 0);
  expect(BigInt(String(record["cost_nanos"]))).toBe(input * PRICE.inputNanos + BigInt(output) * PRICE.outputNanos);
  expect(input > 0n).toBe(true);
  const words = deliveredWords(delivered);
  expect(words).toBeGreaterThan(0);
  expect(output).toBeGreaterThanOrEqual(words);
  // Words that were on their way when the client left count too: they were generated.
  expect(output).toBeLessThanOrEqual(3 * (words + 60));
}

test.each([
  { name: "is paid by what the account has beside it", creditNanos: 10_000_000n, chargedNanos: 4_900_000n },
  { name: "is paid by the operator where the account has no more", creditNanos: 1_100_000n, chargedNanos: 1_100_000n },
])("a usage above the hold $name, and the cost header says what was charged", async ({ creditNanos, chargedNanos }) => {
  const { id, secret } = await openAccount(creditNanos);
  // Searches make rounds, and each reads the context again.
  const usageIs = { prompt_tokens: 489_900, completion_tokens: 10, total_tokens: 489_910 };
  const body = chat(script({ usageIs }), { model: "searching-1", max_tokens: 20, web_search_options: {} });
  const response = await postChat(world.front, secret, body);
  expect(response.status).toBe(200);
  const holdNanos = CONTEXT_TOKENS * PRICE.inputNanos + 20n * PRICE.outputNanos;
  const costNanos = 489_900n * PRICE.inputNanos + 10n * PRICE.outputNanos;
  expect(await endedRequest(id)).toMatchObject({
    state: "settled",
    hold_nanos: String(holdNanos),
    cost_nanos: String(costNanos),
    charged_nanos: String(chargedNanos),
    overage_nanos: String(costNanos - chargedNanos),
    usage_source: "reported",
  });
  expect(response.headers.get("x-tollgate-cost-nanos")).toBe(String(chargedNanos));
  const balance = await world.management.balance(id);
  expectSums(balance);
  expect(balance).toMatchObject({ heldNanos: 0n, spentNanos: chargedNanos });
  const report = await world.management.verify();
  expect(report["open_hold_count"]).toBe("0");
});

test("a deadline that passes in a stream is charged by count, once", async () => {
  const { id, secret } = await openAccount(10_000_000n);
  const client = new InferenceServiceClient(world.core.grpc, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${secret}`);
  const marker = `deadline of ${id}`;
  const body = chat(script({ words: 900, eventDelayMs: 10 }), { stream: true, user: marker });
  const source = { wire: "openai-chat", body: Buffer.from(JSON.stringify(body)), headers: {} };
  const input = { $case: "source" as const, value: source };
  const generation = { model: "", input, outputTokensMax: undefined, clamp: false };
  const call = client.streamGenerate({ generation, acceptWire: "openai-chat" }, metadata, {
    deadline: Date.now() + 1_000,
  });
  call.on("data", () => undefined);
  const code = await new Promise((resolve) => call.on("error", (error) => resolve(Reflect.get(error, "code"))));
  expect(code).toBe(4);
  client.close();
  await world.upstream.waitFor((request) => request.left && request.raw.includes(marker));
  expect(await endedRequest(id)).toMatchObject({ state: "settled", usage_source: "counted" });
  const balance = await world.management.balance(id);
  expectSums(balance);
  expect(balance.heldNanos).toBe(0n);
  expect(balance.spentNanos > 0n).toBe(true);
  expect(await entryKinds(id)).toEqual(["credit", "hold", "settle"]);
});

test("leaves a ledger that holds, with no hold open", async () => {
  expect(await world.management.verify()).toMatchObject({ open_hold_count: "0" });
});

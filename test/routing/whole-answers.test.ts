/** Whole answers on their way through routing: long ones beside the event loop, and none beyond the memory for them. */
import { gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { ByteBudget, ByteLease, OF_ANSWERS } from "../../src/base/bytes/byte-budget.js";
import { Cancellation } from "../../src/base/cancellation.js";
import { Price } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { openaiCompatible as family } from "../../src/families/openai-compatible.js";
import { createLongAnswers } from "../../src/reading/long-answers.js";
import { UpstreamHealth } from "../../src/routing/upstream-health.js";
import type { ServedModel, Target } from "../../src/routing/model.js";
import { type AnswerReceiver, Routing } from "../../src/routing/routing.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import type { Batch } from "../../src/wire/wire.js";
import { ScriptedUpstream, type Step } from "./scripted-upstream.js";
import { affinity, limiter, promptCaches } from "../support/prompt-caches.js";

const longAnswers = createLongAnswers();
afterAll(() => longAnswers.close());

const MIB = 1_048_576;
const TIMEOUTS = {
  totalMs: 600_000,
  firstTokenMs: 120_000,
  wholeMs: 600_000,
  idleMs: 60_000,
  lingerMs: 5_000,
  readOnMs: 60_000,
};

class Told implements AnswerReceiver {
  attempts = 0;
  readonly batches: Batch[] = [];
  begin(): void {
    this.attempts += 1;
  }
  ended(): void {}
  watch(): void {}
  onDrain(): void {}
  take(batch: Batch): boolean {
    this.batches.push(batch);
    return true;
  }
}

function target(upstream: ScriptedUpstream, priority: number): Target {
  const health = new UpstreamHealth();
  const served = { id: `u${priority}`, family, baseUrl: "", upstream, headers: {}, credential: undefined, health };
  const its = {
    facts: {},
    weight: 1,
    priority,
    cost: undefined,
    knownMembersOnly: false,
    promptCache: undefined,
    health: health.of("m"),
  };
  return { served, model: "m", ...its };
}

function lease(): ByteLease {
  return new ByteLease(new ByteBudget(64 * MIB, OF_ANSWERS), "acme");
}

interface Run {
  readonly told: Told;
  readonly error: GatewayError | undefined;
  readonly targets: readonly Target[];
}

async function run(scripts: readonly (readonly Step[])[], acceptWire: string, memory = lease()): Promise<Run> {
  const nothing = (): undefined => undefined;
  const nowMs = (): number => performance.now();
  const heard = { onAttempt: nothing, onReadOn: nothing, onUnknownMember: nothing, promptCaches, affinity, limiter };
  const routing = new Routing({ nowMs, random: () => 0.5, timeouts: TIMEOUTS, listed: nothing, ...heard });
  const body = Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] }));
  const request = chat.readRequest({ wire: chat.name, body, headers: {} });
  const targets = scripts.map((script, index) => target(new ScriptedUpstream([script]), index + 1));
  const limits = { contextTokens: 0, outputTokensMax: 0, kind: "chat" as const, price: Price.decode(new Uint8Array()) };
  const model: ServedModel = {
    id: "m",
    owner: "",
    isListPriced: false,
    streamHeadMs: 10_000,
    createTime: new Date(0),
    ...limits,
    targets,
  };
  const told = new Told();
  const asking = { kind: "chat" as const, outputTokensMax: 10, stream: false, candidateCount: 1, strict: false };
  const its = { acceptWire, accountId: "acme", signal: new Cancellation() };
  const long = { reader: longAnswers, memory };
  const deadline = routing.deadline({}, performance.now(), Infinity);
  const error = await routing.run(request, model, { ...asking, ...its, deadline }, told, long).then(
    () => undefined,
    (thrown: unknown) => GatewayError.from(thrown),
  );
  return { told, error, targets };
}

const answer = (content: string): string =>
  JSON.stringify({ choices: [{ index: 0, message: { content }, finish_reason: "stop" }] });
const HEAD: Step = { atMs: 1, head: "application/json" };
const sends = (data: string): readonly Step[] => [HEAD, { atMs: 2, data }, { atMs: 3, end: true }];
const LONG = "long ".repeat(MIB / 5);

test.each(["gzip", "x-gzip", "br", "deflate", "zstd", "GZIP", "gzip, br"])(
  "one that comes compressed by %s is refused with the reason, and another target is asked",
  async (coding) => {
    const compressed = gzipSync(answer("Hi")).toString("latin1");
    const script: readonly Step[] = [
      { ...HEAD, coding },
      { atMs: 2, data: compressed },
      { atMs: 3, end: true },
    ];
    const alone = await run([script], "openai-chat");
    expect(alone.error?.reason).toBe("ERROR_REASON_UPSTREAM_FAILED");
    expect(alone.error?.metadata["problem"]).toContain("compressed");
    const both = await run([script, sends(answer("Hi"))], "openai-chat");
    expect(both.error).toBeUndefined();
    expect(both.told.batches).toHaveLength(1);
  },
);

test.each(["identity", "", "utf-8"])("one whose coding is said to be '%s' is read", async (coding) => {
  const { error } = await run([[{ ...HEAD, coding }, ...sends(answer("Hi")).slice(1)]], "openai-chat");
  expect(error).toBeUndefined();
});

test.each([
  { acceptWire: "openai-chat", want: { source: true, events: false, isWritten: false } },
  { acceptWire: "anthropic", want: { source: false, events: false, isWritten: true } },
  { acceptWire: "", want: { source: false, events: true, isWritten: false } },
])("a long one is one batch for who takes '$acceptWire'", async ({ acceptWire, want }) => {
  const { told, error } = await run([sends(answer(LONG))], acceptWire);
  expect(error).toBeUndefined();
  const [batch, ...more] = told.batches;
  expect(more).toEqual([]);
  const { source, events, long } = batch ?? { source: [], events: [], long: undefined };
  expect({ source: source.length > LONG.length, events: events.length > 0, isWritten: long !== undefined }).toEqual(
    want,
  );
});

test("a long one that cannot be read is left for the next target", async () => {
  const { told, error } = await run([sends(`{"x":"${LONG}"}`), sends(answer(LONG))], "openai-chat");
  expect([error, told.attempts, told.batches.length]).toEqual([undefined, 2, 1]);
});

test("what finds no memory is refused, its upstream is not blamed, and what it took is given back", async () => {
  const budget = new ByteBudget(64 * MIB, OF_ANSWERS);
  const others = new ByteLease(budget, "acme");
  others.reach(64 * MIB - 100_000);
  const own = new ByteLease(budget, "acme");
  const { told, error, targets } = await run([sends(answer(LONG)), sends(answer(LONG))], "openai-chat", own);
  expect([error?.reason, error?.retryAfterMs, told.batches.length]).toEqual(["ERROR_REASON_OVERLOADED", 1_000, 0]);
  expect(targets[0]?.health.admits(performance.now(), "other")).toBe(true);
  expect(budget.used).toBe(64 * MIB - 100_000);
  others.giveBack();
  expect((await run([sends(answer(LONG))], "openai-chat", own)).error).toBeUndefined();
  expect(budget.used).toBe(answer(LONG).length);
  own.giveBack();
  expect(budget.used).toBe(0);
});

test("short ones are not counted", async () => {
  const budget = new ByteBudget(64 * MIB, OF_ANSWERS);
  await run([sends(answer("short"))], "openai-chat", new ByteLease(budget, "acme"));
  expect(budget.used).toBe(0);
});

/** How long each phase of a request may take, and all of it, on a clock that the test moves. */
import { fc } from "../support/seeds.js";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Price } from "../../src/api/index.js";
import { Cancellation } from "../../src/base/cancellation.js";
import { GatewayError } from "../../src/base/errors.js";
import { anthropic } from "../../src/families/anthropic.js";
import type { Family } from "../../src/families/family.js";
import { gemini } from "../../src/families/gemini.js";
import { openaiCompatible } from "../../src/families/openai-compatible.js";
import type { Deadline, RequestTimeouts } from "../../src/routing/deadline.js";
import { UpstreamHealth } from "../../src/routing/upstream-health.js";
import type { ServedModel, Target } from "../../src/routing/model.js";
import { type AnswerReceiver, Routing } from "../../src/routing/routing.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { ScriptedUpstream, type Step } from "./scripted-upstream.js";
import { affinity, limiter, promptCaches } from "../support/prompt-caches.js";

const TIMEOUTS: RequestTimeouts = {
  totalMs: 600_000,
  firstTokenMs: 120_000,
  wholeMs: 600_000,
  idleMs: 30_000,
  lingerMs: 5_000,
  readOnMs: 60_000,
};

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

interface Asked {
  readonly stream?: boolean;
  readonly family?: Family;
  readonly timeouts?: Partial<RequestTimeouts>;
  /** When the caller leaves. */
  readonly leavesMs?: number;
  /** How long admission took of the deadline. */
  readonly admittedMs?: number;
  /** The caller's own deadline. */
  readonly callerMs?: number;
}

interface Ended {
  readonly error: GatewayError | undefined;
  /** When the request was over, and the upstreams were asked no more. */
  readonly endMs: number;
  readonly attempts: number;
  readonly text: string;
  readonly deadline: Deadline;
  readonly lifeMs: number;
}

/** Runs one request against upstreams, each by its own scripts, and lets time pass until it is over. */
async function run(upstreams: readonly ScriptedUpstream[], asked: Asked = {}): Promise<Ended> {
  const { stream = true, family = openaiCompatible } = asked;
  const timeouts = { ...TIMEOUTS, ...asked.timeouts };
  const nothing = (): void => undefined;
  const nowMs = (): number => performance.now();
  const heard = { onAttempt: nothing, onReadOn: nothing, onUnknownMember: nothing, promptCaches, affinity, limiter };
  const steps = { listed: (): undefined => undefined, ...heard };
  const routing = new Routing({ nowMs, random: () => 0.5, timeouts, ...steps });
  const body = JSON.stringify({ model: "m", stream, messages: [{ role: "user", content: "Hi" }] });
  const request = chat.readRequest({ wire: chat.name, body: Buffer.from(body), headers: {} });
  const startMs = performance.now();
  const deadline = routing.deadline({}, startMs, asked.callerMs === undefined ? Infinity : startMs + asked.callerMs);
  const lifeMs = deadline.lifeMs(startMs);
  vi.advanceTimersByTime(asked.admittedMs ?? 0);
  const caller = new Cancellation();
  if (asked.leavesMs !== undefined)
    setTimeout(() => caller.abort(new GatewayError("ERROR_REASON_CANCELLED")), asked.leavesMs);
  const told = new Told();
  const options = {
    kind: "chat" as const,
    acceptWire: family === openaiCompatible ? chat.name : "",
    accountId: "acme",
    outputTokensMax: 10,
    stream,
    candidateCount: 1,
    strict: false,
    signal: caller,
    deadline,
  };
  const life = { isOver: false };
  const ended = routing.run(request, modelOf(upstreams, family), options, told).then(
    () => undefined,
    (error: unknown) => GatewayError.from(error),
  );
  void ended.then(() => (life.isOver = true));
  for (let waited = 0; !life.isOver && waited < 2_000; waited += 1) await vi.advanceTimersByTimeAsync(500);
  const error = await ended;
  return { error, endMs: performance.now() - startMs, attempts: told.attempts, text: told.text, deadline, lifeMs };
}

class Told implements AnswerReceiver {
  attempts = 0;
  text = "";
  begin(): void {
    this.attempts += 1;
  }
  ended(): void {}
  watch(): void {}
  onDrain(): void {}
  take({ events, source }: { readonly events: readonly unknown[]; readonly source: Buffer }): boolean {
    this.text += source.toString() + (events.length > 0 ? JSON.stringify(events) : "");
    return true;
  }
}

function modelOf(upstreams: readonly ScriptedUpstream[], family: Family): ServedModel {
  const targets = upstreams.map((upstream, index): Target => {
    const health = new UpstreamHealth();
    const served = { id: `u${index}`, family, baseUrl: "", upstream, headers: {}, credential: undefined, health };
    return {
      served,
      model: "m",
      facts: {},
      weight: 1,
      priority: index + 1,
      cost: undefined,
      knownMembersOnly: false,
      promptCache: undefined,
      health: health.of("m"),
    };
  });
  const limits = { contextTokens: 0, outputTokensMax: 0, kind: "chat" as const, price: Price.decode(new Uint8Array()) };
  return { id: "m", owner: "", isListPriced: false, streamHeadMs: 10_000, createTime: new Date(0), ...limits, targets };
}

const HEAD: Step = { atMs: 10, head: "text/event-stream" };
const OPENED: readonly Step[] = [HEAD];
const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: object, reason: string | null = null): string =>
  event({ choices: [{ index: 0, delta: content, finish_reason: reason }] });
const ROLE = delta({ role: "assistant", content: "" });
const WORD = delta({ content: "word" });
const STOP = delta({}, "stop");
const USAGE = event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } });
const DONE = "data: [DONE]\n\n";
/** The same again and again, until long after every bound. */
const each = (everyMs: number, data: string): Step[] =>
  Array.from({ length: Math.floor(900_000 / everyMs) }, (_, index) => ({ atMs: (index + 1) * everyMs, data }));
const ANSWER: readonly Step[] = [HEAD, { atMs: 20, data: ROLE + WORD + STOP + USAGE + DONE }, { atMs: 30, end: true }];

describe("a phase that takes too long", () => {
  test.each([
    { name: "a target that takes the request and says nothing", script: [], phase: "first token", atMs: 120_000 },
    { name: "a head and nothing more", script: [HEAD], phase: "first token", atMs: 120_000 },
    { name: "pings without output", script: [HEAD, ...each(5_000, ": ping\n\n")], phase: "first token", atMs: 120_000 },
    {
      name: "who speaks, again and again, and no word",
      script: [HEAD, ...each(20_000, ROLE)],
      phase: "first token",
      atMs: 120_000,
    },
    { name: "silence after a word", script: [HEAD, { atMs: 7_000, data: WORD }], phase: "idle", atMs: 37_000 },
    {
      name: "silence after a word that came late",
      script: [HEAD, { atMs: 100_000, data: ROLE + WORD }],
      phase: "idle",
      atMs: 130_000,
    },
    { name: "words without end", script: [HEAD, ...each(20_000, WORD)], phase: "total", atMs: 600_000 },
    { name: "a whole answer that never begins", stream: false, script: [], phase: "total", atMs: 600_000 },
    {
      name: "a whole answer that stops in the middle",
      stream: false,
      script: [
        { atMs: 10, head: "application/json" },
        { atMs: 50_000, data: '{"choices":' },
      ],
      phase: "idle",
      atMs: 80_000,
    },
    {
      name: "pings after a word",
      script: [HEAD, { atMs: 7_000, data: WORD }, ...each(5_000, ": ping\n\n")],
      phase: "idle",
      atMs: 127_000,
    },
  ] satisfies readonly { name: string; script: readonly Step[]; phase: string; atMs: number; stream?: boolean }[])(
    "$name: $phase",
    async ({ script, phase, atMs, ...asked }) => {
      const upstream = new ScriptedUpstream([script]);
      const { error, endMs } = await run([upstream], asked);
      expect(error).toMatchObject({ reason: "ERROR_REASON_UPSTREAM_TIMEOUT", metadata: { phase } });
      expect(upstream.abortsMs[0]).toBeGreaterThanOrEqual(atMs);
      expect(upstream.abortsMs[0]).toBeLessThanOrEqual(atMs + 2);
      expect(endMs).toBeLessThanOrEqual(600_500);
    },
  );
});

test.each([
  { name: "without content", data: delta({}) },
  { name: "of an empty text", data: delta({ content: "" }) },
])("deltas $name keep no answer alive for longer than two first tokens take", async ({ data }) => {
  const upstream = new ScriptedUpstream([[HEAD, { atMs: 7_000, data: WORD }, ...each(5_000, data)]]);
  const { error } = await run([upstream]);
  expect(error).toMatchObject({ reason: "ERROR_REASON_UPSTREAM_TIMEOUT", metadata: { phase: "idle" } });
  expect(upstream.abortsMs[0]).toBeGreaterThanOrEqual(247_000);
  expect(upstream.abortsMs[0]).toBeLessThanOrEqual(258_000);
});

describe("a refusal", () => {
  const refusal = { atMs: 10, head: "application/json", status: 503 };
  test.each([
    { name: "that never ends", script: [refusal] },
    { name: "that comes a byte a second", script: [refusal, ...each(1_000, "x")] },
    { name: "that is longer than any", script: [refusal, ...each(100, "x".repeat(20_000))] },
  ])("$name is left soon, and another target answers", async ({ script }) => {
    const upstream = new ScriptedUpstream([script]);
    const { error, endMs, text } = await run([upstream, new ScriptedUpstream([ANSWER])]);
    expect(error).toBeUndefined();
    expect(text).toContain("word");
    expect(endMs).toBeLessThanOrEqual(8_000);
    expect(upstream.abortsMs).toHaveLength(1);
  });
});

describe("an answer that cannot be read", () => {
  /** Its answers are read into typed steps. */
  const typed: Family = { ...openaiCompatible };
  const nested = "[".repeat(50_000) + "]".repeat(50_000);
  const call = `{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":${nested}}}`;
  const chunk = `data: {"choices":[{"index":0,"delta":{"tool_calls":[${call}]},"finish_reason":null}]}\n\n`;
  const message = `{"role":"assistant","tool_calls":[${call}]}`;
  const whole = `{"choices":[{"index":0,"finish_reason":"tool_calls","message":${message}}]}`;
  test.each([
    { name: "a stream", stream: true, script: [HEAD, { atMs: 20, data: chunk }, { atMs: 30, end: true }] },
    {
      name: "a whole answer",
      stream: false,
      script: [
        { atMs: 10, head: "application/json" },
        { atMs: 20, data: whole },
        { atMs: 30, end: true },
      ],
    },
  ] satisfies readonly { name: string; stream: boolean; script: readonly Step[] }[])(
    "because it is nested too deep for this Node, $name, is its upstream's fault",
    async ({ stream, script }) => {
      const upstream = new ScriptedUpstream([script]);
      const { error, attempts } = await run([upstream], { stream, family: typed });
      // Newer ones need no stack for what is nested, so that they read some of it.
      const isRead = error === undefined;
      expect([error?.reason, attempts]).toEqual(isRead ? [undefined, 1] : ["ERROR_REASON_UPSTREAM_FAILED", 3]);
      expect(isRead && Number.parseInt(process.versions.node, 10) < 24).toBe(false);
    },
  );
});

describe("the deadline of a request", () => {
  test("bounds three attempts that together would take longer", async () => {
    const upstreams = [1, 2, 3].map(() => new ScriptedUpstream([[]]));
    const { error, endMs, attempts } = await run(upstreams, { timeouts: { firstTokenMs: 250_000 } });
    expect(error).toMatchObject({ reason: "ERROR_REASON_UPSTREAM_TIMEOUT", metadata: { phase: "total" } });
    expect(attempts).toBe(3);
    expect(endMs).toBeGreaterThanOrEqual(600_000);
    expect(endMs).toBeLessThanOrEqual(600_500);
  });

  test("counts what admission took", async () => {
    const late = await run([new ScriptedUpstream([[]])], { admittedMs: 590_000 });
    expect(late.endMs).toBeLessThanOrEqual(600_500);
    const tooLate = await run([new ScriptedUpstream([ANSWER])], { admittedMs: 600_000 });
    expect(tooLate).toMatchObject({ attempts: 0, error: { metadata: { phase: "deadline" } } });
  });

  test("leaves no time for a pause that would pass it", async () => {
    const refuse: Step = { atMs: 1, head: "application/json", status: 500 };
    const upstream = new ScriptedUpstream([[refuse, { atMs: 2, end: true }]]);
    const { attempts, endMs } = await run([upstream], { timeouts: { totalMs: 50 } });
    expect(attempts).toBe(1);
    expect(endMs).toBeLessThanOrEqual(1_000);
  });

  test("of a caller who leaves at the last moment is followed by reading on, which the hold outlives", async () => {
    const family = { ...openaiCompatible, abortStopsBilling: false };
    const upstream = new ScriptedUpstream([[HEAD, ...each(10_000, WORD)]]);
    const { error, endMs, lifeMs } = await run([upstream], { family, leavesMs: 599_000 });
    expect(error?.reason).toBe("ERROR_REASON_CANCELLED");
    expect(endMs).toBeGreaterThanOrEqual(659_000);
    expect(endMs).toBeLessThanOrEqual(659_500);
    expect(lifeMs).toBeGreaterThanOrEqual(endMs);
  });

  test("is the caller's own for the life of its hold, where that is shorter", async () => {
    const { lifeMs } = await run([new ScriptedUpstream([ANSWER])], { callerMs: 5_000 });
    expect(lifeMs).toBe(65_000);
  });

  test("is kept whatever the upstreams do and whenever the caller leaves, and the hold outlives it", async () => {
    const step = fc.record({
      atMs: fc.integer({ min: 1, max: 700_000 }),
      data: fc.constantFrom(WORD, ROLE, ": ping\n\n", STOP, USAGE),
    });
    const script = fc.array(step, { maxLength: 12 }).map((steps) => OPENED.concat(steps));
    const asked = fc.record({
      scripts: fc.array(fc.oneof(script, fc.constant<Step[]>([])), { minLength: 1, maxLength: 3 }),
      count: fc.integer({ min: 1, max: 3 }),
      firstTokenMs: fc.integer({ min: 1_000, max: 500_000 }),
      idleMs: fc.integer({ min: 1_000, max: 100_000 }),
      leavesMs: fc.option(fc.integer({ min: 1, max: 600_000 }), { nil: undefined }),
      bills: fc.boolean(),
    });
    const property = fc.asyncProperty(asked, async ({ scripts, count, firstTokenMs, idleMs, leavesMs, bills }) => {
      const upstreams = Array.from({ length: count }, () => new ScriptedUpstream(scripts));
      const family = { ...openaiCompatible, abortStopsBilling: !bills };
      const left = leavesMs === undefined ? {} : { leavesMs };
      const ended = await run(upstreams, { family, timeouts: { firstTokenMs, idleMs }, ...left });
      const workMs = leavesMs === undefined ? 600_000 : leavesMs + (bills ? 60_000 : 0);
      expect(ended.endMs).toBeLessThanOrEqual(Math.min(ended.lifeMs, workMs) + 500);
    });
    await fc.assert(property, { numRuns: 40 });
  });
});

describe("behind an opening that is no output", () => {
  test.each([
    { name: "nothing more", rest: [] },
    { name: "a cut", rest: [{ atMs: 40, end: true }] },
    { name: "an error", rest: [{ atMs: 40, data: event({ error: { message: "no", type: "server_error" } }) }] },
  ] satisfies readonly { name: string; rest: readonly Step[] }[])(
    "$name: another target answers, and the client sees nothing of the first",
    async ({ rest }) => {
      const first = new ScriptedUpstream([[HEAD, { atMs: 20, data: ROLE.replace("index", "first") }, ...rest]]);
      const { error, attempts, text } = await run([first, new ScriptedUpstream([ANSWER])]);
      expect(error).toBeUndefined();
      expect(attempts).toBe(2);
      expect(text).not.toContain("first");
      expect(text.startsWith(ROLE + WORD)).toBe(true);
    },
  );

  test("an answer that is nothing else is told as it came, with a reason for its end", async () => {
    const script: Step[] = [HEAD, { atMs: 20, data: ROLE }, { atMs: 30, data: DONE }];
    const { error, text } = await run([new ScriptedUpstream([script])]);
    expect(error).toBeUndefined();
    expect(text.startsWith(ROLE)).toBe(true);
    expect(text.slice(ROLE.length)).toMatch(/^data: [^\n]*"finish_reason":"stop"[^\n]*\n\n$/);
  });
});

describe("an answer that is over while its connection stays open", () => {
  const message = (type: string, rest: object = {}): string => `event: ${type}\n${event({ type, ...rest })}`;
  const block = { index: 0, content_block: { type: "text", text: "" } };
  const anthropicText =
    message("message_start", { message: { id: "a", usage: { input_tokens: 3, output_tokens: 1 } } }) +
    message("content_block_start", block) +
    message("content_block_delta", { index: 0, delta: { type: "text_delta", text: "word" } }) +
    message("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } }) +
    message("message_stop");
  const candidate = { index: 0, content: { parts: [{ text: "word" }] }, finishReason: "STOP" };
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 };
  test.each(
    [
      { name: "[DONE]", family: openaiCompatible, data: ROLE + WORD + STOP + USAGE + DONE, lingers: false },
      { name: "message_stop", family: anthropic, data: anthropicText, lingers: false },
      { name: "an end and usage", family: openaiCompatible, data: ROLE + WORD + STOP + USAGE, lingers: true },
      { name: "an end without usage", family: openaiCompatible, data: ROLE + WORD + STOP, lingers: true },
      {
        name: "a finish reason and usage, which is all that Gemini says",
        family: gemini,
        data: event({ candidates: [candidate], usageMetadata }),
        lingers: true,
      },
    ].flatMap((row) => [
      { ...row, pings: [] },
      { ...row, name: `${row.name}, and pings`, pings: each(500, ": ping\n\n").slice(2) },
    ]),
  )("ends with $name", async ({ family, data, lingers, pings }) => {
    const upstream = new ScriptedUpstream([[HEAD, { atMs: 1_000, data }, ...pings]]);
    const { error, endMs, text } = await run([upstream], { family });
    expect(error).toBeUndefined();
    expect(text).toContain("word");
    expect(endMs).toBeGreaterThanOrEqual(lingers ? 6_000 : 1_000);
    expect(endMs).toBeLessThanOrEqual(lingers ? 11_500 : 1_500);
    await vi.advanceTimersByTimeAsync(12_000);
    expect(upstream.abortsMs).toHaveLength(1);
  });

  test("keeps the connection of one that closes soon after", async () => {
    const upstream = new ScriptedUpstream([ANSWER]);
    expect(await run([upstream])).toMatchObject({ error: undefined });
    await vi.advanceTimersByTimeAsync(12_000);
    expect(upstream.abortsMs).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

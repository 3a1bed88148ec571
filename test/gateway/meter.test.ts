/** What is told, noted and charged of an answer on its way, on a clock that the test tells. */
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Usage, UsageSource } from "../../src/api/index.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { Meter } from "../../src/gateway/meter.js";
import { planOf } from "../../src/gateway/admission.js";
import type { Checkpoint, Hold } from "../../src/ledger/ledger.js";
import { ANSWERED } from "../../src/routing/attempt-types.js";
import { GatewayError } from "../../src/base/errors.js";
import type { AnswerReport, Batch, GrownText, RequestFacts, WireRequest } from "../../src/wire/wire.js";
import { askedOf, openPipeline, Told } from "./pipeline.js";

const START_MS = 1_000;
const HELD_NANOS = 500n;
const SAID: Usage = { ...NO_USAGE, inputTokens: 20n, outputTokens: 30n };

class Text implements GrownText {
  kept = "";
  #dropped = 0;
  get length(): number {
    return this.#dropped + this.kept.length;
  }
  get keptLength(): number {
    return this.kept.length;
  }
  get keptBytes(): number {
    return Buffer.byteLength(this.kept);
  }
  from(place: number): string {
    return this.kept.slice(place - this.#dropped);
  }
  drop(place: number): void {
    this.kept = this.from(place);
    this.#dropped = place;
  }
}

interface Metered {
  readonly meter: Meter;
  readonly told: Told;
  readonly notes: Checkpoint[];
  readonly text: Text;
  /** One attempt of the model's target, of which this is reported. */
  begin(more?: Partial<AnswerReport>): void;
}

async function metered(body: object = {}, facts: Partial<RequestFacts> = {}): Promise<Metered> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"], now: 0 });
  onTestFinished(() => void vi.useRealTimers());
  const pipeline = await openPipeline();
  vi.advanceTimersByTime(START_MS - performance.now());
  const [{ request: asked, acceptWire }, told] = [askedOf(body), new Told()];
  const request: WireRequest = {
    facts: { ...asked.facts, ...facts },
    source: asked.source,
    prompt: () => asked.prompt(),
  };
  const { model } = pipeline;
  const plan = planOf(askedOf(body), model, "chat", pipeline.call());
  const notes: Checkpoint[] = [];
  const hold: Hold = {
    amountNanos: HELD_NANOS,
    createTimeMs: 0,
    checkpoint: (note) => void notes.push(note),
    settle: () => Promise.reject(new Error("the meter settles nothing")),
    noted: undefined,
    close: () => undefined,
  };
  const head = { "x-ratelimit-limit-requests": "7" };
  const turn = { request, model, plan, hold, outputTokensMax: plan.outputTokensMax, head, kind: "chat" } as const;
  const meter = new Meter(turn, {
    sink: told,
    stream: request.facts.stream,
    acceptWire,
    startMs: START_MS,
    createTime: new Date(0),
    accountId: "acme",
    record: undefined,
    parsed: askedOf(body),
    routing: pipeline.steps.routing,
  });
  const text = new Text();
  const begin = (more: Partial<AnswerReport> = {}): void => {
    const [target] = model.targets;
    if (target === undefined) throw new Error("the model has a target");
    meter.begin(target);
    const report: AnswerReport = { made: "content", usage: SAID, complete: true, text: "", grown: text, ...more };
    meter.watch(report);
  };
  return { meter, told, notes, text, begin };
}

const batch = (source: string): Batch => ({ events: [], source: Buffer.from(source), visible: true, error: undefined });

describe("the head", () => {
  test("goes out with the first batch of a stream, once, and says who answered after which wait", async () => {
    const { meter, told, begin } = await metered();
    vi.advanceTimersByTime(40);
    begin();
    meter.ended({
      error: new GatewayError("ERROR_REASON_UPSTREAM_FAILED"),
      status: 500,
      hasOutput: false,
      isOut: false,
      silentMs: 0,
    });
    begin();
    meter.dropped(["seed", "seed", "user"]);
    expect(told.heads).toEqual([]);
    meter.take(batch("a"), START_MS + 70);
    meter.take(batch("b"), START_MS + 90);
    expect(told.heads).toHaveLength(1);
    expect(told.heads[0]).toMatchObject({
      "x-ratelimit-limit-requests": "7",
      "x-tollgate-upstream": "u",
      "x-tollgate-attempts": "2",
      "x-tollgate-overhead-ms": "40.0",
      "x-tollgate-dropped": "seed, user",
    });
    expect(meter.firstBatchMs).toBe(70);
  });

  test("of a whole answer waits for its cost", async () => {
    const { meter, told, begin } = await metered({ stream: false });
    begin();
    expect(meter.take(batch("{}"), START_MS + 5)).toBe(true);
    expect([told.heads.length, told.batches.length]).toEqual([0, 0]);
    meter.end(await meter.outcome("finished"), 50n);
    expect(told.heads[0]).toMatchObject({ "x-tollgate-cost-nanos": "50" });
    expect(told.text).toBe("{}");
  });
});

describe("what it cost", () => {
  test("is what the upstream reported", async () => {
    const { meter, begin } = await metered();
    begin();
    meter.take(batch("a"), START_MS + 5);
    const { usage, usageSource, costNanos } = await meter.outcome("finished");
    expect({ usage, usageSource, costNanos }).toEqual({
      usage: SAID,
      usageSource: UsageSource.USAGE_SOURCE_REPORTED,
      costNanos: 50n,
    });
    expect(meter.doubt).toBeUndefined();
  });

  test("is nothing of an attempt that failed before anything went out", async () => {
    const { meter, begin } = await metered();
    begin();
    const { costNanos, usageSource } = await meter.outcome("failed");
    expect([costNanos, usageSource]).toEqual([0n, UsageSource.USAGE_SOURCE_NONE]);
  });

  test("is within the limit of output that was sent upstream, and the excess is doubted", async () => {
    const { meter, begin } = await metered({ max_tokens: 25 });
    begin();
    meter.take(batch("a"), START_MS + 5);
    expect((await meter.outcome("finished")).costNanos).toBe(45n);
    expect(meter.doubt).toBe("above_limit");
  });

  test("is nothing once it is forgotten", async () => {
    const { meter, begin } = await metered({ stream: false });
    begin();
    meter.take(batch("{}"), START_MS + 5);
    meter.forget();
    expect((await meter.outcome("failed")).costNanos).toBe(0n);
  });
});

describe("a note for a crash", () => {
  test("is made every two seconds in which something came, and not before", async () => {
    const { meter, text, notes, begin } = await metered();
    begin({ usage: { ...NO_USAGE, inputTokens: 20n }, complete: false });
    text.kept = "one two three ";
    meter.take(batch("a"), START_MS + 5);
    meter.look(START_MS + 1_999);
    expect(notes).toEqual([]);
    meter.look(START_MS + 2_000);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatchObject({ upstream: "u", attempts: 1, usage: { inputTokens: 20n } });
    expect(Number(notes[0]?.usage.outputTokens)).toBeGreaterThan(0);
    meter.look(START_MS + 4_000);
    expect(notes.length).toBeLessThanOrEqual(2);
  });

  test("is never made of an answer that is gathered", async () => {
    const { meter, text, notes, begin } = await metered({ stream: false });
    begin({ complete: false });
    text.kept = "one two three ";
    meter.take(batch("a"), START_MS + 5);
    meter.look(START_MS + 10_000);
    expect(notes).toEqual([]);
  });
});

describe("an attempt", () => {
  test("starts with nothing of the one before, and each is in the log with how it ended", async () => {
    const { meter, text, begin } = await metered();
    begin();
    text.kept = "word ".repeat(5_000);
    meter.look(START_MS + 10);
    vi.advanceTimersByTime(30);
    meter.ended({
      error: new GatewayError("ERROR_REASON_UPSTREAM_FAILED"),
      status: 502,
      hasOutput: false,
      isOut: false,
      silentMs: 0,
    });
    begin();
    expect(meter.exceeds()).toBe(false);
    vi.advanceTimersByTime(15);
    meter.ended(undefined);
    expect([meter.attempts, meter.times.upstreamMs, meter.upstream]).toEqual([2, 45, "u"]);
    expect(meter.attemptLog).toContain("502");
    expect(ANSWERED).toBe(200);
  });

  test("that goes past its limit of output is stopped, and one within it has room left", async () => {
    const { meter, text, begin } = await metered({ max_tokens: 100 });
    begin({ complete: false });
    expect(meter.roomTokens()).toBe(100);
    text.kept = "word ".repeat(1_000);
    meter.take(batch("a"), START_MS + 2_500);
    expect(meter.exceeds()).toBe(true);
    expect(meter.roomTokens()).toBeLessThan(0);
  });

  test("that repeats its prompt is not stopped for that", async () => {
    const { meter, text, begin } = await metered({ max_tokens: 100 }, { repeatsInput: true });
    begin({ complete: false });
    const room = meter.roomTokens() - 100;
    expect(room).toBeGreaterThan(0);
    for (const [words, want] of [[room + 100, false] as const, [2 * room + 300, true] as const]) {
      text.kept = "word ".repeat(words);
      meter.take(batch("a"), START_MS + 2_500);
      expect(meter.exceeds()).toBe(want);
    }
  });

  test.each([
    { what: "sound past its limit", more: { audioTokens: 400 }, want: true },
    { what: "sound within it", more: { audioTokens: 90 }, want: false },
    { what: "what no table knows, up to twice its limit", more: { unknownTokens: 200 }, want: false },
    { what: "what no table knows, far beyond that", more: { unknownTokens: 400 }, want: true },
    { what: "pictures, whose tokens are a guess", more: { nonTextTokens: 4_000 }, want: false },
  ])("that brings $what is stopped: $want", async ({ more, want }) => {
    const { meter, begin } = await metered({ max_tokens: 100 });
    begin({ complete: false, ...more });
    meter.take(batch("a"), START_MS + 2_500);
    expect(meter.exceeds()).toBe(want);
  });
});

test("a receiver that is full is heard, and its drain reaches it", async () => {
  const { meter, told, begin } = await metered();
  let drained = 0;
  meter.onDrain(() => (drained += 1));
  begin();
  told.isFull = true;
  expect(meter.take(batch("a"), START_MS + 5)).toBe(false);
  expect(meter.take(batch(""), START_MS + 6)).toBe(true);
  told.drain();
  expect(drained).toBe(1);
});

/** The pipeline of a generation, over a real ledger: whatever ends it, it is settled and gives back what it took. */
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { CallMetadata } from "../../src/api/channel.js";
import { GatewayError } from "../../src/base/errors.js";
import { armFailpoints, readFailpoints } from "../../src/base/failpoint.js";
import { generate } from "../../src/gateway/generate.js";
import type { AnswerBatch } from "../../src/gateway/meter-types.js";
import { type EndedRequest, RequestFeed, type RequestRecord } from "../../src/records/request-record.js";
import type { Step } from "../routing/scripted-upstream.js";
import { askedOf, openPipeline, type Pipeline, type PipelineOptions, settled, Told, until } from "./pipeline.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: object, reason: string | null = null): string =>
  event({ model: "m", choices: [{ index: 0, delta: content, finish_reason: reason }] });
const USAGE = { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50 };
const OPENED: readonly Step[] = [
  { atMs: 10, head: "text/event-stream" },
  { atMs: 20, data: delta({ role: "assistant", content: "Hello" }) },
];
const WHOLE: readonly Step[] = [
  ...OPENED,
  { atMs: 30, data: delta({}, "stop") + event({ choices: [], usage: USAGE }) + "data: [DONE]\n\n" },
  { atMs: 40, end: true },
];
const ANSWER = JSON.stringify({
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: USAGE,
});
const WHOLE_ANSWER: readonly Step[] = [
  { atMs: 10, head: "application/json" },
  { atMs: 20, data: ANSWER },
  { atMs: 30, end: true },
];

interface Ended {
  readonly error: GatewayError | undefined;
  readonly told: Told;
}

/** One slot, so that one that is not given back refuses the next request. */
async function open(options: PipelineOptions): Promise<Pipeline> {
  return openPipeline({ ...options, settings: { concurrency: 1n, tokensPerMinute: 10_000n, ...options.settings } });
}

interface Acts {
  readonly body?: object;
  readonly sink?: Told;
  readonly record?: RequestRecord;
  /** Runs once the upstream was asked. */
  readonly meanwhile?: (call: ReturnType<Pipeline["call"]>, told: Told) => Promise<void>;
}

async function run(pipeline: Pipeline, { body, meanwhile, ...acts }: Acts = {}): Promise<Ended> {
  const told = acts.sink ?? new Told();
  const call = pipeline.call(acts.record === undefined ? {} : { record: acts.record });
  const { requests } = pipeline.upstream;
  const generating = generate(() => askedOf(body), call, told, pipeline.steps).then(
    () => undefined,
    (error: unknown) => GatewayError.from(error),
  );
  if (meanwhile !== undefined) {
    await until(() => pipeline.upstream.requests > requests);
    await meanwhile(call, told);
  }
  return { error: await settled(generating), told };
}

/** What was spent, once nothing is held; no slot is taken then, and nothing runs. */
async function spent(pipeline: Pipeline): Promise<bigint> {
  const { limits, metrics } = pipeline.steps;
  expect(metrics.running).toBe(0);
  const admission = await limits.admit(pipeline.caller, "after");
  admission.release();
  // The end of a hold is written with the next batch.
  await until(async () => (await settled(pipeline.balance())).heldNanos === 0n);
  return (await settled(pipeline.balance())).spentNanos;
}

test("a stream is charged by its report, and its last batch says so", async () => {
  const pipeline = await open({ scripts: [WHOLE] });
  const { error, told } = await run(pipeline);
  expect(error).toBeUndefined();
  const finish = told.batches.at(-1)?.events.at(-1)?.kind;
  expect(finish?.$case === "finish" ? finish.value.costNanos : undefined).toBe(50n);
  expect(told.heads).toHaveLength(1);
  expect(told.heads[0]).toMatchObject({ "x-tollgate-upstream": "u", "x-tollgate-attempts": "1" });
  expect(await spent(pipeline)).toBe(50n);
});

/** Takes all but the end of an answer. */
class Closed extends Told {
  override head(metadata: CallMetadata): void {
    super.head(metadata);
    if (metadata["x-tollgate-cost-nanos"] !== undefined) throw new Error("no head any more");
  }

  override data(batch: AnswerBatch): boolean {
    if (batch.events.some(({ kind }) => kind?.$case === "finish")) throw new Error("no end any more");
    return super.data(batch);
  }
}

test.each([
  { name: "the last batch of a stream", stream: true, sink: () => new Closed() },
  { name: "the head of a whole answer", stream: false, sink: () => new Closed() },
  { name: "what leads to a stream's end", stream: true, failpoint: "before_last_bytes=throw" },
  { name: "what leads to a whole answer", stream: false, failpoint: "before_last_bytes=throw" },
])("where $name fails, record and limits say the charge of the ledger", async ({ stream, sink, failpoint }) => {
  const pipeline = await open({ scripts: [stream ? WHOLE : WHOLE_ANSWER] });
  const records: EndedRequest[] = [];
  const feed = new RequestFeed({ nowMs: Date.now, onError: (error) => expect.unreachable(String(error)) });
  feed.subscribe((record) => records.push(record));
  armFailpoints(readFailpoints(failpoint));
  onTestFinished(() => armFailpoints(undefined));
  const record = feed.begin("r1", "/v1/chat/completions", {});
  const { error } = await run(pipeline, { body: { stream }, record, ...(sink && { sink: sink() }) });
  record.left(error);
  expect(error?.reason).toBe("ERROR_REASON_INTERNAL");
  expect(await spent(pipeline)).toBe(50n);
  expect(records.map(({ answer, failure }) => [answer?.chargedNanos, failure?.reason])).toEqual([[50n, error?.reason]]);
  expect(await pipeline.steps.limits.usedOf(pipeline.caller)).toMatchObject({ tokens: 50 });
});

test("a whole answer has its cost in its head", async () => {
  const pipeline = await open({ scripts: [WHOLE_ANSWER] });
  const { told } = await run(pipeline, { body: { stream: false } });
  expect(told.heads[0]).toMatchObject({ "x-tollgate-cost-nanos": "50" });
  expect(await spent(pipeline)).toBe(50n);
});

test("a request within limits is corrected to what it used", async () => {
  const pipeline = await open({ scripts: [WHOLE], settings: { tokensPerMinute: 1_200n } });
  expect((await run(pipeline)).error).toBeUndefined();
  // The bound of the first would leave no room for that of the second.
  expect((await run(pipeline)).error).toBeUndefined();
  expect(await spent(pipeline)).toBe(100n);
});

test("an upstream that says nothing costs nothing, however long it is waited for", async () => {
  const pipeline = await open({ scripts: [[]] });
  const { error } = await run(pipeline, {
    meanwhile: async () => {
      for (let attempts = 0; attempts < 4; attempts += 1) await vi.advanceTimersByTimeAsync(130_000);
    },
  });
  expect(error?.reason).toBe("ERROR_REASON_UPSTREAM_TIMEOUT");
  expect(await spent(pipeline)).toBe(0n);
});

test("a client that leaves pays for what came, and its upstream is asked no more", async () => {
  const pipeline = await open({ scripts: [OPENED] });
  const { error, told } = await run(pipeline, {
    meanwhile: async (call, sink) => {
      await vi.advanceTimersByTimeAsync(50);
      expect(sink.text).toContain("Hello");
      call.signal.abort(new GatewayError("ERROR_REASON_CANCELLED"));
      // Where it is read on, that ends too.
      await vi.advanceTimersByTimeAsync(120_000);
    },
  });
  expect(error?.reason).toBe("ERROR_REASON_CANCELLED");
  expect(told.text).not.toContain("[DONE]");
  expect(pipeline.upstream.abortsMs.length).toBeGreaterThan(0);
  const spentNanos = await spent(pipeline);
  expect(spentNanos > 0n && spentNanos < 50n).toBe(true);
});

test("a stream that is cut is no whole answer, and what came is charged", async () => {
  const pipeline = await open({ scripts: [[...OPENED, { atMs: 30, end: true }]] });
  const { error, told } = await run(pipeline);
  expect(error?.reason).toBe("ERROR_REASON_UPSTREAM_FAILED");
  expect(told.text).not.toContain("[DONE]");
  const spentNanos = await spent(pipeline);
  expect(spentNanos > 0n && spentNanos < 50n).toBe(true);
});

test.each([
  { name: "cannot be read", body: { messages: 3 }, want: "ERROR_REASON_PARAMETER_INVALID" },
  { name: "names a model that nobody serves", body: { model: "none" }, want: "ERROR_REASON_MODEL_UNKNOWN" },
])("a request that $name is refused before it takes money", async ({ body, want }) => {
  const pipeline = await open({ scripts: [WHOLE] });
  const { error } = await run(pipeline, { body });
  expect(error?.reason).toBe(want);
  expect(pipeline.upstream.requests).toBe(0);
  expect(await spent(pipeline)).toBe(0n);
});

test("an account that has too little for all of it is asked upstream for what it can pay", async () => {
  const pipeline = await open({ scripts: [WHOLE], creditNanos: 700n });
  const { error, told } = await run(pipeline);
  expect(error).toBeUndefined();
  expect(Number(told.heads[0]?.["x-tollgate-clamped"])).toBeGreaterThanOrEqual(256);
  expect(Number(told.heads[0]?.["x-tollgate-clamped"])).toBeLessThan(700);
  expect(await spent(pipeline)).toBe(50n);
});

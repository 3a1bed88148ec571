/** When the head of a stream leaves before its answer, and that failover goes on behind it. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { generate } from "../../src/gateway/generate.js";
import type { Target } from "../../src/routing/model.js";
import type { AnswerBatch } from "../../src/gateway/meter-types.js";
import { ScriptedUpstream, type Step } from "../routing/scripted-upstream.js";
import { targetOf } from "../routing/served.js";
import { askedOf, openPipeline, type PipelineOptions, settled, Told, until } from "./pipeline.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: object, reason: string | null = null): string =>
  event({ model: "m", choices: [{ index: 0, delta: content, finish_reason: reason }] });
const USAGE = { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50 };
const ENDING = delta({}, "stop") + event({ choices: [], usage: USAGE }) + "data: [DONE]\n\n";

/** An answer whose head comes at one time, and its words at another. */
function answer(headMs: number, wordsMs: number): readonly Step[] {
  return [
    { atMs: headMs, head: "text/event-stream" },
    { atMs: wordsMs, data: delta({ role: "assistant", content: "Hello" }) + ENDING },
    { atMs: wordsMs, end: true },
  ];
}
const failure = (atMs: number, status: number): readonly Step[] => [
  { atMs, head: "application/json", status },
  { atMs, data: '{"error":{"message":"no"}}' },
  { atMs, end: true },
];

/** Time passes in such steps. */
const STEP_MS = 50;

/** When the first batch came, which the head waits for. */
class Timed extends Told {
  firstMs: number | undefined;

  override data(batch: AnswerBatch): boolean {
    this.firstMs ??= performance.now();
    return super.data(batch);
  }
}

/** Runs a request; resolves with when its head left, in milliseconds after the request, and how it ended. */
async function run(
  scripts: PipelineOptions["scripts"] & object,
  others: readonly Target[] = [],
  body: object = {},
): Promise<{ readonly headMs: number | undefined; readonly told: Told; readonly error: GatewayError | undefined }> {
  const pipeline = await openPipeline({ scripts });
  const { model } = pipeline;
  const table = { ...model, targets: [...model.targets, ...others] };
  pipeline.steps.routing.replace({ models: new Map([["m", table]]), upstreams: new Map() });
  const told = new Timed();
  const running = generate(() => askedOf(body), pipeline.call(), told, pipeline.steps).then(
    () => undefined,
    (error: unknown) => GatewayError.from(error),
  );
  await until(() => pipeline.upstream.requests > 0);
  const startMs = performance.now();
  const error = await settled(running, STEP_MS);
  return { headMs: told.firstMs === undefined ? undefined : told.firstMs - startMs, told, error };
}

const spare = (script: readonly Step[]): Target => targetOf(new ScriptedUpstream([script]), "spare", { priority: 2 });

test.each([
  { name: "an answer at once takes its own head along", scripts: [answer(5, 10)], early: 0 },
  { name: "one that comes within a second of its head, too", scripts: [answer(5, 900)], early: 0 },
  { name: "the only target has begun its answer, and says nothing", scripts: [answer(5, 3_000)], early: 1_005 },
  { name: "nothing came for ten seconds", scripts: [answer(12_000, 12_001)], early: 10_000 },
  { name: "it fails, and is asked again", scripts: [failure(5, 503), answer(5, 3_000)], early: 1_200 },
])("$name", async ({ scripts, early }) => {
  const { headMs, told, error } = await run(scripts);
  expect(error).toBeUndefined();
  expect(told.heads).toHaveLength(1);
  expect(told.heads[0]).toMatchObject({ "tollgate-form": "stream" });
  expect(told.heads[0]?.["x-tollgate-upstream"]).toBe(early === 0 ? "u" : undefined);
  if (early !== 0) expect(Math.abs((headMs ?? 0) - early)).toBeLessThan(250);
  expect(told.text).toContain("Hello");
});

test("while another target can take over it waits for the answer, at most ten seconds", async () => {
  const { headMs, told } = await run([answer(5, 12_000)], [spare(answer(5, 10))]);
  expect(Math.abs((headMs ?? 0) - 10_000)).toBeLessThan(250);
  expect(told.text).toContain("Hello");
});

test("another target is asked behind a head that has left", async () => {
  const { told, error } = await run([failure(12_000, 503)], [spare(answer(5, 10))]);
  expect(error).toBeUndefined();
  expect([told.heads.length, told.text.includes("Hello")]).toEqual([1, true]);
});

test("an error behind the head is the stream's, and costs nothing", async () => {
  const { told, error } = await run([failure(12_000, 400)]);
  expect(error?.reason).toBe("ERROR_REASON_UPSTREAM_REJECTED");
  expect(told.heads).toHaveLength(1);
  expect(told.text).toBe("");
});

test("a whole answer has no head before it is there", async () => {
  const whole = JSON.stringify({
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
    usage: USAGE,
  });
  const script: readonly Step[] = [
    { atMs: 12_000, head: "application/json" },
    { atMs: 12_001, data: whole },
    { atMs: 12_002, end: true },
  ];
  const { headMs } = await run([script], [], { stream: false });
  expect(headMs ?? 0).toBeGreaterThan(11_900);
});

/** Limits and hold of a request: by its bytes first, and by a count of its input where that is refused. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { findModel, openHold, planOf, reserve } from "../../src/gateway/admission.js";
import type { HoldRequest } from "../../src/ledger/ledger.js";
import type { LimitDecision } from "../../src/limits/limit-decision.js";
import type { Plan } from "../../src/pricing/hold-plan.js";
import type { ServedModel } from "../../src/routing/model.js";
import { askedOf, openPipeline, type Pipeline, type PipelineOptions, settled } from "./pipeline.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Many bytes, and few tokens of a tokenizer that we have. */
const TEXT = "今天天气很好，我们去公园。".repeat(40);
const ASKED = askedOf({ messages: [{ role: "user", content: TEXT }], max_tokens: 300 });

/** The model, as one whose tokenizer is ours. */
function countable({ model }: Pipeline): ServedModel {
  const targets = model.targets.map((target) => {
    const { served } = target;
    const family = { ...served.family, tokenizerIsClose: true };
    return { ...target, model: "gpt-4o", served: { ...served, family } };
  });
  return { ...model, targets };
}

interface Sizes {
  readonly byBytes: Plan;
  readonly byCount: Plan;
  /** Between the two. */
  readonly between: number;
}

async function open(options: PipelineOptions = {}): Promise<Pipeline & { readonly counted: ServedModel } & Sizes> {
  const pipeline = await openPipeline(options);
  const counted = countable(pipeline);
  const byBytes = planOf(ASKED, counted, "chat", pipeline.call());
  const byCount = await settled(byBytes.byCount());
  if (byCount === undefined) throw new Error("nobody counts");
  return { ...pipeline, counted, byBytes, byCount, between: (byBytes.tokens + byCount.tokens) >> 1 };
}

function reasonOf(error: unknown): string {
  return error instanceof GatewayError ? error.reason : String(error);
}

describe("the model", () => {
  test("is one that is served and that the key may use, and a name that nobody serves is no secret", async () => {
    const { steps, call } = await openPipeline({ settings: { modelsDenied: ["m", "n"] } });
    const { caller } = call();
    const find = (id: string) => (): ServedModel => findModel(id, caller, steps);
    expect(find("m")).toThrow(new GatewayError("ERROR_REASON_MODEL_NOT_ALLOWED", { model: "m" }));
    expect(find("M")).toThrow(new GatewayError("ERROR_REASON_MODEL_NOT_ALLOWED", { model: "M" }));
    expect(find("n")).toThrow(new GatewayError("ERROR_REASON_MODEL_UNKNOWN", { model: "n" }));
  });
});

describe("the tokens of a minute", () => {
  async function admission({ steps, caller }: Pipeline, id: string): Promise<LimitDecision> {
    return steps.limits.admit(caller, id);
  }

  test("are taken by the bytes where they fit, and nothing is counted", async () => {
    const made = await open({ settings: { tokensPerMinute: 100_000n } });
    const plan = planOf(ASKED, made.counted, "chat", made.call());
    expect(await reserve(plan, made.counted, await admission(made, "a"))).toBe(plan);
  });

  test("are taken by a count where the bytes do not fit beside what others took, until a minute is over", async () => {
    const sizes = await open();
    const made = await open({ settings: { tokensPerMinute: BigInt(sizes.between + 1_000) } });
    const first = await admission(made, "first");
    await first.reserve(1_000, "m");
    const plan = planOf(ASKED, made.counted, "chat", made.call());
    const taken = await settled(Promise.resolve(reserve(plan, made.counted, await admission(made, "second"))));
    expect(taken.tokens).toBe(made.byCount.tokens);
    const third = Promise.resolve().then(async () => reserve(plan, made.counted, await admission(made, "third")));
    expect(reasonOf(await settled(third.catch((error: unknown) => error)))).toBe("ERROR_REASON_RATE_LIMITED");
    vi.advanceTimersByTime(61_000);
    expect(await reserve(plan, made.counted, await admission(made, "fourth"))).toBe(plan);
  });

  test("are refused by the bytes where nobody can count", async () => {
    const sizes = await open();
    const made = await open({ settings: { tokensPerMinute: BigInt(sizes.between + 1_000) } });
    await (await admission(made, "first")).reserve(1_000, "m");
    const plan = planOf(ASKED, made.model, "chat", made.call());
    const refused = Promise.resolve().then(async () => reserve(plan, made.model, await admission(made, "second")));
    expect(reasonOf(await settled(refused.catch((error: unknown) => error)))).toBe("ERROR_REASON_RATE_LIMITED");
  });
});

describe("the money", () => {
  /** What is held, or why it is refused. */
  async function held(made: Pipeline, model: ServedModel, plan: Plan): Promise<bigint | string> {
    const { steps, call } = made;
    const opening = Promise.resolve().then(() => openHold(plan, model, call(), steps, deadlineOf(made)));
    const opened = await settled(opening.catch((error: unknown) => error));
    if (opened instanceof GatewayError) return opened.reason;
    return typeof opened === "object" && opened !== null && "hold" in opened ? heldBy(opened.hold) : String(opened);
  }

  const heldBy = (hold: unknown): bigint => BigInt(String(Reflect.get(Object(hold), "amountNanos")));
  const deadlineOf = ({ steps }: Pipeline) => steps.routing.deadline({}, performance.now(), Infinity);

  test("is held by the bytes where there is enough", async () => {
    const made = await open();
    const plan = planOf(ASKED, made.counted, "chat", made.call());
    expect(await held(made, made.counted, plan)).toBe(made.byBytes.amountNanos);
    expect((await settled(made.balance())).heldNanos).toBe(made.byBytes.amountNanos);
  });

  test("is held by a count where the bytes cost too much", async () => {
    const sizes = await open();
    const creditNanos = (sizes.byBytes.leastNanos + sizes.byCount.amountNanos) / 2n;
    expect(creditNanos > sizes.byCount.amountNanos).toBe(true);
    const made = await open({ creditNanos });
    const plan = planOf(ASKED, made.counted, "chat", made.call());
    expect(await held(made, made.counted, plan)).toBe(made.byCount.amountNanos);
  });

  test("is refused where not even a count is paid, and where nobody can count", async () => {
    const sizes = await open();
    const poor = await open({ creditNanos: sizes.byCount.leastNanos - 1n });
    const planOfPoor = planOf(ASKED, poor.counted, "chat", poor.call());
    expect(await held(poor, poor.counted, planOfPoor)).toBe("ERROR_REASON_BALANCE_TOO_LOW");
    const made = await open({ creditNanos: sizes.byBytes.leastNanos - 1n });
    const plan = planOf(ASKED, made.model, "chat", made.call());
    expect(await held(made, made.model, plan)).toBe("ERROR_REASON_BALANCE_TOO_LOW");
    expect((await settled(made.balance())).heldNanos).toBe(0n);
  });

  test("is held as far as it goes where the output may be lowered, and refused where it may not", async () => {
    const sizes = await open();
    const { leastNanos, amountNanos } = sizes.byBytes;
    const creditNanos = (leastNanos + amountNanos) / 2n;
    const made = await open({ creditNanos });
    const lowered = planOf(ASKED, made.model, "chat", made.call());
    expect(await held(made, made.model, lowered)).toBe(creditNanos);
    const exact = askedOf({ messages: [{ role: "user", content: TEXT }], max_tokens: 300 }, { clamp: false });
    const other = await open({ creditNanos });
    expect(await held(other, other.model, planOf(exact, other.model, "chat", other.call()))).toBe(
      "ERROR_REASON_BALANCE_TOO_LOW",
    );
  });

  test("stays within the most cost of a request, and the refusal names it", async () => {
    const sizes = await open();
    const { leastNanos, amountNanos } = sizes.byBytes;
    const within = await open({ settings: { requestCostMaxNanos: leastNanos } });
    expect(await held(within, within.model, planOf(ASKED, within.model, "chat", within.call()))).toBe(leastNanos);
    expect(leastNanos < amountNanos).toBe(true);
    const below = await open({ settings: { requestCostMaxNanos: leastNanos - 1n } });
    expect(await held(below, below.model, planOf(ASKED, below.model, "chat", below.call()))).toBe(
      "ERROR_REASON_BUDGET_EXCEEDED",
    );
  });

  test.each([
    { name: "the settings' total, and reading on", callerMs: Infinity, afterMs: 0, wantMs: 660_000 },
    { name: "that, less what admission took", callerMs: Infinity, afterMs: 10_000, wantMs: 650_000 },
    { name: "its caller's own deadline, and reading on", callerMs: 5_000, afterMs: 0, wantMs: 65_000 },
  ])("is held as long as $name", async ({ callerMs, afterMs, wantMs }) => {
    const made = await open();
    const { model, steps } = made;
    const call = made.call();
    const startMs = performance.now();
    const deadline = steps.routing.deadline({}, startMs, startMs + callerMs);
    vi.advanceTimersByTime(afterMs);
    const asked: HoldRequest[] = [];
    // A ledger that tells what it was asked.
    const ledger = { hold: (request: HoldRequest) => (asked.push(request), made.ledger.hold(request)) };
    await settled(Promise.resolve(openHold(planOf(ASKED, model, "chat", call), model, call, { ledger }, deadline)));
    expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([wantMs]);
  });

  test("is asked for after what must be written before it", async () => {
    const made = await open();
    let release: () => void = () => undefined;
    const written = new Promise<void>((resolve) => (release = resolve));
    const call = made.call({ beforeHold: () => written });
    const plan = planOf(ASKED, made.counted, "chat", call);
    const opening = openHold(plan, made.counted, call, made.steps, deadlineOf(made));
    expect((await settled(made.balance())).heldNanos).toBe(0n);
    release();
    expect((await settled(Promise.resolve(opening))).plan).toBe(plan);
    expect((await settled(made.balance())).heldNanos).toBe(plan.amountNanos);
  });
});

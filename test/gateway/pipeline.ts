/**
 * The steps of a generation over a real ledger, real limits and real routing, to an upstream that follows a script, on
 * a clock that the test moves.
 */
import { onTestFinished, vi } from "vitest";
import { ByteBudget, OF_ANSWERS } from "../../src/base/bytes/byte-budget.js";
import { Cancellation } from "../../src/base/cancellation.js";
import type { CallMetadata, Sink } from "../../src/api/channel.js";
import { type Generation, KeySettings, type Price } from "../../src/api/index.js";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import type { GatewayCall } from "../../src/gateway/gateway.js";
import type { ParsedRequest } from "../../src/gateway/generate.js";
import type { AnswerBatch } from "../../src/gateway/meter-types.js";
import type { Steps } from "../../src/gateway/steps.js";
import type { Caller } from "../../src/keys/caller.js";
import { callerOf } from "../../src/keys/key-caller.js";
import type { Ledger } from "../../src/ledger/ledger.js";
import { Limits } from "../../src/limits/limits.js";
import { Metrics } from "../../src/observe/metrics.js";
import { createLongAnswers } from "../../src/reading/long-answers.js";
import { createLongBodies } from "../../src/reading/long-bodies.js";
import { REQUEST_TIMEOUTS } from "../../src/routing/deadline.js";
import type { ServedModel } from "../../src/routing/model.js";
import { Routing } from "../../src/routing/routing.js";
import { wire } from "../../src/wire/openai-chat/index.js";
import { TEST_ACT } from "../support/acts.js";
import { settingsOf } from "../keys/key-world.js";
import { bench } from "../ledger/bench.js";
import { priceOf } from "../pricing/prices.js";
import { ScriptedUpstream, type Step } from "../routing/scripted-upstream.js";
import { modelOf, targetOf } from "../routing/served.js";
import { SURFACES } from "../../src/wire/surfaces.js";
import { affinity, limiter, promptCaches } from "../support/prompt-caches.js";

/** A nano for each token. */
export const PRICE: Price = priceOf({ input: 1_000n, output: 1_000n });
export const OUTPUT_TOKENS_MAX = 1_000;
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };
/** Of the clock of this machine, whatever the test does with time. */
const realTimeout = globalThis.setTimeout;

function nothing(): void {
  // What is told is another test's.
}

export interface Pipeline {
  readonly steps: Steps;
  readonly ledger: Ledger;
  readonly upstream: ScriptedUpstream;
  readonly model: ServedModel;
  readonly caller: Caller;
  /** A call of its own, which the test can end. */
  call(more?: Partial<GatewayCall>): GatewayCall & { readonly signal: Cancellation };
  /** What the account has: with the 100 that it begins with. */
  balance(): Promise<{ readonly availableNanos: bigint; readonly heldNanos: bigint; readonly spentNanos: bigint }>;
}

export interface PipelineOptions {
  /** One for each request; those beyond the last follow the last. */
  readonly scripts?: readonly (readonly Step[])[];
  readonly creditNanos?: bigint;
  readonly settings?: Partial<KeySettings>;
}

/** Has the model `m` of one target, and the account `acme`. */
export async function openPipeline(options: PipelineOptions = {}): Promise<Pipeline> {
  const { ledger } = await bench({ beatEveryMs: 60_000, monotonicMs: () => performance.now() });
  const { creditNanos = 1_000_000n, scripts = [[]] } = options;
  await ledger.credit({ creditId: "c9", accountId: "acme", amountNanos: creditNanos - 100n, act: TEST_ACT });
  const coordination = createInProcessCoordination({ nowMs: () => performance.now(), heartbeatMs: 0 });
  const [longBodies, longAnswers] = [createLongBodies(), createLongAnswers()];
  onTestFinished(async () => {
    vi.useRealTimers();
    await Promise.all([longBodies.close(), longAnswers.close(), coordination.close()]);
  });
  const upstream = new ScriptedUpstream(scripts);
  const model = { ...modelOf([targetOf(upstream, "u")]), price: PRICE, outputTokensMax: OUTPUT_TOKENS_MAX };
  const heard = {
    listed: (): undefined => undefined,
    onAttempt: nothing,
    onUnknownMember: nothing,
    onReadOn: nothing,
    affinity,
    limiter,
    promptCaches,
  };
  const nowMs = (): number => performance.now();
  const routing = new Routing({ nowMs, random: () => 0.5, timeouts: REQUEST_TIMEOUTS, ...heard });
  routing.replace({ models: new Map([["m", model]]), upstreams: new Map() });
  const settings = KeySettings.encode(settingsOf(options.settings ?? {})).finish();
  const key = { id: "key_1", accountId: "acme", settings, digest: new Uint8Array(32), hint: "", createTimeMs: 1 };
  const unset = { previousDigest: null, previousUntilMs: null, revokeTimeMs: null, makerId: null, revision: 1 };
  const caller = callerOf({ ...key, ...unset });
  let calls = 0;
  return {
    steps: {
      wires: new Map([[wire.name, wire]]),
      embeddingWires: new Map(),
      surfaces: SURFACES,
      longBodies,
      longAnswers,
      answerMemory: new ByteBudget(64 * 1024 * 1024, OF_ANSWERS),
      routing,
      limits: new Limits({ coordination }),
      quotas: { take: () => undefined },
      ledger,
      log: SILENT,
      metrics: new Metrics(),
      nowMs: Date.now,
    },
    ledger,
    upstream,
    model,
    caller,
    call: (more = {}) => ({ caller, requestId: `r${(calls += 1)}`, ...more, signal: new Cancellation() }),
    balance: () => ledger.balance("acme"),
  };
}

/** What a client of the wire of OpenAI's chats asks of the model `m`. */
export function askedOf(body: object = {}, said: Partial<Generation> = {}): ParsedRequest {
  const whole = { model: "m", stream: true, messages: [{ role: "user", content: "Hi" }], ...body };
  const source = { wire: wire.name, body: Buffer.from(JSON.stringify(whole)), headers: {} };
  const generation = { model: "", input: undefined, outputTokensMax: undefined, clamp: undefined, ...said };
  return { request: wire.readRequest(source, "generate"), generation, acceptWire: wire.name };
}

/** Takes what it is given, and says when it is full. */
export class Told implements Sink<AnswerBatch> {
  readonly heads: CallMetadata[] = [];
  readonly batches: AnswerBatch[] = [];
  drain: () => void = nothing;
  isFull = false;

  head(metadata: CallMetadata): void {
    this.heads.push(metadata);
  }

  data(batch: AnswerBatch): boolean {
    this.batches.push(batch);
    return !this.isFull;
  }

  onDrain(callback: () => void): void {
    this.drain = callback;
  }

  get text(): string {
    return this.batches.map(({ source }) => source.toString()).join("");
  }
}

/** Lets time pass, `stepMs` for some of this machine's, until the promise is settled: it waits for a database. */
export async function settled<Value>(promise: Promise<Value>, stepMs = 1): Promise<Value> {
  const life = { isOver: false };
  const done = (): void => void (life.isOver = true);
  promise.then(done, done);
  while (!life.isOver) await tick(stepMs);
  return promise;
}

/** The same until something holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await tick();
}

async function tick(stepMs = 1): Promise<void> {
  await new Promise<void>((resolve) => void realTimeout(resolve, 5));
  await vi.advanceTimersByTimeAsync(stepMs);
}

/** Callers that give up: what they waited for in vain counts against its target, on a clock that the test moves. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Cancellation } from "../../src/base/cancellation.js";
import { GatewayError } from "../../src/base/errors.js";
import { REQUEST_TIMEOUTS } from "../../src/routing/deadline.js";
import { Routing } from "../../src/routing/routing.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { ScriptedUpstream, type Step } from "./scripted-upstream.js";
import { modelOf, targetOf } from "./served.js";
import { affinity, limiter, promptCaches } from "../support/prompt-caches.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  // The clock ran long before the first request.
  vi.advanceTimersByTime(60_000);
});
afterEach(() => void vi.useRealTimers());

const HEAD: Step = { atMs: 10, head: "text/event-stream" };
const delta = (content: object, reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: content, finish_reason: reason }] })}\n\n`;
const ROLE: Step = { atMs: 20, data: delta({ role: "assistant", content: "" }) };
const WORD: Step = { atMs: 30, data: delta({ content: "word" }) };
const END: Step = { atMs: 40, data: `${delta({}, "stop")}data: [DONE]\n\n` };
/** One a second. */
const WORDS: readonly Step[] = Array.from({ length: 30 }, (_, index) => ({
  atMs: 1_000 * index + 30,
  data: delta({ content: "word" }),
}));
const ANSWER: readonly Step[] = [HEAD, ROLE, WORD, END, { atMs: 50, end: true }];

const BODY = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "Hi" }] });
const REQUEST = chat.readRequest({ wire: chat.name, body: Buffer.from(BODY), headers: {} });
const LEAVES = new GatewayError("ERROR_REASON_CANCELLED");
const IS_LATE = new GatewayError("ERROR_REASON_UPSTREAM_TIMEOUT", { phase: "deadline" });
const nothing = (): void => undefined;
const RECEIVER = { begin: nothing, ended: nothing, watch: nothing, onDrain: nothing, take: () => true };

/** How a caller gives up. */
interface Leaving {
  readonly leavesMs: number;
  readonly reason: GatewayError;
}

/** A target that follows one script for each request, and one behind it that answers. */
class Targets {
  readonly first: ScriptedUpstream;
  readonly second = new ScriptedUpstream([ANSWER]);
  readonly #model;
  readonly #routing = new Routing({
    affinity,
    limiter,
    promptCaches,
    nowMs: () => performance.now(),
    random: () => 0.5,
    timeouts: REQUEST_TIMEOUTS,
    listed: () => undefined,
    onAttempt: nothing,
    onReadOn: nothing,
    onUnknownMember: nothing,
  });

  constructor(scripts: readonly (readonly Step[])[]) {
    this.first = new ScriptedUpstream(scripts);
    this.#model = modelOf([targetOf(this.first, "first"), targetOf(this.second, "second", { priority: 2 })]);
  }

  /** The error of one request, once it is over. */
  async ask(accountId: string, leaving: Leaving): Promise<GatewayError | undefined> {
    const signal = new Cancellation();
    setTimeout(() => signal.abort(leaving.reason), leaving.leavesMs);
    const deadline = this.#routing.deadline({}, performance.now(), Infinity);
    const said = { kind: "chat" as const, acceptWire: chat.name, outputTokensMax: 10, stream: true };
    const options = { ...said, accountId, candidateCount: 1, strict: false, signal, deadline };
    const life: { isOver: boolean; error?: GatewayError } = { isOver: false };
    const over = this.#routing
      .run(REQUEST, this.#model, options, RECEIVER)
      .catch((error: unknown) => void (life.error = GatewayError.from(error)))
      .then(() => void (life.isOver = true));
    while (!life.isOver) await vi.advanceTimersByTimeAsync(10);
    await over;
    return life.error;
  }

  /** Five callers of two accounts give up, one after the other. */
  async giveUp(leavesMs: number, reason: GatewayError): Promise<void> {
    for (const accountId of ["acme", "bolt", "acme", "bolt", "acme"])
      expect((await this.ask(accountId, { leavesMs, reason }))?.reason).toBe(reason.reason);
  }

  /** True where a request of another account goes past the first target. */
  async isEjected(): Promise<boolean> {
    const before = this.second.requests;
    await this.ask("another", { leavesMs: 1_000, reason: LEAVES });
    return this.second.requests > before;
  }
}

const SILENT: readonly Step[] = [];
const WAYS = [
  { way: "leave", reason: LEAVES },
  { way: "are out of time", reason: IS_LATE },
];

describe.each(WAYS)("five callers of two accounts that $way", ({ reason }) => {
  test.each([
    { name: "after 10 s, before any sign of an answer", script: SILENT, leavesMs: 10_000, isEjected: true },
    { name: "after 10 s, behind a head and who speaks", script: [HEAD, ROLE], leavesMs: 10_000, isEjected: true },
    { name: "after 9 s, before any sign of an answer", script: SILENT, leavesMs: 9_000, isEjected: false },
    { name: "after 9 s, behind a head and who speaks", script: [HEAD, ROLE], leavesMs: 9_000, isEjected: false },
    { name: "after 10 s, behind a word", script: [HEAD, ROLE, WORD], leavesMs: 10_000, isEjected: false },
    { name: "after 20 s, behind a word", script: [HEAD, ROLE, WORD], leavesMs: 20_000, isEjected: true },
    { name: "after 20 s, while words come", script: [HEAD, ROLE, ...WORDS], leavesMs: 20_000, isEjected: false },
  ])("$name: the target is ejected: $isEjected", async ({ script, leavesMs, isEjected }) => {
    const targets = new Targets([script]);
    await targets.giveUp(leavesMs, reason);
    expect([targets.first.requests, targets.second.requests]).toEqual([5, 0]);
    expect(await targets.isEjected()).toBe(isEjected);
  });
});

test("who leaves behind a word is no success either: what others wait for in vain still counts", async () => {
  const targets = new Targets([SILENT, SILENT, SILENT, SILENT, [HEAD, ROLE, WORD], SILENT]);
  const leaves = { leavesMs: 10_000, reason: LEAVES };
  for (const accountId of ["acme", "bolt", "acme", "bolt", "acme"]) await targets.ask(accountId, leaves);
  expect(await targets.isEjected()).toBe(false);
  await targets.ask("bolt", leaves);
  expect(await targets.isEjected()).toBe(true);
});

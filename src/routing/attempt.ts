/** One try of one target: from the request's first byte to the answer's last, within its bounds of time and size. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { GatheredBytes } from "../base/bytes/gathered-bytes.js";
import { listeningClock } from "../base/event-loop/listening-clock.js";
import { GatewayError } from "../base/errors.js";
import { settle, whenReady } from "../base/when-ready.js";
import type { Exchange, UpstreamHandler } from "../upstream/upstream.js";
import type { AnswerReport, Batch, StreamDecoder } from "../wire/wire.js";
import {
  abortReason,
  ANSWERED,
  type AttemptEnd,
  type AttemptFailure,
  type AttemptPlan,
  type BatchReceiver,
  overdue,
} from "./attempt-types.js";
import { AttemptTimes, type PhaseState } from "./attempt-times.js";
import { connectionFailure } from "./failure-message.js";
import { GatheredSteps } from "./gathered-steps.js";
import { HeldBack } from "./held-back.js";
import { Intake } from "./intake.js";
import { askBody, headersFor } from "./upstream-request.js";
import { batchesOf, isLong, readLong, readShort } from "./whole-answer.js";
import { namedStream } from "../wire/answer/told-model.js";
import { readable, refuseCompressed, unreadable, upstreamFailed } from "../wire/error/refusals.js";

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;
/** Near the limit of output a read is taken in pieces of so much, so that no more than one goes out past it. */
const PIECE_BYTES = 2_048;

/** Runs the plan. Never rejects. */
export function runAttempt(plan: AttemptPlan, receiver: BatchReceiver): Promise<AttemptEnd> {
  return new Promise((resolve) => void new Attempt(plan, receiver, resolve).start());
}

class Attempt implements UpstreamHandler {
  #phase: PhaseState["phase"] = "head";
  #exchange: Exchange | undefined;
  #decoder: StreamDecoder | undefined;
  #report: AnswerReport | undefined;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  readonly #kept = new GatheredBytes();
  #bytes = 0;
  #intake: Intake | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #times: AttemptTimes;
  /** True until the upstream closed. */
  #isOpen = true;
  /** True once something came that a client sees: pings and openings are no output. */
  #hasOutput = false;
  /** True once the receiver has something of the answer. Until then it is held back. */
  #isOut = false;
  #heldBack: HeldBack | undefined;
  #paused = false;
  #onResume: (() => void) | undefined;
  /** What was read has to wait for its turn; until then no more is read. */
  readonly #follow = (isFull: boolean): void =>
    this.#guard(() => {
      if (isFull) this.#exchange?.pause();
      else if (!this.#paused) this.#exchange?.resume();
    });
  readonly #onAbort = (): void => this.#guard(() => this.#leave());
  readonly onSent = (): void => this.receiver.sent?.();

  constructor(
    private readonly plan: AttemptPlan,
    private readonly receiver: BatchReceiver,
    private readonly resolve: (end: AttemptEnd) => void,
  ) {
    this.#times = new AttemptTimes(plan.timeouts, plan.deadline, plan.hasOther);
    if (plan.gathers) this.#heldBack = new HeldBack(new GatheredSteps(plan));
  }

  start(): void {
    const { plan } = this;
    if (plan.signal.aborted) return this.#fail(abortReason(plan.signal));
    const begin = (): unknown => {
      const dropped: string[] = [];
      const body = askBody(plan, dropped);
      plan.signal.addEventListener("abort", this.#onAbort, { once: true });
      this.#arm();
      return whenReady(body, (written) => this.#send(written, dropped));
    };
    settle(begin, (error) => this.#fail(error));
  }

  #send(body: Buffer, dropped: readonly string[]): void {
    const { plan } = this;
    // Whoever left while a long body was written is asked nothing any more.
    if (this.#phase === "done" || plan.signal.aborted) return this.#fail(abortReason(plan.signal));
    const { endpoint, target, ownHeaders } = plan;
    if (dropped.length > 0) this.receiver.dropped?.(dropped);
    this.receiver.onDrain(() => this.#guard(() => this.#resume()));
    this.#times.start();
    const path = endpoint.generatePath(target.model, plan.owned.stream);
    const asked = { method: "POST", path, headers: headersFor(plan), ownHeaders, body } as const;
    this.#exchange = target.served.upstream.send(asked, this);
  }

  onHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.#guard(() => this.#begin(status, headers));
  }

  #begin(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.#phase === "done") return;
    [this.#status, this.#headers] = [status, headers];
    this.#times.revive();
    if (this.plan.target.passesUnifiedLimits === true) this.receiver.limits?.(headers);
    if (status !== ANSWERED) return void (this.#phase = "error");
    refuseCompressed(headers);
    const isJson = /json/i.test(headers["content-type"] ?? "");
    const { request, form, endpoint, owned, toldModel, isLast } = this.plan;
    this.#phase = "whole";
    if (!owned.stream) return;
    const stream = endpoint.wire.decodeStream?.(request.facts, form, request.outline ?? request);
    const decoder = (this.#decoder = namedStream(stream, toldModel));
    if (decoder === undefined) return isJson ? undefined : this.#fail(upstreamFailed("it answered with a stream"));
    this.#phase = "stream";
    this.#intake = new Intake((chunk) => this.#readShare(decoder, chunk), this.#follow, isJson);
    this.#watch(decoder.report);
    if (isLast && !isJson) this.receiver.underway?.();
  }

  #watch(report: AnswerReport): void {
    this.#report = report;
    this.receiver.watch(report);
  }

  onData(chunk: Buffer): void {
    // What follows an answer that is over.
    if (this.#phase === "done" || this.#phase === "reading") return;
    this.#times.read();
    this.#bytes += chunk.length;
    if (this.#intake?.isOfWhole(chunk) === true) [this.#phase, this.#intake] = ["whole", undefined];
    if (this.#phase === "error" && this.#bytes > ERROR_BYTES_MAX) return this.#refuse();
    if (this.#bytes > ANSWER_BYTES_MAX) return this.#fail(upstreamFailed("its answer is too large"));
    if (this.#intake === undefined || this.plan.gathers) this.#guard(() => this.plan.long?.memory.reach(this.#bytes));
    if (this.#intake === undefined || this.#decoder === undefined) return this.#kept.add(chunk);
    if (this.#intake.admits(chunk.length)) this.#readShare(this.#decoder, chunk);
    else this.#intake.push(chunk);
  }

  #readShare(decoder: StreamDecoder, chunk: Buffer): void {
    if (chunk.length <= PIECE_BYTES) return this.#push(decoder, chunk);
    this.#guard(() => {
      const step = chunk.length <= (this.receiver.roomTokens?.() ?? Infinity) ? chunk.length : PIECE_BYTES;
      for (let start = 0; start < chunk.length && this.#phase === "stream"; start += step)
        this.#push(decoder, chunk.subarray(start, start + step));
    });
  }

  /** Once an event: no closure here. */
  #push(decoder: StreamDecoder, chunk: Buffer): void {
    if (this.#phase !== "stream") return;
    let batch: Batch;
    try {
      batch = decoder.push(chunk);
    } catch (error) {
      return this.#fail(unreadable(error));
    }
    try {
      this.#forward(batch);
      if (this.receiver.exceeds?.() === true) return this.#cut(decoder);
      // An upstream that said its last word may keep the connection open.
      if (decoder.isDone) this.#endStream();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** An upstream that ignores the limit is left, and the answer ends as one that reached it. */
  #cut(decoder: StreamDecoder): void {
    if (this.#phase !== "stream") return;
    if (this.#hasLeft) return this.#fail(abortReason(this.plan.signal));
    this.#forward(decoder.cut(this.plan.owned.outputTokensMax ?? 0));
    this.#isOpen = false;
    this.#finish();
    this.#exchange?.abort();
  }

  onEnd(): void {
    this.#isOpen = false;
    switch (this.#phase) {
      case "stream":
        return this.#intake?.end(() => this.#guard(() => this.#endStream()));
      case "whole":
        return this.#guard(() => this.#endWhole());
      case "error":
        return this.#refuse();
      case "head":
        return this.#fail(upstreamFailed("it closed the connection"));
      case "reading":
      case "done":
        clearTimeout(this.#timer);
    }
  }

  onError(error: Error, sent: boolean): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    // All of it is here, and only waits to be told.
    if (this.#phase === "reading") return;
    const fail = (): void => this.#fail(connectionFailure(error, sent));
    return this.#intake === undefined ? fail() : this.#intake.end(fail);
  }

  get #isOver(): boolean {
    return this.#phase === "done";
  }

  /** True once the client left, and its answer is read on. */
  get #hasLeft(): boolean {
    return this.#times.isReadOn;
  }

  /** An upstream refuses in one envelope at most of its addresses. What came of it by now has to do. */
  #refuse(): void {
    this.#guard(() => {
      const { wire, refusals } = this.plan.target.served.family;
      const decodeError = this.plan.endpoint.wire.decodeError ?? wire.decodeError;
      this.#fail(readable(() => decodeError(this.#status, this.#headers, this.#kept.take(), refusals)));
    });
  }

  #endStream(): void {
    const decoder = this.#decoder;
    if (decoder === undefined || this.#phase !== "stream") return;
    this.#forward(readable(() => decoder.end()));
    if (this.#isOver) return;
    // A stream that just stops is no answer, however much of it came.
    if (!decoder.report.complete) return this.#fail(upstreamFailed("its answer was cut"));
    this.#finish();
  }

  #endWhole(): void {
    if (isLong(this.#kept, this.plan)) {
      this.#phase = "reading";
      return void this.#tellLong().catch((error: unknown) => this.#fail(unreadable(error)));
    }
    const answer = readable(() => readShort(this.#kept, this.plan));
    this.#watch(answer.report);
    this.#forward(readable(() => answer.batch()));
    this.#finish();
  }

  /** The thread that reads it may be busy with others', and what it tells goes out as its client takes it. */
  async #tellLong(): Promise<void> {
    const answer = await readLong(this.#kept, this.plan);
    if (this.#isOver) return;
    this.#watch(answer.report);
    for await (const batch of batchesOf(answer, this.plan)) {
      this.#forward(batch);
      await (this.#paused ? new Promise<void>((resolve) => (this.#onResume = resolve)) : nextTurn());
      if (this.#isOver) return;
    }
    this.#finish();
  }

  #forward(batch: Batch): void {
    if (batch.visible) {
      this.#times.hasOutput();
      if (!this.#hasOutput) {
        this.#hasOutput = true;
        this.plan.onOutput();
      }
    }
    const hasLeft = this.#hasLeft;
    // What nobody is given yet counts all the same.
    if (hasLeft || this.plan.gathers) this.receiver.look?.(this.#times.lastReadMs);
    if (!hasLeft && (batch.events.length > 0 || batch.source.length > 0 || batch.visible)) this.#give(batch);
    if (batch.error !== undefined) this.#fail(batch.error);
  }

  #give(batch: Batch): void {
    const out = this.#isOut ? batch : (this.#heldBack ??= new HeldBack()).take(batch);
    if (out === undefined) return;
    this.#isOut = true;
    if (this.receiver.take(out, this.#times.lastReadMs) || this.#paused) return;
    this.#paused = true;
    this.#intake?.hold();
    this.#exchange?.pause();
  }

  #resume(): void {
    if (!this.#paused || this.#phase === "done") return;
    this.#paused = false;
    this.#times.revive();
    this.#onResume?.();
    this.#intake?.release();
    if (this.#intake?.isResting !== true) this.#exchange?.resume();
  }

  /** The client left: stop where that stops the bill, else read on for the usage, within bounds. */
  #leave(): void {
    if (this.#phase === "done" || this.#hasLeft) return;
    if (this.#phase === "error" || !this.plan.mayReadOn()) return this.#fail(abortReason(this.plan.signal));
    this.#times.readOn();
    this.#resume();
    this.#arm();
  }

  /** One timer for each attempt, set anew when it fires rather than at each read. */
  #arm(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#times.nap(this.#state, this.plan.owned.stream, () => this.#guard(() => this.#look()));
  }

  get #state(): PhaseState {
    const isStream = this.#phase === "stream" || (this.#phase === "head" && this.plan.owned.stream);
    const [hasOutput, hasBytes] = [this.#hasOutput, this.#bytes > 0];
    return { phase: this.#phase, isStream, hasOutput, hasBytes, isPaused: this.#paused, report: this.#report };
  }

  #look(): void {
    if (this.#phase === "done") {
      if (!this.#paused && this.#times.hasLingered) return this.#exchange?.abort();
      this.#arm();
      this.#timer?.unref();
      return;
    }
    // Nothing follows that counts: some wires have no word for their end, and usage had its time to come. Pings may.
    const isSilent = this.#phase === "stream" && !this.#paused && this.#times.isSilent;
    if (isSilent && this.#decoder?.report.complete === true) {
      this.#guard(() => this.#endStream());
      return this.#exchange?.abort();
    }
    const [dueMs, phase] = this.#times.due(this.#state);
    if (dueMs > listeningClock.nowMs()) {
      if (this.#phase === "stream") this.#guard(() => this.receiver.look?.(performance.now()));
      return this.#arm();
    }
    if (phase === "error") return this.#refuse();
    this.#fail(overdue(phase, this.plan.signal));
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #finish(): void {
    if (this.#isOver) return;
    const rest = this.#hasLeft || this.#isOut ? undefined : this.#heldBack?.end();
    if (!(rest instanceof Promise)) return this.#conclude(rest);
    this.#phase = "reading";
    rest.then((batch) => this.#guard(() => this.#conclude(batch))).catch((error) => this.#fail(unreadable(error)));
  }

  #conclude(rest: Batch | undefined): void {
    if (this.#isOver) return;
    if (rest !== undefined) {
      this.#isOut = true;
      this.receiver.take(rest, this.#times.lastReadMs);
    }
    this.#over(this.#hasLeft ? this.#failure(abortReason(this.plan.signal)) : undefined, () => {
      if (!this.#isOpen) return;
      // The connection is free for others once it ends; one that stays open is closed.
      if (this.#paused || this.#intake?.isResting === true) this.#exchange?.resume();
      this.#paused = false;
      this.#timer?.unref();
    });
  }

  #fail(error: unknown): void {
    this.#over(this.#failure(GatewayError.from(error)), () => {
      clearTimeout(this.#timer);
      this.#exchange?.abort();
    });
  }

  #failure(error: GatewayError): AttemptFailure {
    const silentMs = this.#paused ? 0 : this.#times.silentMs;
    return { error, status: this.#status, hasOutput: this.#hasOutput, isOut: this.#isOut, silentMs };
  }

  /** Ends the attempt once. Nothing that fails while it lets go of its parts keeps its request waiting. */
  #over(failure: AttemptFailure | undefined, letGo: () => void): void {
    if (this.#phase === "done") return;
    this.#phase = "done";
    if (failure !== undefined && !this.#isOut) this.plan.long?.memory.giveBack();
    this.#onResume?.();
    try {
      if (!this.#isOpen) clearTimeout(this.#timer);
      this.plan.signal.removeEventListener("abort", this.#onAbort);
      letGo();
      this.#intake?.drop();
    } catch {
      clearTimeout(this.#timer);
    }
    if (this.#hasLeft) this.plan.readOnEnded();
    this.resolve({ failure, containerId: this.#report?.containerId ?? "", usage: this.#report?.usage });
  }
}

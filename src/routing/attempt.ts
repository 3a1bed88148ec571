/** One try of one target: from the request's first byte to the answer's last, within its bounds of time and size. */
import { withoutByteOrderMark } from "../api/byte-order-mark.js";
import { GatewayError } from "../errors.js";
import type { Exchange, UpstreamHandler } from "../upstream/upstream.js";
import type { AnswerReport, Batch, StreamDecoder, WireRequest } from "../wire/wire.js";
import {
  abortReason,
  ANSWERED,
  type AttemptEnd,
  type AttemptFailure,
  type AttemptPlan,
  type BatchReceiver,
} from "./attempt-plan.js";
import { HeldBack } from "./held-back.js";
import { askBody, headersFor } from "./question.js";
import { readable, unreadable, upstreamFailed } from "../wire/error/refusals.js";
import { wholeBatch } from "./whole-answer.js";

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;
/** Near the limit of output a read is taken in pieces of so much, so that no more than one goes out past it. */
const PIECE_BYTES = 2_048;

/** Runs the plan. Never rejects. */
export function runAttempt(plan: AttemptPlan, receiver: BatchReceiver): Promise<AttemptEnd> {
  return new Promise((resolve) => void new Attempt(plan, receiver, resolve).start());
}

type Phase = "head" | "stream" | "whole" | "error" | "done";

class Attempt implements UpstreamHandler {
  #phase: Phase = "head";
  #exchange: Exchange | undefined;
  #decoder: StreamDecoder | undefined;
  #report: AnswerReport | undefined;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** True until the upstream closed. */
  #isOpen = true;
  /** Since when the upstream can be at work. */
  #startMs = performance.now();
  #lastReadMs = this.#startMs;
  /** When output came last, or the head: pings are read, and are no life. */
  #lastOutputMs = this.#startMs;
  /** True once something came that a client sees: pings and openings are no output. */
  #hasOutput = false;
  /** True once the receiver has something of the answer. Until then it is held back. */
  #isOut = false;
  #heldBack: HeldBack | undefined;
  #paused = false;
  /** When reading on ends, once the client left. */
  #readOnEndMs: number | undefined;
  readonly #onAbort = (): void => this.#guard(() => this.#leave());

  constructor(
    private readonly plan: AttemptPlan,
    private readonly receiver: BatchReceiver,
    private readonly resolve: (end: AttemptEnd) => void,
  ) {
    if (plan.gathers) this.#heldBack = new HeldBack(true);
  }

  start(): void {
    const { plan } = this;
    if (plan.signal.aborted) return this.#fail(abortReason(plan.signal));
    try {
      const dropped: string[] = [];
      const body = askBody(plan, dropped);
      plan.signal.addEventListener("abort", this.#onAbort, { once: true });
      this.#arm();
      if (!(body instanceof Promise)) return this.#send(body, dropped);
      body
        .then((written) => this.#guard(() => this.#send(written, dropped)))
        .catch((error: unknown) => {
          this.#fail(GatewayError.from(error));
        });
    } catch (error) {
      this.#fail(GatewayError.from(error));
    }
  }

  #send(body: Buffer, dropped: readonly string[]): void {
    const { plan } = this;
    // Whoever left while a long body was written is asked nothing any more.
    if (this.#phase === "done" || plan.signal.aborted) return this.#fail(abortReason(plan.signal));
    const { speech } = plan;
    const { served, model } = plan.target;
    if (dropped.length > 0) this.receiver.dropped?.(dropped);
    this.receiver.onDrain(() => this.#guard(() => this.#resume()));
    this.#startMs = performance.now();
    const path = speech.generatePath(model, plan.owned.stream);
    this.#exchange = served.upstream.send({ method: "POST", path, headers: headersFor(plan), body }, this);
  }

  onHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.#guard(() => this.#begin(status, headers));
  }

  #begin(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.#phase === "done") return;
    this.#status = status;
    this.#headers = headers;
    this.#lastReadMs = performance.now();
    this.#lastOutputMs = this.#lastReadMs;
    if (status !== ANSWERED) {
      this.#phase = "error";
    } else if (this.plan.owned.stream && !/json/i.test(headers["content-type"] ?? "")) {
      this.#phase = "stream";
      const decoder = this.plan.speech.wire.decodeStream?.(this.plan.request.facts, this.plan.form, this.#asked);
      if (decoder === undefined) return this.#fail(upstreamFailed("it answered with a stream"));
      this.#decoder = decoder;
      this.#watch(decoder.report);
    } else {
      this.#phase = "whole";
    }
  }

  #watch(report: AnswerReport): void {
    this.#report = report;
    this.receiver.watch(report);
  }

  onData(chunk: Buffer): void {
    // What follows an answer that is over.
    if (this.#phase === "done") return;
    this.#lastReadMs = performance.now();
    this.#bytes += chunk.length;
    if (this.#phase === "error" && this.#bytes > ERROR_BYTES_MAX) return this.#refuse();
    if (this.#bytes > ANSWER_BYTES_MAX) return this.#fail(upstreamFailed("its answer is too large"));
    const decoder = this.#decoder;
    if (decoder === undefined) this.#chunks.push(chunk);
    else if (chunk.length <= PIECE_BYTES || chunk.length <= (this.receiver.roomTokens?.() ?? Infinity))
      this.#push(decoder, chunk);
    else
      for (let start = 0; start < chunk.length && this.#phase === "stream"; start += PIECE_BYTES)
        this.#push(decoder, chunk.subarray(start, start + PIECE_BYTES));
  }

  /** Once an event: no closure here. */
  #push(decoder: StreamDecoder, chunk: Buffer): void {
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
      if (decoder.isDone && !this.#isOver) this.#endStream();
    } catch (error) {
      this.#fail(GatewayError.from(error));
    }
  }

  /** An upstream that ignores the limit is left, and the answer ends as one that reached it. */
  #cut(decoder: StreamDecoder): void {
    if (this.#phase !== "stream") return;
    if (this.#readOnEndMs !== undefined) return this.#fail(abortReason(this.plan.signal));
    this.#forward(decoder.cut(this.plan.owned.outputTokensMax ?? 0));
    this.#isOpen = false;
    this.#finish();
    this.#exchange?.abort();
  }

  onEnd(): void {
    this.#isOpen = false;
    switch (this.#phase) {
      case "stream":
        return this.#guard(() => this.#endStream());
      case "whole":
        return this.#guard(() => this.#endWhole());
      case "error":
        return this.#refuse();
      case "head":
        return this.#fail(upstreamFailed("it closed the connection"));
      case "done":
        clearTimeout(this.#timer);
    }
  }

  onError(error: Error, sent: boolean): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    const problem = sent ? "the connection was cut" : "it cannot be reached";
    this.#fail(upstreamFailed(problem, error));
  }

  get #isOver(): boolean {
    return this.#phase === "done";
  }

  /** What the answer is read by. */
  get #asked(): WireRequest {
    return this.plan.request.outline ?? this.plan.request;
  }

  /** An upstream refuses in one envelope at most of its addresses. What came of it by now has to do. */
  #refuse(): void {
    this.#guard(() => {
      const { wire, refusals } = this.plan.target.served.family;
      const decodeError = this.plan.speech.wire.decodeError ?? wire.decodeError;
      const body = Buffer.concat(this.#chunks);
      this.#fail(readable(() => decodeError(this.#status, this.#headers, body, refusals)));
    });
  }

  #endStream(): void {
    const decoder = this.#decoder;
    if (decoder === undefined) return;
    this.#forward(readable(() => decoder.end()));
    if (this.#isOver) return;
    // A stream that just stops is no answer, however much of it came.
    if (!decoder.report.complete) return this.#fail(upstreamFailed("its answer was cut"));
    this.#finish();
  }

  #endWhole(): void {
    const { form, owned } = this.plan;
    const [first] = this.#chunks;
    const isOne = first !== undefined && this.#chunks.length === 1;
    const body = withoutByteOrderMark(isOne ? first : Buffer.concat(this.#chunks));
    const answer = readable(() => this.plan.speech.wire.decodeAnswer(body, this.#asked, form));
    this.#watch(answer.report);
    // An upstream that answers whole where a stream was asked is told as a stream all the same, step by step.
    const isTyped = form === "events" || owned.stream;
    this.#forward(readable(() => wholeBatch(answer, body, isTyped)));
    this.#finish();
  }

  #forward(batch: Batch): void {
    if (batch.visible) {
      this.#lastOutputMs = this.#lastReadMs;
      if (!this.#hasOutput) {
        this.#hasOutput = true;
        this.plan.onOutput();
      }
    }
    const hasLeft = this.#readOnEndMs !== undefined;
    // What nobody is given yet counts all the same.
    if (hasLeft || this.plan.gathers) this.receiver.look?.(this.#lastReadMs);
    if (!hasLeft && (batch.events.length > 0 || batch.source.length > 0 || batch.visible)) this.#give(batch);
    if (batch.error !== undefined) this.#fail(batch.error);
  }

  #give(batch: Batch): void {
    const out = this.#isOut ? batch : (this.#heldBack ??= new HeldBack(false)).take(batch);
    if (out === undefined) return;
    this.#isOut = true;
    if (this.receiver.take(out, this.#lastReadMs) || this.#paused) return;
    this.#paused = true;
    this.#exchange?.pause();
  }

  #resume(): void {
    if (!this.#paused || this.#phase === "done") return;
    this.#paused = false;
    this.#lastReadMs = performance.now();
    this.#lastOutputMs = this.#lastReadMs;
    this.#exchange?.resume();
  }

  /** The client left: stop where that stops the bill, else read on for the usage, within bounds. */
  #leave(): void {
    if (this.#phase === "done" || this.#readOnEndMs !== undefined) return;
    if (this.#phase === "error" || !this.plan.mayReadOn()) return this.#fail(abortReason(this.plan.signal));
    this.#readOnEndMs = performance.now() + this.plan.timeouts.readOnMs;
    this.#resume();
    this.#arm();
  }

  /**
   * One timer for each attempt, set anew when it fires rather than at each read: it sleeps until the phase is over, and
   * no longer than the shortest of the phases that may have begun meanwhile.
   */
  #arm(): void {
    const { idleMs, lingerMs } = this.plan.timeouts;
    clearTimeout(this.#timer);
    const [dueMs] = this.#due();
    const napMs = this.plan.owned.stream ? Math.min(idleMs, lingerMs) : idleMs;
    const sleepMs = Math.min(dueMs - performance.now(), napMs);
    this.#timer = setTimeout(() => this.#guard(() => this.#look()), Math.max(0, Math.ceil(sleepMs)));
  }

  /** When the phase that runs is too long, and its name. Each has its own bound; the total bounds all. */
  #due(): readonly [number, string] {
    const { endMs } = this.plan.deadline;
    if (this.#readOnEndMs !== undefined) return [this.#readOnEndMs, "read on"];
    const [phaseEndMs, phase] = this.#phaseDue();
    return phaseEndMs < endMs ? [phaseEndMs, phase] : [endMs, "total"];
  }

  #phaseDue(): readonly [number, string] {
    const { firstTokenMs, wholeMs, idleMs, lingerMs } = this.plan.timeouts;
    // Why it refuses is worth a moment, and no more: another target may answer meanwhile.
    if (this.#phase === "error") return [this.#lastOutputMs + lingerMs, "error"];
    const isStream = this.#phase === "stream" || (this.#phase === "head" && this.plan.owned.stream);
    if (isStream && !this.#hasOutput) return [this.#startMs + firstTokenMs, "first token"];
    if (!isStream && this.#bytes === 0) return [this.#startMs + wholeMs, "first byte"];
    if (this.#paused) return [Infinity, "idle"];
    // Behind pings the next word may take as long as the first one may: some upstreams gather a call's arguments so.
    const outputEndMs = isStream ? this.#lastOutputMs + firstTokenMs : Infinity;
    return [Math.min(this.#lastReadMs + idleMs, outputEndMs), "idle"];
  }

  #look(): void {
    const nowMs = performance.now();
    const { lingerMs } = this.plan.timeouts;
    const hasLingered = !this.#paused && nowMs - this.#lastReadMs >= lingerMs;
    if (this.#phase === "done") {
      if (hasLingered) return this.#exchange?.abort();
      this.#arm();
      this.#timer?.unref();
      return;
    }
    // Nothing follows that counts: some wires have no word for their end, and usage had its time to come. Pings may.
    const isSilent = !this.#paused && nowMs - this.#lastOutputMs >= lingerMs;
    if (isSilent && this.#decoder?.report.complete === true) {
      this.#guard(() => this.#endStream());
      return this.#exchange?.abort();
    }
    const [dueMs, phase] = this.#due();
    if (nowMs < dueMs) {
      if (this.#phase === "stream") this.#guard(() => this.receiver.look?.(nowMs));
      return this.#arm();
    }
    if (phase === "error") return this.#refuse();
    this.#fail(
      phase === "read on"
        ? abortReason(this.plan.signal)
        : new GatewayError("ERROR_REASON_UPSTREAM_TIMEOUT", { phase }),
    );
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(GatewayError.from(error));
    }
  }

  #finish(): void {
    if (this.#isOver) return;
    const hasLeft = this.#readOnEndMs !== undefined;
    const rest = hasLeft || this.#isOut ? undefined : this.#heldBack?.end();
    if (rest !== undefined) {
      this.#isOut = true;
      this.receiver.take(rest, this.#lastReadMs);
    }
    this.#over(hasLeft ? this.#failure(abortReason(this.plan.signal)) : undefined, () => {
      if (this.#isOpen) this.#linger();
    });
  }

  /** The connection is free for others once it ends; one that stays open is closed. */
  #linger(): void {
    if (this.#paused) this.#exchange?.resume();
    this.#paused = false;
    this.#timer?.unref();
  }

  #fail(error: GatewayError): void {
    this.#over(this.#failure(error), () => {
      clearTimeout(this.#timer);
      this.#exchange?.abort();
    });
  }

  #failure(error: GatewayError): AttemptFailure {
    return { error, status: this.#status, hasOutput: this.#hasOutput, isOut: this.#isOut };
  }

  /** Ends the attempt once. Nothing that fails while it lets go of its parts keeps its request waiting. */
  #over(failure: AttemptFailure | undefined, letGo: () => void): void {
    if (this.#phase === "done") return;
    this.#phase = "done";
    try {
      if (!this.#isOpen) clearTimeout(this.#timer);
      this.plan.signal.removeEventListener("abort", this.#onAbort);
      letGo();
    } catch {
      clearTimeout(this.#timer);
    }
    if (this.#readOnEndMs !== undefined) this.plan.readOnEnded();
    this.resolve({ failure, containerId: this.#report?.containerId ?? "" });
  }
}

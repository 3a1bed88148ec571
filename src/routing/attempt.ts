/** One try of one target: from the request's first byte to the answer's last, within its bounds of time and size. */
import { withoutByteOrderMark } from "../api/byte-order-mark.js";
import type { CancelSignal } from "../api/cancellation.js";
import { GatewayError } from "../errors.js";
import type { Exchange, UpstreamHandler } from "../upstream/upstream.js";
import type { AnswerForm, AnswerReport, Batch, EndpointWire, StreamDecoder, WireRequest } from "../wire/wire.js";
import type { Deadline, RequestTimeouts } from "./deadline.js";
import { askBody, headersFor, type Question } from "./question.js";

/** Takes what the target answers. */
export interface BatchReceiver {
  /** Takes one batch. False: push no more until `onDrain`'s callback runs. */
  take(batch: Batch): boolean;
  onDrain(callback: () => void): void;
  /** The report that grows with the answer; called before the first batch. */
  watch(report: AnswerReport): void;
  /** Called in place of `take` where the caller left and the answer is read for its usage. */
  missed?(): void;
  /** Called now and then while a stream says nothing. */
  waits?(): void;
  /** True once more came than the request's limit of output can be: nothing more is to be relayed. */
  exceeds?(): boolean;
  /** Names of parameters that the target's wire had no place for; called where there are some. */
  dropped?(params: readonly string[]): void;
}

export interface AttemptPlan extends Question {
  /** What the batches carry. */
  readonly form: AnswerForm;
  readonly timeouts: RequestTimeouts;
  readonly deadline: Deadline;
  /** Called at the first output. */
  readonly onOutput: () => void;
  /** Aborts when the client left. */
  readonly signal: CancelSignal;
  /** True where an answer that nobody waits for may still be read for its usage. Takes the place until `drained`. */
  readonly mayDrain: () => boolean;
  readonly drained: () => void;
}

/** The HTTP status of every answer. */
export const ANSWERED = 200;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;

/** What went wrong. */
export interface AttemptFailure {
  readonly error: GatewayError;
  /** The HTTP status that the upstream sent; 0 where none came. */
  readonly status: number;
  /** True where there was output before. */
  readonly hasOutput: boolean;
}

/** Runs the plan. Resolves with nothing when the answer is whole, else with what went wrong. */
export function runAttempt(plan: AttemptPlan, receiver: BatchReceiver): Promise<AttemptFailure | undefined> {
  return new Promise((resolve) => {
    new Attempt(plan, receiver, resolve).start();
  });
}

type Phase = "head" | "stream" | "whole" | "error" | "done";

class Attempt implements UpstreamHandler {
  #phase: Phase = "head";
  #exchange: Exchange | undefined;
  #decoder: StreamDecoder | undefined;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** True until the upstream closed. */
  #isOpen = true;
  /** Since when the upstream can be at work. */
  #startMs = performance.now();
  #lastReadMs = this.#startMs;
  /** True once something came that a client sees: pings and openings are no output. */
  #hasOutput = false;
  #paused = false;
  /** When reading on ends, once the client left. */
  #drainEndMs: number | undefined;
  readonly #onAbort = (): void => this.#guard(() => this.#leave());

  constructor(
    private readonly plan: AttemptPlan,
    private readonly receiver: BatchReceiver,
    private readonly resolve: (failure: AttemptFailure | undefined) => void,
  ) {}

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
    if (status !== ANSWERED) {
      this.#phase = "error";
    } else if (this.plan.owned.stream && !/json/i.test(headers["content-type"] ?? "")) {
      this.#phase = "stream";
      const decoder = this.#wire.decodeStream?.(this.plan.request.facts, this.plan.form, this.#asked);
      if (decoder === undefined) return this.#fail(this.#failed("it answered with a stream"));
      this.#decoder = decoder;
      this.receiver.watch(decoder.report);
    } else {
      this.#phase = "whole";
    }
  }

  onData(chunk: Buffer): void {
    // What follows an answer that is over.
    if (this.#phase === "done") return;
    this.#lastReadMs = performance.now();
    this.#bytes += chunk.length;
    if (this.#phase === "error" && this.#bytes > ERROR_BYTES_MAX) return;
    if (this.#bytes > ANSWER_BYTES_MAX) return this.#fail(this.#failed("its answer is too large"));
    if (this.#decoder !== undefined) return this.#push(this.#decoder, chunk);
    this.#chunks.push(chunk);
  }

  /** Once an event: no closure here. */
  #push(decoder: StreamDecoder, chunk: Buffer): void {
    try {
      this.#forward(decoder.push(chunk));
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
    if (this.#drainEndMs !== undefined) return this.#fail(abortReason(this.plan.signal));
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
        return this.#guard(() => this.#fail(this.#refusal(Buffer.concat(this.#chunks))));
      case "head":
        return this.#fail(this.#failed("it closed the connection"));
      case "done":
        clearTimeout(this.#timer);
    }
  }

  onError(error: Error, sent: boolean): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    const problem = sent ? "the connection was cut" : "it cannot be reached";
    this.#fail(this.#failed(problem, error));
  }

  get #isOver(): boolean {
    return this.#phase === "done";
  }

  /** What the answer is read by. */
  get #asked(): WireRequest {
    return this.plan.request.outline ?? this.plan.request;
  }

  get #wire(): EndpointWire {
    return this.plan.speech.wire;
  }

  /** An upstream refuses in one envelope at most of its addresses. */
  #refusal(body: Buffer): GatewayError {
    const { wire, refusals } = this.plan.target.served.family;
    const decodeError = this.#wire.decodeError ?? wire.decodeError;
    return decodeError(this.#status, this.#headers, body, refusals);
  }

  #endStream(): void {
    const decoder = this.#decoder;
    if (decoder === undefined) return;
    this.#forward(decoder.end());
    if (this.#isOver) return;
    // A stream that just stops is no answer, however much of it came.
    if (!decoder.report.complete) return this.#fail(this.#failed("its answer was cut"));
    this.#finish();
  }

  #endWhole(): void {
    const { form, owned } = this.plan;
    const [first] = this.#chunks;
    const isOne = first !== undefined && this.#chunks.length === 1;
    const body = withoutByteOrderMark(isOne ? first : Buffer.concat(this.#chunks));
    const answer = this.#wire.decodeAnswer(body, this.#asked, form);
    this.receiver.watch(answer.report);
    // An upstream that answers whole where a stream was asked is told as a stream all the same, step by step.
    const isTyped = form === "events" || owned.stream;
    this.#forward({
      events: isTyped ? answer.events() : [],
      source: isTyped ? Buffer.alloc(0) : (answer.source ?? body),
      visible: true,
      error: undefined,
      embeddings: isTyped ? answer.embeddings?.() : undefined,
    });
    this.#finish();
  }

  #forward(batch: Batch): void {
    if (batch.visible && !this.#hasOutput) {
      this.#hasOutput = true;
      this.plan.onOutput();
    }
    if (this.#drainEndMs !== undefined) this.receiver.missed?.();
    else if (batch.events.length > 0 || batch.source.length > 0 || batch.visible) {
      const ready = this.receiver.take(batch);
      if (!ready && !this.#paused) {
        this.#paused = true;
        this.#exchange?.pause();
      }
    }
    if (batch.error !== undefined) this.#fail(batch.error);
  }

  #resume(): void {
    if (!this.#paused || this.#phase === "done") return;
    this.#paused = false;
    this.#lastReadMs = performance.now();
    this.#exchange?.resume();
  }

  /** The client left: stop where that stops the bill, else read on for the usage, within bounds. */
  #leave(): void {
    if (this.#phase === "done" || this.#drainEndMs !== undefined) return;
    const { abortStopsBilling, wholeAnswersBillOn } = this.plan.target.served.family;
    const isFree = abortStopsBilling && (this.plan.owned.stream || wholeAnswersBillOn !== true);
    if (isFree || this.#phase === "error" || !this.plan.mayDrain()) {
      return this.#fail(abortReason(this.plan.signal));
    }
    this.#drainEndMs = performance.now() + this.plan.timeouts.drainMs;
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
    if (this.#drainEndMs !== undefined) return [this.#drainEndMs, "drain"];
    const [phaseEndMs, phase] = this.#phaseDue();
    return phaseEndMs < endMs ? [phaseEndMs, phase] : [endMs, "total"];
  }

  #phaseDue(): readonly [number, string] {
    const { firstTokenMs, wholeMs, idleMs } = this.plan.timeouts;
    const isStream = this.#phase === "stream" || (this.#phase === "head" && this.plan.owned.stream);
    if (isStream && !this.#hasOutput) return [this.#startMs + firstTokenMs, "first token"];
    if (!isStream && this.#phase !== "error" && this.#bytes === 0) return [this.#startMs + wholeMs, "first byte"];
    return [this.#paused ? Infinity : this.#lastReadMs + idleMs, "idle"];
  }

  #look(): void {
    const nowMs = performance.now();
    const hasLingered = !this.#paused && nowMs - this.#lastReadMs >= this.plan.timeouts.lingerMs;
    if (this.#phase === "done") {
      if (hasLingered) return this.#exchange?.abort();
      this.#arm();
      this.#timer?.unref();
      return;
    }
    // Nothing follows that counts: some wires have no word for their end, and usage had its time to come.
    if (hasLingered && this.#decoder?.report.complete === true) {
      this.#guard(() => this.#endStream());
      return this.#exchange?.abort();
    }
    const [dueMs, phase] = this.#due();
    if (nowMs < dueMs) {
      if (this.#phase === "stream") this.#guard(() => this.receiver.waits?.());
      return this.#arm();
    }
    this.#fail(phase === "drain" ? abortReason(this.plan.signal) : this.#tooSlow(phase));
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(GatewayError.from(error));
    }
  }

  #failed(problem: string, cause?: Error): GatewayError {
    return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem }, { cause });
  }

  #tooSlow(phase: string): GatewayError {
    return new GatewayError("ERROR_REASON_UPSTREAM_TIMEOUT", { phase });
  }

  #finish(): void {
    const hasLeft = this.#drainEndMs !== undefined;
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
    return { error, status: this.#status, hasOutput: this.#hasOutput };
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
      // How it ended is known, and is what counts.
      clearTimeout(this.#timer);
    }
    if (this.#drainEndMs !== undefined) this.plan.drained();
    this.resolve(failure);
  }
}

/** Why the caller's signal aborted: its deadline where it says so, else that it went away. */
export function abortReason(signal: CancelSignal): GatewayError {
  return signal.reason instanceof GatewayError ? signal.reason : new GatewayError("ERROR_REASON_CANCELLED");
}

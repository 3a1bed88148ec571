/** One try of one target: from the request's first byte to the answer's last, within its bounds of time and size. */
import type { CancelSignal } from "../api/cancellation.js";
import { GatewayError } from "../errors.js";
import type { Exchange, UpstreamHandler } from "../upstream/upstream.js";
import type { AnswerReport, Batch, EndpointWire, StreamDecoder, WireRequest } from "../wire/wire.js";
import { askBody, type Question } from "./question.js";

/** How long each phase may take, in milliseconds. */
export interface AttemptTimeouts {
  /** Until the first byte of a streamed answer. */
  readonly firstTokenMs: number;
  /** Until the first byte of a whole answer, which comes when all is generated. */
  readonly wholeMs: number;
  /** Between two reads. */
  readonly idleMs: number;
  /** All of it. */
  readonly totalMs: number;
  /** How long an answer is read on for its usage after the client left. */
  readonly drainMs: number;
}

/** Takes what the target answers. */
export interface BatchReceiver {
  /** Takes one batch. False: push no more until `onDrain`'s callback runs. */
  take(batch: Batch): boolean;
  onDrain(callback: () => void): void;
  /** The report that grows with the answer; called before the first batch. */
  watch(report: AnswerReport): void;
  /** Called in place of `take` where the caller left and the answer is read for its usage. */
  missed?(): void;
  /** Names of parameters that the target's wire had no place for; called where there are some. */
  dropped?(params: readonly string[]): void;
}

export interface AttemptPlan extends Question {
  /** What the batches carry. */
  readonly form: "events" | "source";
  readonly timeouts: AttemptTimeouts;
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
  readonly #startMs = performance.now();
  #lastReadMs = performance.now();
  #paused = false;
  #draining = false;
  readonly #onAbort = (): void => this.#leave();

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
    this.receiver.onDrain(() => this.#resume());
    this.#arm(plan.owned.stream ? plan.timeouts.firstTokenMs : plan.timeouts.wholeMs);
    const path = speech.generatePath(model, plan.owned.stream);
    const own = served.family.requestHeaders?.(plan.request);
    const headers = own === undefined ? served.headers : { ...served.headers, ...own };
    this.#exchange = served.upstream.send({ method: "POST", path, headers, body }, this);
  }

  onHead(status: number, headers: Readonly<Record<string, string>>): void {
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
    } catch (error) {
      this.#fail(GatewayError.from(error));
    }
  }

  onEnd(): void {
    switch (this.#phase) {
      case "stream":
        return this.#guard(() => this.#endStream());
      case "whole":
        return this.#guard(() => this.#endWhole());
      case "error":
        return this.#fail(this.#refusal(Buffer.concat(this.#chunks)));
      case "head":
        return this.#fail(this.#failed("it closed the connection"));
      case "done":
    }
  }

  onError(error: Error, sent: boolean): void {
    const problem = sent ? "the connection was cut" : "it cannot be reached";
    this.#fail(this.#failed(problem, error));
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
    if (this.#phase === "done") return;
    // A stream that just stops is no answer, however much of it came.
    if (!decoder.report.complete) return this.#fail(this.#failed("its answer was cut"));
    this.#finish();
  }

  #endWhole(): void {
    const { form, owned } = this.plan;
    const body = Buffer.concat(this.#chunks);
    const answer = this.#wire.decodeAnswer(body, this.#asked);
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
    if (this.#draining) this.receiver.missed?.();
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
    if (this.#phase === "done" || this.#draining) return;
    const { abortStopsBilling, wholeAnswersBillOn } = this.plan.target.served.family;
    const isFree = abortStopsBilling && (this.plan.owned.stream || wholeAnswersBillOn !== true);
    if (isFree || this.#phase === "error" || !this.plan.mayDrain()) {
      return this.#fail(abortReason(this.plan.signal));
    }
    this.#draining = true;
    this.#resume();
    this.#arm(this.plan.timeouts.drainMs);
  }

  /** One timer for each attempt, set anew when it fires rather than at each read. */
  #arm(afterMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#expire(), afterMs);
  }

  #expire(): void {
    if (this.#draining) return this.#fail(abortReason(this.plan.signal));
    const { idleMs, totalMs } = this.plan.timeouts;
    if (this.#phase === "head") return this.#fail(this.#tooSlow("first token"));
    const nowMs = performance.now();
    const totalLeftMs = this.#startMs + totalMs - nowMs;
    if (totalLeftMs <= 0) return this.#fail(this.#tooSlow("total"));
    const idleLeftMs = this.#paused ? idleMs : this.#lastReadMs + idleMs - nowMs;
    if (idleLeftMs > 0) return this.#arm(Math.min(idleLeftMs, totalLeftMs));
    this.#fail(this.#tooSlow("idle"));
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
    if (!this.#leaveOnce()) return;
    this.resolve(this.#draining ? { error: abortReason(this.plan.signal), status: this.#status } : undefined);
  }

  #fail(error: GatewayError): void {
    if (!this.#leaveOnce()) return;
    this.#exchange?.abort();
    this.resolve({ error, status: this.#status });
  }

  #leaveOnce(): boolean {
    if (this.#phase === "done") return false;
    this.#phase = "done";
    clearTimeout(this.#timer);
    this.plan.signal.removeEventListener("abort", this.#onAbort);
    if (this.#draining) this.plan.drained();
    return true;
  }
}

/** Why the caller's signal aborted: its deadline where it says so, else that it went away. */
function abortReason(signal: CancelSignal): GatewayError {
  return signal.reason instanceof GatewayError ? signal.reason : new GatewayError("ERROR_REASON_CANCELLED");
}

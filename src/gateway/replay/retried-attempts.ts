/**
 * Attempts whose client lost its connection before it received anything: the SDK's retry waits for that answer and does
 * not pay for another one.
 */
import type { CallMetadata, CallSink } from "../../api/channel.js";
import { GatewayError, type ReasonName } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import type { GatewayCall } from "../gateway.js";
import { type Ask, ORIGINAL_HEADER } from "./ask.js";
import { ALONE_MAX, GRACE_MS, KEPT_MS } from "./bounds.js";
import type { BytePool } from "../../base/bytes/byte-pool.js";
import { whenReady } from "../../base/when-ready.js";
import { type Asker, LOST_HEADER, LostAttempts } from "./lost-attempts.js";
import { Run, type Work } from "./run.js";
import { Shares } from "./shares.js";
import { type Tape, tapeOf } from "./tape.js";

/** The official SDKs send it with each request: how many attempts came before. */
export const RETRY_HEADER = "x-stainless-retry-count";

/**
 * The errors of a client that disconnects. All others end the call for good: the process stops, or its key or account
 * may not continue.
 */
const LEAVES: ReadonlySet<ReasonName> = new Set(["ERROR_REASON_CANCELLED", "ERROR_REASON_UPSTREAM_TIMEOUT"]);

/** An attempt whose client disconnected: it runs on for a while, or its answer waits. */
interface Attempt extends Asker {
  readonly requestId: string;
  readonly print: Buffer;
  readonly tape: Tape<unknown>;
  /** Absent if only the answer is left. */
  readonly run?: Run<unknown>;
  grace?: NodeJS.Timeout | undefined;
  expiry?: NodeJS.Timeout | undefined;
}

export class RetriedAttempts {
  /** Several may have the same request; an SDK does not say which of them it retries. */
  readonly #left = new Shares<Attempt>(ALONE_MAX);
  readonly #running = new Set<Run<unknown>>();
  readonly #lost = new LostAttempts();

  constructor(private readonly pool: BytePool) {}

  get size(): number {
    return this.#left.size;
  }

  serve(
    retryCount: string,
    ask: Ask<unknown, unknown>,
    call: GatewayCall,
    sink: CallSink<unknown>,
    work: Work<unknown>,
  ): Promise<void> {
    if (retryCount === "0" || this.#left.size + this.#lost.size === 0) return this.#first(ask, call, sink, work);
    return whenReady(ask.print(), (print) => this.#again(print, ask, call, sink, work));
  }

  /** True if something waits for a retry of the caller. */
  hasLeft({ keyId, accountId }: Asker): boolean {
    for (const attempt of this.#left.of(accountId)) if (attempt.keyId === keyId) return true;
    return false;
  }

  #lose(requestId: string, asker: Asker, print: Buffer): void {
    this.#lost.add(asker, print, requestId);
  }

  /** A whole answer that a client lost while it was sent; undefined if it was too large to be sent here. */
  async keep(
    requestId: string,
    asker: Asker,
    ask: Ask<unknown, unknown>,
    headers: CallMetadata,
    message: unknown,
  ): Promise<void> {
    const { keyId, accountId } = asker;
    const print = await ask.print();
    if (message === undefined) return this.#lose(requestId, asker, print);
    const tape = tapeOf(ask, accountId, this.pool);
    tape.head(headers);
    tape.data(message);
    tape.close();
    if (tape.isWhole) this.#leave({ requestId, keyId, accountId, print, tape });
    else this.#lose(requestId, asker, print);
  }

  /** The callers of runs without a client. */
  *callers(): Iterable<Caller> {
    for (const run of this.#running) yield run.caller;
  }

  /** Ends the runs of a key that have no client. */
  end(keyId: string, reason: GatewayError): void {
    for (const run of this.#running) if (run.keyId === keyId) run.cancel(reason);
  }

  /** Ends all runs without a client. Resolves when they are settled. */
  async stop(reason: GatewayError): Promise<void> {
    const all = [...this.#running];
    for (const run of all) run.cancel(reason);
    await Promise.all(all.map((run) => run.ended));
  }

  #again(
    print: Buffer,
    ask: Ask<unknown, unknown>,
    call: GatewayCall,
    sink: CallSink<unknown>,
    work: Work<unknown>,
  ): Promise<void> {
    const attempt = this.#take(call.caller, print);
    if (attempt !== undefined) return this.#attach(attempt, call, sink);
    const lost = this.#lost.take(call.caller.keyId, print);
    if (lost !== undefined) sink.addHead({ [LOST_HEADER]: lost });
    return this.#first(ask, call, sink, work);
  }

  /** Recording starts only when the client leaves before it has read anything: an SDK does not retry otherwise. */
  #first(ask: Ask<unknown, unknown>, call: GatewayCall, sink: CallSink<unknown>, work: Work<unknown>): Promise<void> {
    const run = new Run(call, work, sink);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        const reason = GatewayError.from(call.signal.reason);
        if (sink.begun || run.isOver || !LEAVES.has(reason.reason)) {
          run.cancel(reason);
          return;
        }
        const { requestId, keyId, accountId } = run;
        const tape = tapeOf(ask, accountId, this.pool);
        sink.redirect(tape);
        this.#runAlone(run, tape);
        void whenReady(ask.print(), (print) => this.#leave({ requestId, keyId, accountId, print, tape, run }));
        reject(reason);
      };
      call.signal.addEventListener("abort", leave, { once: true });
      void run.ended.then((error) => {
        call.signal.removeEventListener("abort", leave);
        if (error === undefined) resolve();
        else reject(error);
      });
    });
  }

  #runAlone(run: Run<unknown>, tape: Tape<unknown>): void {
    this.#running.add(run);
    void run.ended.then((error) => {
      this.#running.delete(run);
      tape.close(error);
    });
  }

  async #attach(attempt: Attempt, call: GatewayCall, sink: CallSink<unknown>): Promise<void> {
    const { tape, run, requestId } = attempt;
    sink.addHead({ [ORIGINAL_HEADER]: requestId });
    try {
      await tape.follow(sink, call.signal);
      tape.release();
    } catch (error) {
      // A retry that has nothing of the answer yet may be retried once more.
      if (call.signal.aborted && !sink.begun) this.#leave(attempt);
      else {
        run?.cancel(GatewayError.from(error));
        tape.release();
      }
      throw error;
    }
  }

  #take({ keyId, accountId }: Asker, print: Buffer): Attempt | undefined {
    for (const attempt of this.#left.of(accountId)) {
      if (attempt.keyId !== keyId || !attempt.print.equals(print)) continue;
      this.#left.delete(accountId, attempt);
      clearTimeout(attempt.grace);
      clearTimeout(attempt.expiry);
      return attempt;
    }
    return undefined;
  }

  #leave(attempt: Attempt): void {
    const oldest = this.#left.add(attempt.accountId, attempt);
    if (oldest !== undefined) this.#end(oldest);
    attempt.tape.onSpill = () => {
      // What is dropped, or read by a retry, is let go as well.
      if (!this.#left.has(attempt.accountId, attempt)) return;
      this.#lost.add(attempt, attempt.print, attempt.requestId);
      this.#drop(attempt);
    };
    attempt.expiry = setTimeout(() => this.#drop(attempt), KEPT_MS).unref();
    const { run } = attempt;
    if (run === undefined) return;
    if (!run.isOver) attempt.grace = setTimeout(() => this.#drop(attempt), GRACE_MS).unref();
    void run.ended.then((error) => {
      clearTimeout(attempt.grace);
      // A retry of what failed runs again.
      if (error !== undefined) this.#drop(attempt);
    });
  }

  /** Removes an attempt that no client came back to, and ends it if it still runs. */
  #drop(attempt: Attempt): void {
    if (this.#left.delete(attempt.accountId, attempt)) this.#end(attempt);
  }

  #end(attempt: Attempt): void {
    clearTimeout(attempt.grace);
    clearTimeout(attempt.expiry);
    attempt.run?.cancel(new GatewayError("ERROR_REASON_CANCELLED"));
    attempt.tape.release();
  }
}

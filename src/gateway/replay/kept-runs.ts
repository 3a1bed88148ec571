/** Requests whose answers are recorded: they go on while their client is away, and it may come back to them. */
import { InferenceServiceService, type Source } from "../../api/index.js";
import type { Sink } from "../../api/channel.js";
import { TYPED_FORM } from "../../api/typed-form.js";
import { GatewayError } from "../../errors.js";
import type { Caller } from "../../keys/caller.js";
import type { GatewayCall } from "../gateway.js";
import type { Ask } from "./ask.js";
import { ALONE_MAX, ANSWER_BYTES_MAX, KEPT_MS } from "./bounds.js";
import type { BytePool } from "../../api/byte-pool.js";
import type { Run } from "./run.js";
import { Shares } from "./shares.js";
import { Tape } from "./tape.js";

/** What the ledger knows of a request; undefined where it knows nothing. */
export type RequestOf = (
  requestId: string,
) => Promise<{ readonly accountId: string; readonly state: string; readonly costNanos: bigint } | undefined>;

interface Kept {
  readonly run: Run<unknown>;
  readonly tape: Tape<unknown>;
  readonly ask: Ask<unknown, unknown>;
  /** Resolves when the answer needs no memory any more. */
  readonly done: Promise<void>;
  timer?: NodeJS.Timeout;
}

export class KeptRuns {
  readonly #byId = new Map<string, Kept>();
  /** Those that nobody reads. */
  readonly #alone = new Shares<Kept>(ALONE_MAX);

  constructor(
    private readonly pool: BytePool,
    private readonly requestOf: RequestOf,
  ) {}

  get size(): number {
    return this.#byId.size;
  }

  newTape(ask: Ask<unknown, unknown>, accountId: string): Tape<unknown> {
    return new Tape({
      accountId,
      bytesOf: (message) => ask.bytesOf(message).length,
      bytesMax: ANSWER_BYTES_MAX,
      pool: this.pool,
    });
  }

  /** Looks after a run from now on. Unless it `stays`, it is forgotten when `done` resolves. */
  watch(run: Run<unknown>, tape: Tape<unknown>, ask: Ask<unknown, unknown>, stays: boolean, done: Promise<void>): void {
    const kept: Kept = { run, tape, ask, done };
    this.#byId.set(run.requestId, kept);
    tape.onSpill = () => this.#left(kept);
    void done.then(() => {
      if (stays && tape.isWhole) kept.timer = setTimeout(() => this.#forget(kept), KEPT_MS).unref();
      else this.#forget(kept);
    });
  }

  /** Reads the answer into the sink. Nothing ends the run where the reader leaves. */
  async follow(requestId: string, sink: Sink<unknown>, call: Pick<GatewayCall, "signal">, skip = 0): Promise<void> {
    const kept = this.#byId.get(requestId);
    if (kept === undefined) throw gone(requestId);
    this.#alone.delete(kept.run.accountId, kept);
    try {
      await kept.tape.follow(sink, call.signal, skip);
    } finally {
      this.#left(kept);
    }
  }

  /** The answer of a kept request once more. Throws RESOURCE_UNKNOWN and STREAM_GONE. */
  async resume(
    requestId: string,
    call: GatewayCall,
    begin: (source: Source | undefined) => Sink<unknown>,
    skip: number,
  ): Promise<void> {
    const { ask, tape } = await this.#find(requestId, call.caller);
    if (!tape.isWhole) throw gone(requestId);
    const { source } = ask;
    return this.follow(requestId, begin(source?.wire === TYPED_FORM ? undefined : source), call, skip);
  }

  /** Ends it where it runs, and forgets its answer. */
  async cancel(requestId: string, caller: Caller): Promise<{ cancelled: boolean; costNanos: bigint }> {
    const kept = await this.#find(requestId, caller);
    const cancelled = !kept.run.isOver;
    kept.run.cancel(new GatewayError("ERROR_REASON_CANCELLED"));
    await kept.run.ended;
    this.#forget(kept);
    const row = await this.requestOf(requestId);
    return { cancelled, costNanos: row?.costNanos ?? 0n };
  }

  /** The callers of what runs. */
  *callers(): Iterable<Caller> {
    for (const { run } of this.#byId.values()) if (!run.isOver) yield run.caller;
  }

  /** Ends what runs of a key. */
  end(keyId: string, reason: GatewayError): void {
    for (const { run } of this.#byId.values()) if (run.keyId === keyId) run.cancel(reason);
  }

  /** Ends all that run. Resolves when they are settled, and stored where they had ended. */
  async stop(reason: GatewayError): Promise<void> {
    const all = [...this.#byId.values()];
    for (const { run } of all) run.cancel(reason);
    await Promise.all(all.map(({ done }) => done));
  }

  async #find(requestId: string, caller: Caller): Promise<Kept> {
    const kept = this.#byId.get(requestId);
    const accountId = kept?.run.accountId ?? (await this.requestOf(requestId))?.accountId;
    const isTheirs = accountId !== undefined && (accountId === caller.accountId || caller.hasScope("operator"));
    if (!isTheirs) throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "stream", id: requestId });
    if (kept === undefined || kept.ask.method.path !== InferenceServiceService.streamGenerate.path) {
      throw gone(requestId);
    }
    return kept;
  }

  /** A reader is gone, or what was recorded. Keeps in bounds what nobody waits for. */
  #left(kept: Kept): void {
    const { run, tape } = kept;
    if (tape.followerCount > 0 || this.#byId.get(run.requestId) !== kept) return;
    if (!tape.isWhole) {
      this.#drop(kept);
      return;
    }
    const oldest = this.#alone.add(run.accountId, kept);
    if (oldest !== undefined) this.#drop(oldest);
  }

  #drop(kept: Kept): void {
    this.#alone.delete(kept.run.accountId, kept);
    // What still runs is forgotten when it is settled.
    if (kept.run.isOver) this.#forget(kept);
    else kept.run.cancel(new GatewayError("ERROR_REASON_CANCELLED"));
  }

  #forget(kept: Kept): void {
    clearTimeout(kept.timer);
    this.#byId.delete(kept.run.requestId);
    this.#alone.delete(kept.run.accountId, kept);
    kept.tape.release();
  }
}

function gone(requestId: string): GatewayError {
  return new GatewayError("ERROR_REASON_STREAM_GONE", { request: requestId });
}

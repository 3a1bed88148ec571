/** Requests whose answers are recorded: they continue while their client is disconnected, and it may resume them. */
import { InferenceServiceService, type Source } from "../../api/index.js";
import type { Sink } from "../../api/channel.js";
import { isTypedForm } from "../../api/typed-form.js";
import { GatewayError } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import type { GatewayCall } from "../gateway.js";
import type { Ask } from "./ask.js";
import { ALONE_MAX, KEPT_MS } from "./bounds.js";
import type { BytePool } from "../../base/bytes/byte-pool.js";
import type { OtherNodes, RelayQuestion, StreamReader } from "./other-nodes.js";
import type { Run } from "./run.js";
import { Shares } from "./shares.js";
import { type Tape, tapeOf } from "./tape.js";

/** What the ledger knows of a request; undefined if nothing. */
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

interface Found {
  /** Undefined if this node does not keep it. */
  readonly kept: Kept | undefined;
  readonly accountId: string;
  /** True if the ledger does not know it, or not yet. */
  readonly isUnwritten: boolean;
  /** True if the ledger says that it runs. */
  readonly isRunning: boolean;
}

export class KeptRuns {
  readonly #byId = new Map<string, Kept>();
  /** Those without a reader. */
  readonly #alone = new Shares<Kept>(ALONE_MAX);

  constructor(
    private readonly pool: BytePool,
    private readonly requestOf: RequestOf,
    /** Undefined if there are no other nodes. */
    private readonly others: OtherNodes | undefined,
  ) {
    others?.serve({
      sourceOf: (question) => this.#sourceOf(question),
      follow: (requestId, sink, signal, skip) => this.follow(requestId, sink, { signal }, skip),
      cancel: (requestId) => this.#cancel(requestId),
    });
  }

  get size(): number {
    return this.#byId.size;
  }

  /** True if other nodes serve as well. */
  get hasOthers(): boolean {
    return this.others !== undefined;
  }

  newTape(ask: Ask<unknown, unknown>, accountId: string): Tape<unknown> {
    return tapeOf(ask, accountId, this.pool);
  }

  /** Keeps track of a run. Unless it `stays`, it is removed when `done` resolves. */
  watch(run: Run<unknown>, tape: Tape<unknown>, ask: Ask<unknown, unknown>, stays: boolean, done: Promise<void>): void {
    const kept: Kept = { run, tape, ask, done };
    this.#byId.set(run.requestId, kept);
    tape.onSpill = () => this.#left(kept);
    void done.then(() => {
      if (stays && tape.isWhole) kept.timer = setTimeout(() => this.#forget(kept), KEPT_MS).unref();
      else this.#forget(kept);
    });
  }

  /** Reads the answer into the sink. The run continues if the reader leaves. */
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

  /** Replays the answer of a kept request, wherever it is kept. Throws RESOURCE_UNKNOWN and STREAM_GONE. */
  async resume(
    requestId: string,
    call: GatewayCall,
    begin: (source: Source | undefined) => Sink<unknown>,
    skip: number,
  ): Promise<void> {
    const { caller, signal } = call;
    const found = await this.#find(requestId, caller);
    if (found.kept === undefined) {
      const question = { requestId, accountId: found.accountId, reader: readerOf(caller), skip };
      if (await this.others?.resume(question, begin, signal)) return;
      throw this.#notFound(requestId, found);
    }
    const { ask, tape } = found.kept;
    if (!tape.isWhole) throw gone(requestId);
    return this.follow(requestId, begin(asTold(ask.source)), call, skip);
  }

  /** Ends it where it runs, and removes its answer. */
  async cancel(
    requestId: string,
    { caller, signal }: Pick<GatewayCall, "caller" | "signal">,
  ): Promise<{ cancelled: boolean; costNanos: bigint }> {
    const found = await this.#find(requestId, caller);
    if (found.kept !== undefined) return this.#cancel(requestId);
    const question = { requestId, accountId: found.accountId, reader: readerOf(caller) };
    const told = await this.others?.cancel(question, signal);
    if (told === undefined) throw this.#notFound(requestId, found);
    return told;
  }

  /** The callers of the runs that have not ended. */
  *callers(): Iterable<Caller> {
    for (const { run } of this.#byId.values()) if (!run.isOver) yield run.caller;
  }

  /** Ends the runs of a key. */
  end(keyId: string, reason: GatewayError): void {
    for (const { run } of this.#byId.values()) if (run.keyId === keyId) run.cancel(reason);
  }

  /** Ends all runs. Resolves when they are settled, and stored if they had ended. */
  async stop(reason: GatewayError): Promise<void> {
    const all = [...this.#byId.values()];
    for (const { run } of all) run.cancel(reason);
    await Promise.all(all.map(({ done }) => done));
  }

  /** Rejects with RESOURCE_UNKNOWN if it is not a request of the caller, and with STREAM_GONE if none is kept. */
  async #find(requestId: string, caller: Caller): Promise<Found> {
    const kept = this.#byId.get(requestId);
    const row = kept === undefined ? await this.requestOf(requestId) : undefined;
    // What another node began a moment ago may not be written yet: then it is the caller's, if that node says so.
    const isUnwritten = kept === undefined && row === undefined && this.others !== undefined;
    const accountId = kept?.run.accountId ?? row?.accountId ?? (isUnwritten ? caller.accountId : undefined);
    const reader = readerOf(caller);
    const isTheirs =
      kept === undefined ? reader.isOperator || accountId === caller.accountId : mayRead(reader, kept.run);
    if (!isTheirs || accountId === undefined || accountId === "") throw unknown(requestId);
    if (kept === undefined && this.others === undefined) throw gone(requestId);
    if (kept !== undefined && !isStream(kept)) throw gone(requestId);
    return { kept, accountId, isUnwritten, isRunning: row?.state === "held" };
  }

  /** A stream on a node that does not answer now may be readable a moment later. */
  #notFound(requestId: string, { isUnwritten, isRunning }: Found): GatewayError {
    if (isUnwritten) return unknown(requestId);
    if (!isRunning) return gone(requestId);
    const problem = "the node that serves this stream does not answer";
    return new GatewayError("ERROR_REASON_OVERLOADED", { problem, retry_after_ms: "1000" });
  }

  /** What another node may read here; RESOURCE_UNKNOWN if its reader may not. */
  #sourceOf({ requestId, reader }: RelayQuestion): { readonly source: Source | undefined } | GatewayError | undefined {
    const kept = this.#byId.get(requestId);
    if (kept === undefined || !isStream(kept) || !kept.tape.isWhole) return undefined;
    if (reader === undefined || !mayRead(reader, kept.run)) return unknown(requestId);
    return { source: asTold(kept.ask.source) };
  }

  async #cancel(requestId: string): Promise<{ cancelled: boolean; costNanos: bigint }> {
    const kept = this.#byId.get(requestId);
    if (kept === undefined) throw gone(requestId);
    const cancelled = !kept.run.isOver;
    kept.run.cancel(new GatewayError("ERROR_REASON_CANCELLED"));
    await kept.run.ended;
    this.#forget(kept);
    const row = await this.requestOf(requestId);
    return { cancelled, costNanos: row?.costNanos ?? 0n };
  }

  /** Call when a reader has left, or recorded data was removed. Bounds the runs that no client waits for. */
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

function readerOf(caller: Caller): StreamReader {
  return { id: caller.keyId, accountId: caller.accountId, isOperator: caller.hasScope("operator") };
}

/** The key that began the request, the keys and the person that created that key, and operators. */
function mayRead({ id, accountId, isOperator }: StreamReader, run: Run<unknown>): boolean {
  return isOperator || (run.accountId === accountId && run.caller.isUnder(id));
}

function isStream({ ask }: Kept): boolean {
  return ask.method.path === InferenceServiceService.streamGenerate.path;
}

/** The client's own body; a request in the typed form has none. */
function asTold(source: Source | undefined): Source | undefined {
  return source !== undefined && isTypedForm(source.wire) ? undefined : source;
}

function unknown(requestId: string): GatewayError {
  return new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "stream", id: requestId });
}

function gone(requestId: string): GatewayError {
  return new GatewayError("ERROR_REASON_STREAM_GONE", { request: requestId });
}

/** Replays of answers: for an Idempotency-Key, for an SDK's retry, and for a resumed stream. */
import type { CallMetadata, CallSink, Sink } from "../../api/channel.js";
import type { Relays } from "../../api/relays.js";
import { AccountServiceService, InferenceServiceService, KeyServiceService, type Source } from "../../api/index.js";
import { GatewayError } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import type { GatewayCall } from "../gateway.js";
import type { Ask } from "./ask.js";
import { POOL_BYTES_MAX, STOP_MS } from "./bounds.js";
import { BytePool } from "../../base/bytes/byte-pool.js";
import { IDEMPOTENCY_HEADER } from "../../api/request-headers.js";
import { KeyedAnswers, type KeyedParts } from "./keyed-answers.js";
import { KeptRuns } from "./kept-runs.js";
import { OtherNodes } from "./other-nodes.js";
import { NONCE_BYTES } from "./seal.js";
import { RETRY_HEADER, RetriedAttempts } from "./retried-attempts.js";
import { Run, type Work } from "./run.js";

/** On a stream: its events get ids, it continues when its client disconnects, and it can be resumed. */
const RESUMABLE_HEADER = "x-tollgate-resumable";

const GENERATING: ReadonlySet<string> = new Set([
  InferenceServiceService.streamGenerate.path,
  InferenceServiceService.generate.path,
  InferenceServiceService.embed.path,
  InferenceServiceService.rerank.path,
  InferenceServiceService.moderate.path,
]);
/** The methods that take an Idempotency-Key: those that generate, move money, or create accounts and keys. */
const KEYED: ReadonlySet<string> = new Set([
  ...GENERATING,
  AccountServiceService.createAccount.path,
  AccountServiceService.creditAccount.path,
  KeyServiceService.createKey.path,
  KeyServiceService.rotateKey.path,
]);

export interface ReplayParts extends KeyedParts {
  /** Called with the number of bytes of answers in memory. */
  readonly onBytes: (bytes: number) => void;
  /** The connection to other nodes, for their streams and this node's; undefined if there are none. */
  readonly relays?: Relays | undefined;
}

export class Replays {
  readonly #kept: KeptRuns;
  readonly #keyed: KeyedAnswers;
  readonly #retried: RetriedAttempts;

  constructor(private readonly parts: ReplayParts) {
    const pool = new BytePool(POOL_BYTES_MAX, parts.onBytes);
    this.#retried = new RetriedAttempts(pool);
    const { relays, rootSecrets, randomBytes, requestOf } = parts;
    const others = relays && new OtherNodes(relays, rootSecrets, () => randomBytes(NONCE_BYTES));
    this.#kept = new KeptRuns(pool, requestOf, others);
    this.#keyed = new KeyedAnswers(parts, this.#kept);
  }

  /** True if the call's metadata concern a replay. */
  wants(path: string, metadata: CallMetadata): boolean {
    if (metadata[IDEMPOTENCY_HEADER] !== undefined) return KEYED.has(path);
    return (metadata[RETRY_HEADER] !== undefined || metadata[RESUMABLE_HEADER] !== undefined) && GENERATING.has(path);
  }

  /** Runs the call, or answers with the result of an earlier one. Resolves and rejects like the method. */
  serve(ask: Ask<unknown, unknown>, call: GatewayCall, sink: CallSink<unknown>, work: Work<unknown>): Promise<void> {
    const { metadata, method } = ask;
    const key = metadata[IDEMPOTENCY_HEADER];
    const resumable = metadata[RESUMABLE_HEADER] === "1" && method.path === InferenceServiceService.streamGenerate.path;
    if (resumable) sink.addHead({ [RESUMABLE_HEADER]: "1" });
    if (key !== undefined) return this.#keyed.serve(key, ask, call, sink, work, resumable);
    if (resumable) return this.#record(ask, call, sink, work);
    const retryCount = metadata[RETRY_HEADER];
    if (retryCount === undefined || call.caller.settings.retriesRunAnew) return work(call, sink);
    return this.#retried.serve(retryCount, ask, call, sink, work);
  }

  /** Replays the answer of a kept request, without its first `skip` messages. */
  resume(
    requestId: string,
    call: GatewayCall,
    begin: (source: Source | undefined) => Sink<unknown>,
    skip: number,
  ): Promise<void> {
    return this.#kept.resume(requestId, call, begin, skip);
  }

  cancel(requestId: string, call: GatewayCall): Promise<{ cancelled: boolean; costNanos: bigint }> {
    return this.#kept.cancel(requestId, call);
  }

  /**
   * Keeps a whole answer that a client lost while it was sent, for its SDK's retry. Without a message, because it was
   * too large to be sent here, the retry is told that it pays again.
   */
  keepUndelivered(
    requestId: string,
    caller: Caller,
    ask: Ask<unknown, unknown>,
    headers: CallMetadata,
    message: unknown,
  ): Promise<void> {
    if (caller.settings.retriesRunAnew) return Promise.resolve();
    return this.#retried.keep(requestId, caller, ask, headers, message);
  }

  /**
   * True if the call may get an existing answer, which does not count against its key's limits. Which answer that is
   * depends on its body.
   */
  isAtHand(metadata: CallMetadata, caller: Caller): boolean | Promise<boolean> {
    const key = metadata[IDEMPOTENCY_HEADER];
    if (key !== undefined) return this.#keyed.isKnown(key, caller);
    return !caller.settings.retriesRunAnew && this.#retried.hasLeft(caller);
  }

  /** The callers of runs that may have no client. */
  *callers(): Iterable<Caller> {
    yield* this.#kept.callers();
    yield* this.#retried.callers();
  }

  /** Ends the runs of a key, whether or not their client is connected. */
  end(keyId: string, reason: GatewayError): void {
    this.#kept.end(keyId, reason);
    this.#retried.end(keyId, reason);
  }

  /** Ends the runs without a client, and closes the store. */
  async close(): Promise<void> {
    const reason = new GatewayError("ERROR_REASON_OVERLOADED", { problem: "it is stopping" });
    const ended = Promise.all([this.#kept.stop(reason), this.#retried.stop(reason)]);
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, STOP_MS).unref())]);
    await this.parts.store.close();
  }

  #record(ask: Ask<unknown, unknown>, call: GatewayCall, sink: Sink<unknown>, work: Work<unknown>): Promise<void> {
    const tape = this.#kept.newTape(ask, call.caller.accountId);
    const run = new Run(call, work, tape);
    const done = run.ended.then((error) => tape.close(error));
    this.#kept.watch(run, tape, ask, true, done);
    return this.#kept.follow(run.requestId, sink, call);
  }
}

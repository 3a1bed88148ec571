/**
 * Requests with an Idempotency-Key: each runs once, and a repeated request gets the same answer. `replays.ts` lists the
 * methods that take such a key.
 */
import { withCost } from "../answer-headers.js";
import { setTimeout as sleep } from "node:timers/promises";
import type { CallMetadata, CallSink } from "../../api/channel.js";
import { GatewayError } from "../../base/errors.js";
import type { GatewayCall } from "../gateway.js";
import { readRecord, writeRecord } from "./answer-record.js";
import type { NewAnswer, StoredAnswer } from "./answer-store.js";
import { type Ask, ORIGINAL_HEADER } from "./ask.js";
import { KEY_MS, LARGE_BYTES, LARGE_MS } from "./bounds.js";
import type { KeptRuns, RequestOf } from "./kept-runs.js";
import { Run, type Work } from "./run.js";
import type { Asker, Seal } from "./seal.js";
import { type FoundAnswer, SealedAnswers, type SealedParts } from "./sealed-answers.js";
import type { Tape } from "./tape.js";

const KEY_PATTERN = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;
/** The `retry-after` while the first request runs at another node. */
const COME_AGAIN_MS = 1_000;
/** Another node's client may have an answer just before it is stored: how often to look for it, and the interval. */
const LOOKS = 20;
const LOOK_MS = 100;

const RUNS_STILL = "the first request with this key still runs at another node, or was cut by a crash and ends soon";

export interface KeyedParts extends SealedParts {
  readonly nowMs: () => number;
  /** What the ledger knows of a request. */
  readonly requestOf: RequestOf;
  /**
   * Called if an answer, or the end of a key, could not be written: a repeated request is refused and not charged
   * again.
   */
  readonly onLost: (error: unknown) => void;
}

/** A request with a key that runs, or whose answer is not stored yet. */
interface Open {
  readonly print: Buffer;
  readonly run: Run<unknown>;
  readonly tape: Tape<unknown>;
}

export class KeyedAnswers {
  readonly #open = new Map<string, Open>();
  readonly #lookups = new Map<string, Promise<FoundAnswer | undefined>>();
  readonly #answers: SealedAnswers;

  constructor(
    private readonly parts: KeyedParts,
    private readonly kept: KeptRuns,
  ) {
    this.#answers = new SealedAnswers(parts);
  }

  async serve(
    key: string,
    ask: Ask<unknown, unknown>,
    call: GatewayCall,
    sink: CallSink<unknown>,
    work: Work<unknown>,
    stays: boolean,
  ): Promise<void> {
    checkKey(key);
    const seals = this.#answers.sealsOf(call.caller, key);
    const id = nameOf(seals);
    const print = await ask.print();
    for (let looks = this.kept.hasOthers ? LOOKS : 0; ; looks -= 1) {
      const open = this.#open.get(id);
      if (open !== undefined) return this.#attach(open, print, call, sink);
      const stored = await this.#lookUp(id, seals);
      // Another request with the key may have begun meanwhile.
      if (this.#open.has(id)) continue;
      if (stored === undefined) break;
      if (!print.equals(stored.print)) throw keyReused(stored.requestId);
      if (stored.record !== null) return this.#replay(stored, stored.record, ask, call, sink);
      if (looks > 0) {
        await sleep(LOOK_MS);
        call.signal.throwIfAborted();
        continue;
      }
      await this.#checkUncharged(stored.requestId);
      if (!this.#open.has(id)) break;
    }
    // What begins here outlives its call, so nothing begins of one that ended meanwhile, with its key for example.
    call.signal.throwIfAborted();
    this.#begin({ id, seals, print }, ask, call, work, stays);
    return this.kept.follow(call.requestId, sink, call);
  }

  /** True if an answer to this key of the caller is kept, or in progress. */
  isKnown(key: string, asker: Asker): boolean | Promise<boolean> {
    if (!KEY_PATTERN.test(key)) return false;
    const seals = this.#answers.sealsOf(asker, key);
    const id = nameOf(seals);
    return this.#open.has(id) || this.#lookUp(id, seals).then((stored) => stored !== undefined);
  }

  #begin(
    { id, seals, print }: { readonly id: string; readonly seals: readonly Seal[]; readonly print: Buffer },
    ask: Ask<unknown, unknown>,
    call: GatewayCall,
    work: Work<unknown>,
    stays: boolean,
  ): void {
    const { requestId } = call;
    const { accountId } = call.caller;
    const tape = this.kept.newTape(ask, accountId);
    let noted = false;
    // The key is durable before money moves: after a crash the ledger says whether its request was charged.
    const note = async (): Promise<void> => {
      noted = true;
      await this.#put(seals, { requestId, print, record: null, accountId });
    };
    const run = new Run(call, work, tape, note);
    this.#open.set(id, { print, run, tape });
    const done = run.ended.then(async (error) => {
      tape.close(error);
      try {
        if (error === undefined) await this.#store(seals, requestId, print, tape);
        // Where nobody was told that it failed, the key stays: whoever asks again learns it if that was charged.
        else if (noted && tape.end?.told === true) await this.#answers.remove(seals);
      } catch (failure) {
        this.parts.onLost(failure);
      } finally {
        this.#open.delete(id);
      }
    });
    this.kept.watch(run, tape, ask, stays, done);
  }

  async #attach(open: Open, asked: Buffer, call: GatewayCall, sink: CallSink<unknown>): Promise<void> {
    const { run, tape, print } = open;
    if (!asked.equals(print)) throw keyReused(run.requestId);
    if (!tape.isWhole) {
      await run.ended;
      throw await this.#answerGone(run.requestId);
    }
    sink.addHead(replayedHead(run.requestId));
    return this.kept.follow(run.requestId, sink, call);
  }

  /** Replays the stored answer: no charge, no upstream. */
  async #replay(
    stored: FoundAnswer,
    record: Uint8Array,
    ask: Ask<unknown, unknown>,
    call: GatewayCall,
    sink: CallSink<unknown>,
  ): Promise<void> {
    const { headers, messages } = readRecord(this.#answers.open(stored, record));
    const tape = this.kept.newTape(ask, call.caller.accountId);
    tape.head(headers);
    for (const bytes of messages) tape.data(ask.messageOf(bytes));
    tape.close();
    try {
      if (!tape.isWhole) throw overloaded("its memory for stored answers is full", 1_000);
      sink.addHead(replayedHead(stored.requestId));
      await tape.follow(sink, call.signal);
    } finally {
      tape.release();
    }
  }

  /** Callers that use one key at the same time continue in one turn, so that only the first of them starts a run. */
  #lookUp(id: string, seals: readonly Seal[]): Promise<FoundAnswer | undefined> {
    let found = this.#lookups.get(id);
    if (found === undefined) {
      found = this.#answers.find(seals).finally(() => this.#lookups.delete(id));
      this.#lookups.set(id, found);
    }
    return found;
  }

  /** Stores the answer; of one that is too large, only that there was one. */
  #store(seals: readonly Seal[], requestId: string, print: Buffer, tape: Tape<unknown>): Promise<void> {
    const { accountId } = tape;
    if (!tape.isWhole) return this.#put(seals, { requestId, print, record: null, accountId });
    const record = writeRecord(lastingHeaders(tape.headers), tape.messageBytes());
    return this.#put(seals, { requestId, print, record, accountId });
  }

  #put(seals: readonly Seal[], answer: StoredAnswer & Pick<NewAnswer, "accountId">): Promise<void> {
    const nowMs = this.parts.nowMs();
    const isLarge = (answer.record?.length ?? 0) > LARGE_BYTES;
    const recordUntilMs = nowMs + (isLarge ? LARGE_MS : KEY_MS);
    return this.#answers.put(seals, { ...answer, recordUntilMs, untilMs: nowMs + KEY_MS });
  }

  /** A key whose request was never charged may run again. */
  async #checkUncharged(requestId: string): Promise<void> {
    const row = await this.parts.requestOf(requestId);
    if (row === undefined) return;
    if (row.state === "held") throw overloaded(RUNS_STILL, COME_AGAIN_MS);
    if (row.costNanos > 0n) throw answerGone(requestId, row.costNanos);
  }

  async #answerGone(requestId: string): Promise<GatewayError> {
    const row = await this.parts.requestOf(requestId);
    return answerGone(requestId, row?.costNanos ?? 0n);
  }
}

function nameOf([seal]: readonly Seal[]): string {
  return seal?.id.toString("base64") ?? "";
}

function checkKey(key: string): void {
  if (KEY_PATTERN.test(key)) return;
  const problem = "must be 1 to 255 printable ASCII characters";
  throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "Idempotency-Key", problem });
}

/** Removes the headers of rate limits, which are no longer true later. */
function lastingHeaders(headers: CallMetadata = {}): CallMetadata {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("x-ratelimit-")));
}

/** The head of a replay: the cost was charged to the original request. */
function replayedHead(requestId: string): CallMetadata {
  return withCost({ "idempotent-replayed": "true", [ORIGINAL_HEADER]: requestId }, 0n);
}

function keyReused(requestId: string): GatewayError {
  return new GatewayError("ERROR_REASON_IDEMPOTENCY_KEY_REUSED", { request: requestId });
}

function answerGone(requestId: string, costNanos: bigint): GatewayError {
  return new GatewayError("ERROR_REASON_ANSWER_GONE", { request: requestId, cost_nanos: String(costNanos) });
}

function overloaded(problem: string, retryAfterMs: number): GatewayError {
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem, retry_after_ms: String(retryAfterMs) });
}

/** Top-up codes: made in batches by operators, each redeemed once, by one transfer. */
import { invalid, unknown } from "../api/check.js";
import { type Act, eventOf, gatewayAct, markWritten } from "../audit/act.js";
import type { Coordination } from "../coordination/coordination.js";
import { GatewayError } from "../base/errors.js";
import { Guesses } from "../identity/guesses.js";
import { digestOf, makeId, type RandomBytes } from "../identity/tokens.js";
import { base32 } from "../identity/totp.js";
import type { CreditOutcome, CreditRequest } from "../ledger/corrections.js";
import { formatUsd, NANOS_PER_USD } from "../base/money.js";
import type { TopUpBatchRow, TopUpCodeRow } from "../store/payment-scripts.js";
import type { PeopleStore } from "../store/people-store.js";

export type PaymentStore = Pick<
  PeopleStore,
  | "makeTopUpCodes"
  | "topUpCodes"
  | "topUpBatches"
  | "voidTopUpCodes"
  | "claimTopUpCode"
  | "noteTopUpCredit"
  | "owedTopUpCodes"
>;

export interface TopUpOptions {
  readonly store: PaymentStore;
  readonly ledger: { credit(request: CreditRequest): Promise<CreditOutcome> };
  readonly coordination: Pick<Coordination, "admit">;
  readonly nowMs: () => number;
  readonly randomBytes: RandomBytes;
  readonly onError: (error: unknown) => void;
}

export interface BatchParams {
  readonly count: number;
  readonly amountNanos: bigint;
  readonly note: string;
  /** 0: a year. */
  readonly ttlSeconds: number;
}

export type BatchPlace = Pick<TopUpBatchRow, "createTimeMs" | "id">;

export interface Redeemed extends CreditOutcome {
  readonly amountNanos: bigint;
}

const COUNT_MAX = 1_000;
const AMOUNT_NANOS_MAX = 10_000n * NANOS_PER_USD;
const NOTE_CHARACTERS_MAX = 200;
const YEAR_S = 365 * 24 * 3_600;
const TTL_S_MAX = 5 * YEAR_S;
/** 130 bits, which are 26 signs: nobody guesses one, whatever the rate. */
const SECRET_BYTES = 17;
const SIGNS = 26;
const PREFIX = "topup";
const CODE_LENGTH_MAX = 128;
/** Whoever claimed a code credits it at once; what a crash left is credited by whichever node looks first. */
const OWED_AFTER_MS = 10_000;
const SWEEP_MS = 30_000;

export class TopUpCodes {
  readonly #guesses: Guesses;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: TopUpOptions) {
    this.#guesses = new Guesses(options.coordination, options.nowMs, "top-up");
  }

  /** Credits now and then what a node that died had claimed and not credited. */
  start(): void {
    this.#timer ??= setInterval(() => void this.settle(), SWEEP_MS).unref();
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return Promise.resolve();
  }

  /** Rejects with PARAMETER_INVALID. */
  async create(
    params: BatchParams,
    act: Act,
  ): Promise<{ readonly batchId: string; readonly codes: readonly string[] }> {
    checkParams(params);
    const { store, randomBytes } = this.options;
    const { count, amountNanos, note, ttlSeconds } = params;
    const batchId = makeId("batch", randomBytes);
    const createTimeMs = this.#nowMs();
    const expireTimeMs = createTimeMs + (ttlSeconds || YEAR_S) * 1_000;
    const codes = Array.from({ length: count }, () => newCode(randomBytes));
    const rows = codes.map((code): TopUpCodeRow => {
      const named = { id: makeId(PREFIX, randomBytes), batchId, digest: digestOf(plain(code)), amountNanos, note };
      const open = { voidTimeMs: null, accountId: null, redeemTimeMs: null, creditTimeMs: null };
      return { ...named, createTimeMs, expireTimeMs, ...open };
    });
    const after = JSON.stringify({ count, amount: formatUsd(amountNanos), note });
    await store.makeTopUpCodes(rows, eventOf(act, { resource: `top-up-codes/${batchId}`, accountId: "", after }));
    markWritten(act);
    return { batchId, codes };
  }

  list(batchId: string, afterId: string, size: number): Promise<readonly TopUpCodeRow[]> {
    return this.options.store.topUpCodes(batchId, afterId, size);
  }

  /** The newest first, behind one of them where it is given. */
  batches(behind: BatchPlace | undefined, size: number): Promise<readonly TopUpBatchRow[]> {
    const { createTimeMs = Number.MAX_SAFE_INTEGER, id = "" } = behind ?? {};
    return this.options.store.topUpBatches(createTimeMs, id, size);
  }

  /** How many ended. Rejects with RESOURCE_UNKNOWN. */
  async void(batchId: string, id: string, act: Act): Promise<number> {
    const resource = `top-up-codes/${id || batchId}`;
    const event = eventOf(act, { resource, accountId: "", after: JSON.stringify({ void: true }) });
    const count = await this.options.store.voidTopUpCodes(batchId, id, this.#nowMs(), event);
    if (count === undefined) throw unknown("top-up code", id || batchId);
    markWritten(act);
    return count;
  }

  /** Rejects with TOP_UP_CODE_INVALID or RATE_LIMITED. */
  async redeem(code: string, accountId: string, address: string, act: Act): Promise<Redeemed> {
    await this.#guesses.takeAddress(address);
    await this.#guesses.takeName(accountId);
    const claimed = await this.options.store.claimTopUpCode(
      digestOf(plain(code.slice(0, CODE_LENGTH_MAX))),
      accountId,
      this.#nowMs(),
    );
    if (claimed === undefined) {
      this.#guesses.failed(accountId);
      throw new GatewayError("ERROR_REASON_TOP_UP_CODE_INVALID");
    }
    this.#guesses.succeeded(accountId);
    return { ...(await this.#credit(claimed, accountId, act)), amountNanos: claimed.amountNanos };
  }

  /** Credits what is owed. Never rejects. */
  async settle(): Promise<void> {
    try {
      const untilMs = this.#nowMs() - OWED_AFTER_MS;
      for (const owed of await this.options.store.owedTopUpCodes(untilMs)) {
        if (owed.accountId !== null)
          await this.#credit(owed, owed.accountId, gatewayAct("top-up.credit", this.#nowMs()));
      }
    } catch (error) {
      this.options.onError(error);
    }
  }

  /** The transfer's id is the code's, so that it is one, however often this runs. */
  async #credit({ id, amountNanos }: TopUpCodeRow, accountId: string, act: Act): Promise<CreditOutcome> {
    const outcome = await this.options.ledger.credit({ creditId: id, accountId, amountNanos, act });
    await this.options.store.noteTopUpCredit(id, this.#nowMs());
    return outcome;
  }

  #nowMs(): number {
    return Math.floor(this.options.nowMs());
  }
}

function checkParams({ count, amountNanos, note, ttlSeconds }: BatchParams): void {
  if (count < 1 || count > COUNT_MAX) throw invalid("count", `must be 1 to ${COUNT_MAX}`);
  if (amountNanos < 1n || amountNanos > AMOUNT_NANOS_MAX)
    throw invalid("amount_nanos", `must be above 0 and at most ${formatUsd(AMOUNT_NANOS_MAX)} USD`);
  if (note.length > NOTE_CHARACTERS_MAX) throw invalid("note", `must be at most ${NOTE_CHARACTERS_MAX} characters`);
  if (ttlSeconds > TTL_S_MAX) throw invalid("ttl_seconds", `must be at most ${TTL_S_MAX}`);
}

/** Such as `TG-7QK2-...`: base32 has no signs that people mistake for each other's digits. */
function newCode(randomBytes: RandomBytes): string {
  return `TG-${base32(randomBytes(SECRET_BYTES))
    .slice(0, SIGNS)
    .replace(/(.{4})(?=.)/g, "$1-")}`;
}

/** However it was typed. */
function plain(code: string): string {
  return code.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}

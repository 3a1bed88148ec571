/**
 * The ledger as the program uses it: holds, settlements and credits over a store, with leases, recovery and retries.
 */
import { Price, type Usage } from "../api/index.js";
import { GatewayError } from "../errors.js";
import { failpoint } from "../failpoint.js";
import type {
  AccountBudgets,
  AccountLimits,
  AccountRow,
  BalanceRow,
  EntryRow,
  Freeze,
  KeyRow,
  NewAccountRow,
  Page,
  PageRequest,
  RequestStore,
  SeedOutcome,
  StatementPage,
  StatementPeriod,
  Store,
  VerifyReport,
} from "../store/store.js";
import { checkSettings } from "./account-settings.js";
import { Corrections, type CreditOutcome, type CreditRequest, checkReason, isText } from "./corrections.js";
import { type Hold, type HoldSteps, OpenHold } from "./hold.js";
import { HoldWaits } from "./hold-waits.js";
import { holdRefusal, unknownAccount } from "./hold-refusal.js";
import type { HoldOperation, KeyBudget } from "./operation.js";
import { Lease } from "./lease.js";
import { LiveHolds } from "./live-holds.js";
import { NO_USAGE } from "../api/usage.js";
import { SOURCE_NONE } from "./rows.js";
import { Settlements } from "./settlements.js";
import { LedgerWriter } from "./writer.js";

export type { Checkpoint, Hold, SettleOutcome, Settlement } from "./hold.js";

/** How much longer than its request a hold lives, so that a late settlement still finds it. */
const HOLD_GRACE_MS = 60_000;
/** How long closing waits for settlements. */
const DRAIN_WAIT_MS_MAX = 10_000;

const ACCOUNT_ID = /^[a-z0-9_.-]{1,64}$/;
const NAME_CHARACTERS_MAX = 200;

/** What the ledger says of what has no event below. A pino logger is one. */
export interface LedgerLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface LedgerOptions {
  readonly store: Store;
  /** Unique for each start of a process: a hold belongs to the start that made it. */
  readonly nodeId: string;
  /** The time of day, for dates alone. */
  readonly nowMs: () => number;
  /** The clock of durations, which no setting of the time changes. Default: the process's own. */
  readonly monotonicMs?: (() => number) | undefined;
  /** How often the node beats. Default: 5 s. */
  readonly beatEveryMs?: number | undefined;
  readonly log?: LedgerLog | undefined;
  /** Called where a request cost more than its account had: the operator paid `overageNanos`. */
  readonly onOverage?: ((requestId: string, overageNanos: bigint) => void) | undefined;
  /** Called when the number of settlements that wait for the database changes. */
  readonly onSettlesWaiting?: ((count: number) => void) | undefined;
  /** How many settlements may wait for the database. Default: 100,000. */
  readonly settlesWaitingMax?: number | undefined;
  /** Called where a settlement was given up: the queue is full or the ledger refuses it. Recovery resolves its hold. */
  readonly onSettleLost?: ((settlement: LostSettlement) => void) | undefined;
  /** Called when holds of nodes that are gone were settled or voided. */
  readonly onRecovered?: ((settled: number, voided: number) => void) | undefined;
}

/** What recovery may charge otherwise, or not at all: enough to do it by hand. */
export interface LostSettlement {
  readonly requestId: string;
  readonly costNanos: bigint;
  readonly problem: string;
}

export interface HoldRequest {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  /** What is wanted: the most that the request can cost. */
  readonly amountNanos: bigint;
  /** The least that will do; below `amountNanos` where the output limit may be lowered to what is affordable. */
  readonly leastNanos: bigint;
  readonly budgets: readonly KeyBudget[];
  /** The price that the request is admitted at. */
  readonly price: Price;
  /** How long the request may run, reading on included. Its hold lives 60 s longer. */
  readonly timeoutMs: number;
}

/** An account to open; without budgets or limits it has none. */
export interface NewAccount {
  readonly id: string;
  readonly name: string;
  readonly budgets?: AccountBudgets | undefined;
  readonly limits?: AccountLimits | undefined;
}

/** An account of a settings file; a credit of zero is none. */
export interface SeededAccount extends NewAccount {
  readonly creditNanos: bigint;
}

/** What is there after seeds were applied, in the order of the file. */
export interface Seeded extends Pick<SeedOutcome, "accounts" | "keys"> {
  /** The accounts that were given another credit before. */
  readonly creditedOtherwise: readonly string[];
}

const SILENT: LedgerLog = { warn: () => undefined, error: () => undefined };

/** One node's ledger. All methods reject with a GatewayError and nothing else. */
export class Ledger {
  /** Credits, refunds and debits. */
  readonly corrections: Corrections;
  readonly #store: Store;
  readonly #nodeId: string;
  readonly #nowMs: () => number;
  readonly #monotonicMs: () => number;
  readonly #live = new LiveHolds();
  readonly #writer: LedgerWriter;
  readonly #settlements: Settlements;
  readonly #holdWaits: HoldWaits;
  /** What every open hold needs. */
  readonly #steps: HoldSteps;
  /** This node among the others. */
  readonly lease: Lease;
  readonly #log: LedgerLog;
  /** Prices as bytes: a price is one object for all the requests that are admitted at it. */
  readonly #priceBytes = new WeakMap<Price, Uint8Array>();
  #closing: Promise<void> | undefined;

  constructor(options: LedgerOptions) {
    const { store, nodeId, nowMs, monotonicMs = () => performance.now() } = options;
    const log = options.log ?? SILENT;
    this.#log = log;
    this.#store = store;
    this.#nodeId = nodeId;
    this.#nowMs = nowMs;
    this.#monotonicMs = monotonicMs;
    const live = this.#live;
    this.#writer = new LedgerWriter((operations) => store.ledger.commit(operations));
    this.corrections = new Corrections(this.#writer, nowMs);
    this.#settlements = new Settlements({
      writer: this.#writer,
      log,
      onOverage: (requestId, overageNanos) => options.onOverage?.(requestId, overageNanos),
      onWaiting: (count) => options.onSettlesWaiting?.(count),
      onLost: ({ requestId, costNanos }, problem) => {
        live.remove(requestId);
        live.doubt();
        options.onSettleLost?.({ requestId, costNanos, problem });
      },
      onEnded: (requestId) => live.remove(requestId),
      waitingMax: options.settlesWaitingMax,
    });
    this.#steps = { writer: this.#writer, settlements: this.#settlements, nowMs };
    this.#holdWaits = new HoldWaits(this.#writer, live, (requestId) => this.#free(requestId));
    const onRecovered = (settled: number, voided: number): void => options.onRecovered?.(settled, voided);
    const { beatEveryMs } = options;
    this.lease = new Lease({
      writer: this.#writer,
      nodeId,
      live,
      nowMs,
      monotonicMs,
      log,
      onRecovered,
      beatEveryMs,
    });
  }

  /** Takes the node's lease, resolves the holds of nodes that are gone, and goes on doing so every 5 s. */
  start(): Promise<void> {
    return this.lease.start();
  }

  /**
   * Rejects with BALANCE_TOO_LOW, BUDGET_EXCEEDED, BALANCE_HELD, RESOURCE_UNKNOWN, ALREADY_EXISTS, OVERLOADED or
   * LEDGER_UNAVAILABLE.
   */
  async hold(request: HoldRequest): Promise<Hold> {
    if (this.#closing !== undefined) throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "stopping" });
    const operation = this.#holdOperation(request);
    const endMs = this.#monotonicMs() + request.timeoutMs + HOLD_GRACE_MS;
    const hold = new OpenHold(request.requestId, endMs, this.#steps);
    const result = await this.#holdWaits.submit(operation, hold);
    if (result.kind !== "held") throw holdRefusal(result, operation);
    const granted = hold.granted(result.amountNanos);
    try {
      failpoint("after_hold_commit");
    } catch (error) {
      granted.close();
      throw error;
    }
    return granted;
  }

  /** What `hold` would grant now. Rejects exactly where it would, and holds nothing. */
  async tryHold(request: HoldRequest): Promise<Pick<Hold, "amountNanos">> {
    await this.#writer.flush();
    const operation = this.#holdOperation(request);
    const [result] = await this.#store.ledger.preview([operation]);
    if (result?.kind === "held") return { amountNanos: result.amountNanos };
    if (result === undefined) throw new GatewayError("ERROR_REASON_INTERNAL");
    throw holdRefusal(result, operation);
  }

  /** Adds money, once for each credit id. Rejects with ALREADY_EXISTS, RESOURCE_UNKNOWN or PARAMETER_INVALID. */
  credit(request: CreditRequest): Promise<CreditOutcome> {
    return this.corrections.credit(request);
  }

  /** Opens an account with nothing on it. Rejects with ALREADY_EXISTS or PARAMETER_INVALID. */
  async createAccount(account: NewAccount): Promise<AccountRow> {
    if (await this.#store.accounts.create(this.#newRow(account))) return this.account(account.id);
    throw new GatewayError("ERROR_REASON_ALREADY_EXISTS", { kind: "account", id: account.id });
  }

  /**
   * Opens accounts, gives each its credit and makes keys, where they are not there yet: all of it or nothing. Rejects
   * with PARAMETER_INVALID.
   */
  async seed(accounts: readonly SeededAccount[], keys: readonly KeyRow[]): Promise<Seeded> {
    const nowMs = this.#nowMs();
    const credited = accounts.filter(({ creditNanos }) => creditNanos > 0n);
    const outcome = await this.#store.seed({
      accounts: accounts.map((account) => this.#newRow(account)),
      credits: credited.map(({ id, creditNanos: amountNanos }) => {
        return { kind: "credit", creditId: `seed:${id}`, accountId: id, amountNanos, nowMs };
      }),
      keys,
    });
    if (!outcome.applied) throw invalid("credit", "all credits together are more than the ledger holds");
    const otherwise = credited.filter((_, index) => outcome.credits[index]?.kind === "refused");
    return { accounts: outcome.accounts, keys: outcome.keys, creditedOtherwise: otherwise.map(({ id }) => id) };
  }

  #newRow({ id, name, budgets, limits }: NewAccount): NewAccountRow {
    if (!ACCOUNT_ID.test(id)) throw invalid("id", "must be 1 to 64 of a-z, 0-9, _, . and -");
    if (!isText(name, 0, NAME_CHARACTERS_MAX))
      throw invalid("name", `must be at most ${NAME_CHARACTERS_MAX} characters`);
    checkSettings({ ...budgets, ...limits });
    return { id, name, createTimeMs: this.#nowMs(), budgets, limits };
  }

  /** Rejects with RESOURCE_UNKNOWN. */
  async account(id: string): Promise<AccountRow> {
    const account = await this.#store.accounts.get(id);
    if (account === undefined) throw unknownAccount(id);
    return account;
  }

  /**
   * Changes the budgets and limits that are given. Rejects with RESOURCE_UNKNOWN, PARAMETER_INVALID, or ETAG_STALE
   * where the account has another etag; an empty one takes whatever is there.
   */
  async setSettings(id: string, settings: Partial<AccountBudgets & AccountLimits>, etag = ""): Promise<AccountRow> {
    checkSettings(settings);
    const account = await this.#store.accounts.setSettings(id, settings, etag);
    if (account === undefined) throw unknownAccount(id);
    if (account === "stale") throw new GatewayError("ERROR_REASON_ETAG_STALE", { kind: "account", id });
    return account;
  }

  /**
   * Freezes the account: nothing new is held of it from now on. Repeating it changes why, by whom, and whether streams
   * end. Rejects with RESOURCE_UNKNOWN, PARAMETER_MISSING or PARAMETER_INVALID.
   */
  async freeze(id: string, freeze: Omit<Freeze, "timeMs">): Promise<AccountRow> {
    checkReason(freeze.reason);
    const since = (await this.account(id)).freeze?.timeMs;
    const account = await this.#store.accounts.setFreeze(id, { timeMs: since ?? Math.floor(this.#nowMs()), ...freeze });
    if (account === undefined) throw unknownAccount(id);
    return account;
  }

  /** Rejects with RESOURCE_UNKNOWN. */
  async unfreeze(id: string): Promise<AccountRow> {
    const account = await this.#store.accounts.setFreeze(id, null);
    if (account === undefined) throw unknownAccount(id);
    return account;
  }

  /** By id. Rejects with PARAMETER_INVALID where the page is none. */
  accounts(page: PageRequest): Promise<Page<AccountRow>> {
    return this.#store.accounts.list(page);
  }

  /** Rejects with RESOURCE_UNKNOWN. */
  async balance(accountId: string): Promise<BalanceRow> {
    await this.#writer.flush();
    const balance = await this.#store.ledger.balance(accountId);
    if (balance === undefined) throw unknownAccount(accountId);
    return balance;
  }

  /** The account's transfers, newest first. Rejects with RESOURCE_UNKNOWN or PARAMETER_INVALID. */
  async entries(accountId: string, page: PageRequest): Promise<Page<EntryRow>> {
    await this.#writer.flush();
    await this.account(accountId);
    return this.#store.ledger.entries(accountId, page);
  }

  /** A page of the account's statement. Rejects with RESOURCE_UNKNOWN or PARAMETER_INVALID. */
  async statement(accountId: string, period: StatementPeriod, page: PageRequest): Promise<StatementPage> {
    await this.#writer.flush();
    const statement = await this.#store.ledger.statement(accountId, period, page);
    if (statement === undefined) throw unknownAccount(accountId);
    return statement;
  }

  /** Proves the ledger beside its writer, from the first transfer to the last. */
  async verify(): Promise<VerifyReport> {
    await this.#writer.flush();
    return this.#store.ledger.verify();
  }

  /** The requests, with everything in them that was settled before the question. */
  get requests(): RequestStore {
    const { requests } = this.#store;
    return {
      get: async (id) => {
        await this.#writer.flush();
        return requests.get(id);
      },
      receipt: async (id) => {
        await this.#writer.flush();
        return requests.receipt(id);
      },
      list: async (accountId, page) => {
        await this.#writer.flush();
        return requests.list(accountId, page);
      },
      summarize: async (accountId, days, page) => {
        await this.#writer.flush();
        return requests.summarize(accountId, days, page);
      },
      outputOf: (accountId, model, fromDay) => requests.outputOf(accountId, model, fromDay),
    };
  }

  /** Waits, bounded, for settlements on their way, and ends the node's lease. The store stays open. */
  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async #drain(): Promise<void> {
    if (!(await this.#settlements.drain(DRAIN_WAIT_MS_MAX)))
      this.#log.error(
        { waiting: this.#settlements.open },
        "settlements were left behind; recovery resolves their holds",
      );
    await this.lease.end();
  }

  #holdOperation(request: HoldRequest): HoldOperation {
    const { requestId, accountId, keyId, model, amountNanos, leastNanos, budgets, timeoutMs } = request;
    let price = this.#priceBytes.get(request.price);
    if (price === undefined) {
      price = Price.encode(request.price).finish();
      this.#priceBytes.set(request.price, price);
    }
    const nowMs = this.#nowMs();
    return {
      kind: "hold",
      requestId,
      accountId,
      keyId,
      model,
      nodeId: this.#nodeId,
      amountNanos,
      leastNanos,
      budgets,
      price,
      nowMs,
      expireTimeMs: Math.ceil(nowMs + timeoutMs) + HOLD_GRACE_MS,
    };
  }

  #free(requestId: string): void {
    const usage: Usage = NO_USAGE;
    const nothing = { usage, usageSource: SOURCE_NONE, costNanos: 0n, upstream: "", attempts: 0, attemptLog: "" };
    void this.#settlements.settle({ kind: "settle", requestId, nowMs: this.#nowMs(), ...nothing });
  }
}

function invalid(param: string, problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param, problem });
}

/**
 * The ledger as the program uses it: holds, settlements and credits over a store, with leases, recovery and retries.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Price } from "../api/index.js";
import type { Act } from "../audit/act.js";
import { GatewayError } from "../base/errors.js";
import type {
  AccountFilter,
  AccountChange,
  AccountRow,
  BalanceRow,
  EntryPage,
  Freeze,
  Page,
  PageRequest,
  RequestStore,
  StatementPage,
  StatementPeriod,
  Store,
  VerifyReport,
} from "../store/store.js";
import { Accounts, type KeysAndEdits, type NewAccount, type Seeded, type SeededAccount } from "./accounts.js";
import { Corrections, type CreditOutcome, type CreditRequest } from "./corrections.js";
import { CreditLines } from "./credit-lines.js";
import { type Hold, type HoldSteps, OpenHold, passed } from "./hold.js";
import { HoldWaits } from "./hold-waits.js";
import { holdRefusal, unknownAccount } from "./hold-refusal.js";
import { Jobs } from "./jobs.js";
import { type Journal, journalOf } from "./journal.js";
import type { HoldOperation } from "./operation.js";
import type { HoldRequest, LedgerLog, LedgerOptions } from "./ledger-options.js";
import { NodeHeartbeat } from "./node-heartbeat.js";
import { MoneyLeaseKeeper } from "./money-lease-keeper.js";
import { LiveHolds } from "./live-holds.js";
import { replay, replayIntents } from "./journal-replay.js";
import { NO_USAGE } from "../api/usage.js";
import { SOURCE_NONE } from "./rows.js";
import { Settlements } from "./settlement-queue.js";
import { type SliceRequest, Slices } from "./slices.js";
import { LedgerWriter } from "./writer.js";

export type { NewAccount } from "./accounts.js";
export type { Checkpoint, Hold, SettleOutcome, Settlement } from "./hold.js";
export type { HoldRequest, LedgerOptions, LostSettlement, Replayed } from "./ledger-options.js";

/** How much longer than its request a hold lives, so that a late settlement still finds it. */
const HOLD_GRACE_MS = 60_000;
/** How often a request that its lease covers checks whether the node may run ahead again, or must use its journal. */
const AHEAD_LOOK_MS = 10;
/** How long `close` waits for settlements. */
const DRAIN_WAIT_MS_MAX = 10_000;

const LEASE_NANOS_MAX = 10_000_000_000n;

const SILENT: LedgerLog = { warn: () => undefined, error: () => undefined };

/** One node's ledger. All methods reject with a GatewayError and nothing else. */
export class Ledger {
  /** Credits, refunds and debits. */
  readonly corrections: Corrections;
  readonly jobs: Jobs;
  readonly creditLines: CreditLines;
  readonly #accounts: Accounts;
  readonly #store: Store;
  readonly #nowMs: () => number;
  readonly #monotonicMs: () => number;
  readonly #live = new LiveHolds();
  readonly #writer: LedgerWriter;
  readonly #settlements: Settlements;
  readonly #holdWaits: HoldWaits;
  /** What every open hold needs. */
  readonly #steps: HoldSteps;
  readonly lease: NodeHeartbeat;
  readonly leases: MoneyLeaseKeeper;
  readonly #log: LedgerLog;
  /** What is written to this machine's disk while the database is away. */
  readonly #journal: Journal | undefined;
  readonly #options: Pick<LedgerOptions, "journal" | "intents" | "onReplayed">;
  /** Prices as bytes: a price is one object for all requests that are admitted at it. */
  readonly #priceBytes = new WeakMap<Price, Uint8Array>();
  #closing: Promise<void> | undefined;

  constructor(options: LedgerOptions) {
    const { store, nodeId, nowMs, machineMs = nowMs, monotonicMs = () => performance.now(), log = SILENT } = options;
    this.#log = log;
    this.#store = store;
    this.#accounts = new Accounts(store, nowMs);
    this.#nowMs = nowMs;
    this.#monotonicMs = monotonicMs;
    const live = this.#live;
    this.#writer = new LedgerWriter((batch) => store.ledger.commit(batch), undefined, options.settlePatienceMs);
    this.leases = new MoneyLeaseKeeper({
      writer: this.#writer,
      nodeId: () => this.lease.nodeId,
      nowMs,
      machineMs,
      monotonicMs,
      leaseNanosMax: options.leaseNanosMax ?? LEASE_NANOS_MAX,
      recalled: store.ledger.recalled?.bind(store.ledger),
    });
    this.corrections = new Corrections(this.#writer, this.leases, nowMs);
    this.creditLines = new CreditLines(this.#writer, store, nowMs);
    this.jobs = new Jobs(this.#writer, this.leases, nowMs);
    this.#options = options;
    const isAway = (): boolean => this.#writer.isAway(monotonicMs());
    const epoch = (): string => this.lease.nodeId;
    const journal = journalOf(options.journal, { epoch, isAway }, log);
    this.#journal = journal;
    this.#settlements = new Settlements({
      writer: this.#writer,
      log,
      journal,
      onOverage: (requestId, overageNanos, unkeptNanos) => options.onOverage?.(requestId, overageNanos, unkeptNanos),
      onLate: (requestId, overageNanos) => options.onLate?.(requestId, overageNanos),
      onWaiting: (count) => options.onSettlesWaiting?.(count),
      intents: options.intents,
      epoch,
      onLost: ({ requestId, costNanos }, problem) => {
        live.remove(requestId);
        live.doubt();
        options.onSettleLost?.({ requestId, costNanos, problem });
      },
      onEnded: (requestId) => {
        live.remove(requestId);
        journal?.ended(requestId);
      },
      waitingMax: options.settlesWaitingMax,
      retryMsMax: options.settlesRetryMsMax,
    });
    const { leases } = this;
    this.#steps = { writer: this.#writer, settlements: this.#settlements, leases, journal, nowMs, monotonicMs };
    this.#holdWaits = new HoldWaits(this.#writer, live, (requestId) => this.#free(requestId));
    const onRecovered = (settled: number, voided: number): void => options.onRecovered?.(settled, voided);
    const { beatEveryMs } = options;
    this.lease = new NodeHeartbeat({
      writer: this.#writer,
      nodeId,
      live,
      nowMs,
      machineMs,
      monotonicMs,
      log,
      onRecovered,
      leases: this.leases,
      beatEveryMs,
    });
  }

  /**
   * Takes the node's lease and resolves the holds of dead nodes, and repeats that every 3 s. When this resolves, the
   * database has all earlier journals. What clients received is charged before its hold is recovered.
   */
  async start(): Promise<void> {
    const { intents, journal, onReplayed } = this.#options;
    await this.lease.start(await replayIntents(this.#writer, intents));
    if (journal === undefined) return;
    const { found } = journal;
    const replayed = found.length === 0 ? undefined : await replay(this.#writer, found);
    await journal.forget();
    if (replayed !== undefined) onReplayed?.(replayed);
  }

  /** How many requests would be lost without the journal if this process ended. */
  get journaled(): number {
    return this.#journal?.size ?? 0;
  }

  /**
   * True if calls within leases are served while the database is away: the journal takes them, until the leases end.
   */
  get servesByJournal(): boolean {
    return this.#journal?.hasRoom === true && this.leases.held.count > 0 && this.leases.isAlive(this.#monotonicMs());
  }

  /**
   * Holds money; synchronously if a lease of this node covers it. Rejects with BALANCE_TOO_LOW, BUDGET_EXCEEDED,
   * BALANCE_HELD, RESOURCE_UNKNOWN, ALREADY_EXISTS, OVERLOADED or LEDGER_UNAVAILABLE. Never throws.
   */
  hold(request: HoldRequest): Hold | Promise<Hold> {
    if (this.#closing !== undefined)
      return Promise.reject(new GatewayError("ERROR_REASON_OVERLOADED", { problem: "it is stopping" }));
    const [nowMs, monotonicMs] = [this.#nowMs(), this.#monotonicMs()];
    const endMs = monotonicMs + request.timeoutMs + HOLD_GRACE_MS;
    const hold = new OpenHold(request.requestId, request.accountId, endMs, this.#steps, nowMs);
    const isAhead = this.#writer.isAhead(monotonicMs);
    const journal = isAhead && this.#journal?.hasRoom === true ? this.#journal : undefined;
    if (journal?.isWanted === false && this.leases.mayCover(request)) return this.#holdLater(request);
    const isFree = !isAhead && this.leases.admitsFree(request, monotonicMs);
    const mayRunAhead = !isAhead || journal !== undefined;
    const lease = isFree ? undefined : this.leases.draw(request, nowMs, monotonicMs, mayRunAhead);
    // A request that has a hold already is answered by what the database knows of it.
    if ((lease === undefined && !isFree) || !this.#live.add(hold))
      return this.#holdExactly(this.#holdOperation(request, nowMs, undefined), hold);
    const operation = this.#holdOperation(request, nowMs, lease?.id);
    hold.admit(operation, monotonicMs);
    if (journal !== undefined) return this.#holdJournaled(journal, operation, hold);
    return passed("after_admission", hold) ?? hold;
  }

  /** Waits until the database has the earlier holds, or counts as away. */
  async #holdLater(request: HoldRequest): Promise<Hold> {
    await sleep(AHEAD_LOOK_MS);
    return this.hold(request);
  }

  /** The database is away: the request begins once the hold is on the disk, if the lease is still valid then. */
  async #holdJournaled(journal: Journal, operation: HoldOperation, hold: OpenHold): Promise<Hold> {
    try {
      await journal.admit(operation);
      if (!this.leases.isAlive(this.#monotonicMs())) throw new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE");
    } catch (error) {
      hold.close();
      throw error;
    }
    return passed("after_admission", hold) ?? hold;
  }

  async #holdExactly(operation: HoldOperation, hold: OpenHold): Promise<Hold> {
    const result = await this.leases.untilBack(() => this.#holdWaits.submit(operation, hold));
    if (result.kind !== "held") throw holdRefusal(result, operation);
    const granted = hold.granted(result.amountNanos);
    await passed("after_hold_commit", granted);
    return granted;
  }

  /** Begins a session, which pays slice by slice. Rejects as `hold` does. */
  readonly session = (id: string, request: SliceRequest): Promise<Slices> => Slices.begin(this, id, request);

  /** What `hold` would grant now. Rejects exactly if it would, and holds nothing. */
  async tryHold(request: HoldRequest): Promise<Pick<Hold, "amountNanos">> {
    await this.#writer.flush();
    const operation = this.#holdOperation(request, this.#nowMs(), undefined);
    const [result] = await this.#store.ledger.preview([operation]);
    if (result?.kind === "held") return { amountNanos: result.amountNanos };
    if (result === undefined) throw new GatewayError("ERROR_REASON_INTERNAL");
    throw holdRefusal(result, operation);
  }

  /** Adds money, once for each credit id. Rejects with ALREADY_EXISTS, RESOURCE_UNKNOWN or PARAMETER_INVALID. */
  credit(request: CreditRequest): Promise<CreditOutcome> {
    return this.corrections.credit(request);
  }

  /** Opens an empty account. Rejects with ALREADY_EXISTS or PARAMETER_INVALID. */
  async createAccount(account: NewAccount, act: Act): Promise<AccountRow> {
    const created = await this.#accounts.create(account, act);
    if (created.limits.creditLine !== undefined) await this.creditLines.renew(account.id);
    return created;
  }

  /**
   * Opens accounts with their credit and creates keys, unless they exist, and edits others: all of it or nothing.
   * Resolves to `stale` if another change came before an edit. Rejects with PARAMETER_INVALID.
   */
  seed(accounts: readonly SeededAccount[], rows: KeysAndEdits, act: Act): Promise<Seeded | "stale"> {
    return this.#accounts.seed(accounts, rows, act);
  }

  /** Rejects with RESOURCE_UNKNOWN. */
  account(id: string): Promise<AccountRow> {
    return this.#accounts.get(id);
  }

  /**
   * Changes the given budgets and limits. Rejects with RESOURCE_UNKNOWN, PARAMETER_INVALID, or ETAG_STALE if the
   * account has another etag; an empty etag is not checked.
   */
  async setSettings(id: string, settings: AccountChange, act: Act, etag = ""): Promise<AccountRow> {
    const account = await this.#accounts.setSettings(id, settings, etag, act);
    await this.leases.recall(id);
    if ("creditLine" in settings) await this.creditLines.renew(id);
    return account;
  }

  /**
   * Freezes the account: no new holds from now on. A second call changes the reason, the actor, and whether streams
   * end. Rejects with RESOURCE_UNKNOWN, PARAMETER_MISSING or PARAMETER_INVALID.
   */
  async freeze(id: string, freeze: Omit<Freeze, "timeMs">, act: Act): Promise<AccountRow> {
    const account = await this.#accounts.freeze(id, freeze, act);
    await this.leases.recall(id);
    return account;
  }

  /** Rejects with RESOURCE_UNKNOWN. */
  unfreeze(id: string, act: Act): Promise<AccountRow> {
    return this.#accounts.unfreeze(id, act);
  }

  /** By id, or by the filter. Rejects with PARAMETER_INVALID if the page is invalid. */
  accounts(page: PageRequest, filter?: AccountFilter): Promise<Page<AccountRow>> {
    return this.#store.accounts.list(page, filter);
  }

  /** Rejects with RESOURCE_UNKNOWN. */
  async balance(accountId: string): Promise<BalanceRow> {
    await this.#writer.flush();
    const balance = await this.#store.ledger.balance(accountId);
    if (balance === undefined) throw unknownAccount(accountId);
    return balance;
  }

  /** Transfers before this time are archived; undefined if none are. */
  archivedUntil(): Promise<number | undefined> {
    return this.#store.ledger.archivedUntil();
  }

  /** The account's transfers, newest first. Rejects with RESOURCE_UNKNOWN or PARAMETER_INVALID. */
  async entries(accountId: string, page: PageRequest): Promise<EntryPage> {
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

  /** Verifies the ledger from the first transfer to the last, while the writer continues. */
  async verify(): Promise<VerifyReport> {
    await this.#writer.flush();
    return this.#store.ledger.verify();
  }

  /** Resolves once the database has all earlier settlements, or refused them for now. */
  readonly settled = (): Promise<void> => this.#writer.flush();

  /** The requests, including everything that was settled before the call. */
  get requests(): RequestStore {
    const { requests } = this.#store;
    const flushed =
      <Args extends readonly unknown[], Answer>(ask: (...asked: Args) => Promise<Answer>) =>
      async (...asked: Args): Promise<Answer> => {
        await this.#writer.flush();
        return ask(...asked);
      };
    return {
      get: flushed((id: string) => requests.get(id)),
      receipt: flushed((id: string) => requests.receipt(id)),
      list: flushed((...asked: Parameters<RequestStore["list"]>) => requests.list(...asked)),
      many: flushed((...asked: Parameters<RequestStore["many"]>) => requests.many(...asked)),
      running: flushed((...asked: Parameters<RequestStore["running"]>) => requests.running(...asked)),
      summarize: flushed((...asked: Parameters<RequestStore["summarize"]>) => requests.summarize(...asked)),
      outputOf: (accountId, model, fromDay) => requests.outputOf(accountId, model, fromDay),
    };
  }

  /** Waits for settlements on their way, for a bounded time, and ends the node's lease. The store stays open. */
  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async #drain(): Promise<void> {
    if (!(await this.#settlements.drain(DRAIN_WAIT_MS_MAX)))
      this.#log.error(
        { waiting: this.#settlements.open },
        "the process stops with unwritten settlements; recovery resolves their holds",
      );
    this.leases.close();
    await this.lease.end();
  }

  #holdOperation(request: HoldRequest, nowMs: number, leaseId: string | undefined): HoldOperation {
    const { requestId, accountId, keyId, model, amountNanos, leastNanos, budgets, timeoutMs } = request;
    let price = this.#priceBytes.get(request.price);
    if (price === undefined) {
      price = Price.encode(request.price).finish();
      this.#priceBytes.set(request.price, price);
    }
    return {
      kind: "hold",
      requestId,
      accountId,
      keyId,
      model,
      nodeId: this.lease.nodeId,
      amountNanos,
      leastNanos,
      budgets,
      price,
      nowMs,
      expireTimeMs: Math.ceil(nowMs + timeoutMs) + HOLD_GRACE_MS,
      leaseId,
    };
  }

  #free(requestId: string): void {
    const usage = NO_USAGE;
    const nothing = { usage, usageSource: SOURCE_NONE, costNanos: 0n, upstream: "", attempts: 0, attemptLog: "" };
    const settle = { kind: "settle", requestId, nowMs: this.#nowMs(), ...nothing } as const;
    void this.#settlements.settle(settle, { lateTerms: undefined });
  }
}

/**
 * Random operations on a real database beside a plain model, answer by answer, through crashes: 30,000 with all tests,
 * a million with `npm run money`. Repeat a run with TOLLGATE_SEED; TOLLGATE_MONEY_OPERATIONS makes it longer.
 */
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import type { LedgerOperation, LedgerResult } from "../../src/ledger/operation.js";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import type { Store } from "../../src/store/store.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { makeKeyLine } from "./key-line.js";
import { LIFE_ACCOUNTS, REACH, RandomLife, randomFrom } from "./random-life.js";
import { lineSetting } from "./plain-line.js";
import { RunningLedger } from "./running-ledger.js";
import { TEST_ACT } from "../support/acts.js";

const OPERATIONS = Number(process.env["TOLLGATE_MONEY_OPERATIONS"] ?? 30_000);
const SEED = Number(process.env["TOLLGATE_SEED"] ?? randomInt(2 ** 31));
/** How many commits there are from one crash to the next, at most. */
const COMMITS_TO_CRASH_MAX = 200;
/** How long the suite may take; the long run takes as long as it needs. */
const TIMEOUT_MS = Math.max(600_000, OPERATIONS);

interface Tally {
  operations: number;
  commits: number;
  crashes: number;
  /** Batches that a crash took before they were written, and after, with their answers. */
  lostBatches: number;
  unheardBatches: number;
  proofs: number;
  readonly answers: Record<string, number>;
}

/** What the crash of a thread is: from that commit on nothing answers, before or after the commit was written. */
type Crash = "before_commit" | "after_commit";

class Run {
  readonly tally: Tally = {
    operations: 0,
    commits: 0,
    crashes: 0,
    lostBatches: 0,
    unheardBatches: 0,
    proofs: 0,
    answers: {},
  };
  readonly #directory: string;
  readonly #life: RandomLife;
  readonly #model = new RunningLedger(LIFE_ACCOUNTS, 4 * REACH);
  #crash: Crash = "before_commit";
  /** What the next batch begins with. */
  #next: LedgerOperation | undefined;

  constructor(directory: string, life: RandomLife) {
    this.#directory = directory;
    this.#life = life;
  }

  /** Opens the store anew until there were enough operations. */
  async go(): Promise<void> {
    const first = await openSqliteStore({ directory: this.#directory });
    for (const id of LIFE_ACCOUNTS) await first.accounts.create({ id, name: id, createTimeMs: 0 }, TEST_ACT);
    await makeKeyLine(first);
    await first.close();
    while (this.tally.operations < OPERATIONS) await this.#liveUntilCrash();
  }

  async #liveUntilCrash(): Promise<void> {
    const commits = 1 + this.#life.whole(COMMITS_TO_CRASH_MAX);
    this.#crash = this.tally.crashes % 2 === 0 ? "before_commit" : "after_commit";
    const store = await openUntil(this.#directory, this.#crash, commits);
    this.#model.restart();
    await this.#compareBalances(store);
    let alive = true;
    while (alive && this.tally.operations < OPERATIONS) alive = await this.#commit(store);
    if (!alive) this.tally.crashes += 1;
    if (!alive || this.tally.operations >= OPERATIONS) await this.#prove(store);
    await store.close();
  }

  /** One batch, compared answer by answer. False where the database's thread failed. */
  async #commit(store: Store): Promise<boolean> {
    const batch = this.#batch();
    let answers: readonly LedgerResult[];
    try {
      answers = await store.ledger.commit(batch.operations);
    } catch (error) {
      if (!isCrash(error)) throw error;
      // Nobody heard an answer. What was not written has not happened; what was written has.
      if (this.#crash === "before_commit") this.tally.lostBatches += 1;
      else {
        this.tally.unheardBatches += 1;
        for (const operation of batch.operations) this.#model.decide(operation);
      }
      return false;
    }
    this.tally.commits += 1;
    this.tally.operations += answers.length;
    for (const [index, operation] of batch.operations.entries()) {
      const want = this.#model.decide(operation);
      const got = answers[index];
      if (!isSame(got, want)) expect(got, `operation ${index} of ${JSON.stringify(batch, bigintText)}`).toEqual(want);
      const isDrawn = operation.kind === "hold" && operation.leaseId !== undefined && want.kind === "held";
      const isAgain = want.kind === "settled" && want.repeated;
      const name = nameOf(operation, want) ?? (isDrawn ? "drawn" : isAgain ? "settled again" : want.kind);
      this.tally.answers[name] = (this.tally.answers[name] ?? 0) + 1;
    }
    await this.#compareBalances(store);
    return true;
  }

  /** A recovery begins its batch: which holds it finds is what the database held before it. */
  #batch(): { readonly operations: readonly LedgerOperation[] } {
    const size = 1 + this.#life.whole(this.#life.whole(4) === 0 ? 20 : 256);
    const operations: LedgerOperation[] = this.#next === undefined ? [] : [this.#next];
    this.#next = undefined;
    while (operations.length < size) {
      const operation = this.#life.next(this.#model.open.size + operations.length);
      if (operation.kind === "recover" && operations.length > 0) {
        this.#next = operation;
        break;
      }
      operations.push(operation);
    }
    return { operations };
  }

  /** Every account after every batch: granted = available + held + spent, to the last nano-USD. */
  async #compareBalances(store: Store): Promise<void> {
    const balances = await Promise.all(LIFE_ACCOUNTS.map((id) => store.ledger.balance(id)));
    for (const [index, id] of LIFE_ACCOUNTS.entries()) {
      const { granted, held, spent } = this.#model.accounts.get(id)!;
      const got = balances[index]!;
      const same =
        got.grantedNanos === granted &&
        got.heldNanos === held &&
        got.spentNanos === spent &&
        got.availableNanos === granted - held - spent &&
        got.availableNanos >= 0n;
      if (!same) expect(got, id).toEqual({ granted, held, spent });
    }
    if (this.#life.whole(50) === 0) await this.#changeLimits(store);
  }

  async #changeLimits(store: Store): Promise<void> {
    const id = LIFE_ACCOUNTS[this.#life.whole(LIFE_ACCOUNTS.length)]!;
    const limits = this.#life.limits();
    const { day, week, month, quarter, total, request } = limits;
    const line = this.#life.line();
    const budgets = {
      budgetDayNanos: day,
      budgetWeekNanos: week,
      budgetMonthNanos: month,
      budgetQuarterNanos: quarter,
      budgetTotalNanos: total,
      requestCostMaxNanos: request,
    };
    await store.accounts.setSettings(id, { ...budgets, creditLine: lineSetting(line) }, "", TEST_ACT);
    this.#model.changeLimits(id, limits);
    this.#model.lines.set(id, line);
  }

  /** Early in the run each time, later now and then: a proof reads everything. */
  async #prove(store: Store): Promise<void> {
    const last = this.tally.operations >= OPERATIONS;
    if (!last && this.tally.proofs >= 3) return;
    this.tally.proofs += 1;
    const report = await store.ledger.verify();
    expect(report.problems).toEqual([]);
    expect(report.openHoldCount).toBe(this.#model.open.size);
  }
}

/** What a job does; undefined for all else. */
function nameOf(operation: LedgerOperation, want: LedgerResult): string | undefined {
  if (operation.kind === "reserve" && want.kind === "held") return "reserved";
  const isLine = operation.kind === "settle" && operation.terms?.jobId !== undefined;
  return isLine && want.kind === "settled" ? `line${want.repeated ? " again" : ""}` : undefined;
}

/** What a disk takes is not what is tested here, and it is shared with others. */
function directoryInMemory(): string {
  if (!existsSync("/dev/shm")) return temporaryDirectory();
  const directory = mkdtempSync("/dev/shm/tollgate-");
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "data");
}

/** Opens the store with a failpoint that ends it at that commit. */
async function openUntil(directory: string, crash: Crash, commits: number): Promise<Store> {
  process.env["TOLLGATE_FAILPOINTS"] = `${crash}=throw:${commits}`;
  try {
    return await openSqliteStore({ directory });
  } finally {
    delete process.env["TOLLGATE_FAILPOINTS"];
  }
}

/** What the failpoint throws arrives as a ledger that is away, with its name in the cause. */
function isCrash(error: unknown): boolean {
  return error instanceof GatewayError && error.cause instanceof Error && /failpoint/i.test(error.cause.message);
}

function isSame(got: LedgerResult | undefined, want: LedgerResult): boolean {
  if (got === undefined || got.kind !== want.kind) return false;
  if (want.kind === "beaten" || want.kind === "recalled") return isDeepStrictEqual(got, want);
  if (want.kind === "recalling") return got.kind === "recalling" && isDeepStrictEqual(got.leases, want.leases);
  const fields: [string, unknown][] = Object.entries(want);
  return fields.every(([name, value]) => Reflect.get(got, name) === value);
}

const bigintText = (_: string, value: unknown): unknown => (typeof value === "bigint" ? `${value}n` : value);

test(`${OPERATIONS} random operations drift by nothing (TOLLGATE_SEED=${SEED})`, { timeout: TIMEOUT_MS }, async () => {
  const run = new Run(directoryInMemory(), new RandomLife(randomFrom(SEED)));
  onTestFinished(() => {
    const { answers, ...counts } = run.tally;
    const cpuSeconds = Math.round(process.cpuUsage().user / 1e6);
    process.stdout.write(`TOLLGATE_SEED=${SEED} ${JSON.stringify({ cpuSeconds, ...counts, ...answers })}\n`);
  });
  await run.go();
  const { answers, operations, crashes, lostBatches, unheardBatches } = run.tally;
  expect(operations).toBeGreaterThanOrEqual(OPERATIONS);
  // The life reaches every answer often, or it proves little; most of all the second settlement.
  const share = (name: string): number => (answers[name] ?? 0) / operations;
  expect(share("settled again")).toBeGreaterThan(0.05);
  expect(share("settled")).toBeGreaterThan(0.05);
  for (const name of ["held", "budget_exceeded", "credited", "refused", "noted", "returned"])
    expect(share(name), name).toBeGreaterThan(0.005);
  for (const name of ["reserved", "line", "line again"]) expect(share(name), name).toBeGreaterThan(0.0005);
  for (const name of ["recovered", "balance_too_low", "leased", "drawn", "lease_refused", "recalling", "recalled"])
    expect(share(name), name).toBeGreaterThan(0.0001);
  expect(Math.min(crashes, lostBatches, unheardBatches)).toBeGreaterThanOrEqual(Math.floor(OPERATIONS / 50_000));
});

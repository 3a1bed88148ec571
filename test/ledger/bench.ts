/** A started ledger over a real database that can be away, on clocks that the test moves. */
import { expect, onTestFinished } from "vitest";
import { Price, UsageSource } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { type HoldRequest, Ledger, type LedgerOptions, type Settlement } from "../../src/ledger/ledger.js";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import type { Store } from "../../src/store/store.js";
import { MINUTE_MS, NOON_MS, usage } from "./operations.js";
import { TEST_ACT } from "../support/acts.js";
import { openStore, STORE_DRIVERS, type StoreDriver } from "../support/stores.js";
import { testStore } from "../support/test-store.js";

const PRICE = Price.decode(new Uint8Array([8, 1]));

/** For what a beat or a retry of a settlement does. */
export const WAIT = { timeout: 60_000 };

export interface Bench {
  readonly store: Store;
  readonly ledger: Ledger;
  /** Lets time pass. */
  advance(ms: number): void;
  /** Sets the time of day, in which no time passes. */
  setClock(jumpMs: number): void;
  /** While true, the database takes no writes. */
  away: boolean;
  /** What no batch may hold: the database refuses it, as one that breaks a rule of its tables. */
  refuses: (operation: LedgerOperation) => boolean;
  another(nodeId: string, options?: Partial<LedgerOptions>): Ledger;
}

/** SQLite, or what `TOLLGATE_TEST_STORE` names. */
function testDriver(): StoreDriver {
  const driver = STORE_DRIVERS.find(({ id }) => id === testStore);
  if (driver === undefined) throw new Error(`no store is called ${testStore}`);
  return driver;
}

/** A started ledger with 100 on the account acme. */
export async function bench(options: Partial<LedgerOptions> = {}, driver = testDriver()): Promise<Bench> {
  const store = await openStore(driver);
  const ledgers: Ledger[] = [];
  let nowMs = NOON_MS;
  let monotonicMs = 0;
  const flaky: Store = {
    ...store,
    ledger: {
      ...store.ledger,
      commit: (operations) => {
        if (result.away) return Promise.reject(new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE"));
        if (operations.some(result.refuses)) return Promise.reject(new GatewayError("ERROR_REASON_INTERNAL"));
        return store.ledger.commit(operations);
      },
    },
  };
  const another = (nodeId: string, more: Partial<LedgerOptions> = {}): Ledger => {
    const clocks = { nowMs: () => nowMs, monotonicMs: () => monotonicMs };
    const ledger = new Ledger({ store: flaky, nodeId, ...clocks, beatEveryMs: 5, ...more });
    ledgers.push(ledger);
    return ledger;
  };
  const ledger = another("node_1", options);
  const advance = (ms: number): void => {
    nowMs += ms;
    monotonicMs += ms;
  };
  const setClock = (ms: number): void => void (nowMs += ms);
  const result: Bench = { store, ledger, away: false, refuses: () => false, another, advance, setClock };
  await ledger.start();
  await ledger.createAccount({ id: "acme", name: "Acme" }, TEST_ACT);
  await ledger.credit({ creditId: "c1", accountId: "acme", amountNanos: 100n, act: TEST_ACT });
  onTestFinished(async () => {
    result.away = false;
    result.refuses = () => false;
    await Promise.all(ledgers.map((one) => one.close()));
    expect((await store.ledger.verify()).problems).toEqual([]);
  });
  return result;
}

export function request(given: Partial<HoldRequest> = {}): HoldRequest {
  const amountNanos = given.amountNanos ?? 10n;
  const who = { requestId: "r1", accountId: "acme", keyId: "key_1", model: "sim-1" };
  return { ...who, amountNanos, leastNanos: amountNanos, budgets: [], price: PRICE, timeoutMs: MINUTE_MS, ...given };
}

export function settlement(costNanos: bigint): Settlement {
  const usageSource = UsageSource.USAGE_SOURCE_REPORTED;
  return { usage: usage(3n), usageSource, costNanos, upstream: "sim", attempts: 1, attemptLog: "" };
}

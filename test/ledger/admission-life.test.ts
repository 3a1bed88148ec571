/**
 * A random life of a ledger with leases, over a real database that is away now and then, and whose leases end behind
 * the node's back: whatever happens, each request that ran is charged once, for what it cost.
 */
import { expect, test, vi } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import type { Hold } from "../../src/ledger/ledger.js";
import type { MoneyLeaseName } from "../../src/ledger/operation.js";
import { TEST_ACT } from "../support/acts.js";
import { randomOf } from "../support/random.js";
import { type Bench, WAIT, bench, request, settlement } from "./bench.js";
import { NOON_MS } from "./operations.js";
import { SEED } from "../support/seeds.js";

const STEPS = 400;
const CREDIT = 30_000n;
const EXPECTED = /BALANCE|BUDGET|FROZEN|LEDGER_UNAVAILABLE/;

class Life {
  readonly #open: { readonly id: string; readonly hold: Hold }[] = [];
  /** What each request that ran has cost. */
  readonly costs = new Map<string, bigint>();
  admittedAtOnce = 0;
  #count = 0;

  constructor(
    readonly made: Bench,
    readonly random: () => number,
  ) {}

  #whole(below: number): number {
    return Math.floor(this.random() * below);
  }

  async step(): Promise<void> {
    const { made } = this;
    const { ledger } = made;
    const kind = this.#whole(40);
    if (kind < 22) return this.#ask();
    if (kind < 33) return this.#end(this.#whole(this.#open.length));
    if (kind === 33) made.away = !made.away;
    else if (kind === 34) made.advance(this.#whole(6_000));
    else if (kind === 35) return this.#endLeases();
    else if (kind === 36) made.setClock(this.#whole(3_000) - 1_500);
    else if (made.away) made.away = false;
    else if (kind === 37) {
      await ledger.freeze("acme", { reason: "test", actor: "key_op", endsStreams: false }, TEST_ACT);
      expect(await this.#reasonOf(next(this.#whole(3), "frozen"))).toMatch(/FROZEN/);
      await ledger.unfreeze("acme", TEST_ACT);
    } else if (kind === 38) {
      await ledger.setSettings("acme", { requestCostMaxNanos: BigInt(this.#whole(2) * 40) }, TEST_ACT);
    } else {
      const debit = {
        debitId: `d${this.#count}`,
        accountId: "acme",
        amountNanos: 50n,
        reason: "test",
        actor: "key_op",
      };
      await ledger.corrections.debit({ ...debit, act: TEST_ACT });
    }
  }

  async #ask(): Promise<void> {
    this.#count += 1;
    const id = `r${String(this.#count).padStart(6, "0")}`;
    try {
      const holding = this.made.ledger.hold(next(this.#whole(3), id, BigInt(1 + this.#whole(30))));
      if (!(holding instanceof Promise)) this.admittedAtOnce += 1;
      this.#open.push({ id, hold: await holding });
    } catch (error) {
      if (!(error instanceof GatewayError) || !EXPECTED.test(error.reason)) throw error;
    }
  }

  async #reasonOf(asked: ReturnType<typeof next>): Promise<string> {
    try {
      await this.made.ledger.hold(asked);
      return "granted";
    } catch (error) {
      return error instanceof GatewayError ? error.reason : String(error);
    }
  }

  async #end(index: number): Promise<void> {
    const [ending] = this.#open.splice(index, 1);
    if (ending === undefined) return;
    const costNanos = BigInt(this.#whole(Number(ending.hold.amountNanos) + 1));
    this.costs.set(ending.id, costNanos);
    const settling = ending.hold.settle(settlement(costNanos));
    if (this.#whole(2) === 0) await settling;
  }

  /** As another node does that took this one for dead. */
  async #endLeases(): Promise<void> {
    const { store } = this.made;
    const [result] = await store.ledger.commit([{ kind: "recall", accountId: "acme", nowMs: NOON_MS }]);
    const leases: readonly MoneyLeaseName[] = result?.kind === "recalled" ? result.leases : [];
    await store.ledger.commit(leases.map(({ leaseId }) => ({ kind: "return", leaseId, nowMs: NOON_MS })));
  }

  async finish(): Promise<void> {
    this.made.away = false;
    while (this.#open.length > 0) await this.#end(0);
    const { ledger } = this.made;
    await vi.waitFor(async () => expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 0n }), WAIT);
  }
}

function next(key: number, requestId: string, amountNanos = 10n): ReturnType<typeof request> {
  return request({ requestId, keyId: `key_${key}`, amountNanos });
}

test(`each request is charged once, for what it cost (TOLLGATE_SEED=${SEED})`, async () => {
  const made = await bench({ beatEveryMs: 20 });
  await made.ledger.credit({ creditId: "c2", accountId: "acme", amountNanos: CREDIT, act: TEST_ACT });
  const life = new Life(made, randomOf(SEED));
  for (let step = 0; step < STEPS; step += 1) await life.step();
  await life.finish();
  let spent = 0n;
  for (const [id, costNanos] of life.costs) {
    const record = await made.ledger.requests.get(id);
    expect(record?.chargedNanos, id).toBe(costNanos);
    spent += costNanos;
  }
  expect(await made.ledger.balance("acme")).toMatchObject({ spentNanos: spent });
  expect(life.admittedAtOnce).toBeGreaterThan(20);
});

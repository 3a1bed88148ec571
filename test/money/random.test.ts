/** Random lives of the ledger against a plain model: no order of things loses, invents or overspends money. */
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import type { Book } from "../../src/ledger/book.js";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import { decide } from "../../src/ledger/state.js";
import {
  CHAIN_START,
  type ChainHead,
  holdRecord,
  noteRecord,
  transferHash,
  usageRecord,
} from "../../src/ledger/hash-chain.js";
import { transferId } from "../../src/ledger/transfer.js";
import type { CreditLine } from "../../src/ledger/rows.js";
import type { Store } from "../../src/store/store.js";
import { bookOf } from "../ledger/operations.js";
import { openTestStore } from "../support/open-test-store.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { KEY_LINE, makeKeyLine } from "./key-line.js";
import { lineSetting } from "./plain-line.js";
import { PlainLedger } from "./plain-ledger.js";
import { ACCOUNTS, creditLines, lives } from "./steps.js";
import { TEST_ACT } from "../support/acts.js";
import { bySweep } from "../support/sweep.js";

/** granted = available + held + spent, never below zero. */
function checkSums(book: Book, plain: PlainLedger): void {
  for (const id of ACCOUNTS) {
    const { creditsPosted, debitsPending, debitsPosted, debitedNanos } = book.account(id);
    const sums = { granted: creditsPosted - debitedNanos, held: debitsPending, spent: debitsPosted - debitedNanos };
    expect(sums).toEqual(plain.balance(id));
    expect(creditsPosted - debitsPending - debitsPosted).toBeGreaterThanOrEqual(0n);
  }
}

/** Every transfer once, in its account's chain, and one settlement for each request that was charged. */
function checkTransfers(book: Book): void {
  const heads = new Map<string, ChainHead>();
  for (const [index, transfer] of book.transfers.entries()) {
    const head = heads.get(transfer.accountId) ?? CHAIN_START;
    expect(transfer.sequence).toBe(index + 1);
    expect(transfer.accountSequence).toBe(head.sequence + 1);
    const used = book.usages.find(({ sequence }) => sequence === transfer.sequence);
    const hold = book.holds.get(transfer.causeId);
    const note = book.notes.find(({ sequence }) => sequence === transfer.sequence);
    const ended = used ? usageRecord(used) : note ? noteRecord(note) : "";
    const record = transfer.kind === "hold" && hold ? holdRecord(hold) : ended;
    expect(transfer.hash).toEqual(transferHash(head.hash, transfer, record));
    heads.set(transfer.accountId, { sequence: transfer.accountSequence, hash: transfer.hash });
  }
  const ids = book.transfers.map(transferId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const hold of book.holds.values()) {
    expect(ids).toContain(`h:${hold.requestId}`);
    expect(ids.includes(`s:${hold.requestId}`)).toBe(hold.state === "settled");
    const usages = book.usages.filter((row) => row.hold === hold).length;
    expect(usages).toBe(hold.state === "settled" || (hold.state === "voided" && !hold.recovered) ? 1 : 0);
  }
  expect(book.transfers.every(({ accountId }) => ACCOUNTS.some((id) => id === accountId))).toBe(true);
}

test("the state machine decides as the plain model does, step by step", () => {
  const seen = new Map<string, number>();
  const life = fc.property(lives(150), creditLines, (operations, creditLine) => {
    const book = bookOf(ACCOUNTS);
    const plain = new PlainLedger(ACCOUNTS);
    book.accounts.set("acme", { ...book.account("acme"), creditLine });
    plain.lines.set("acme", creditLine);
    for (const operation of operations) {
      const want = plain.decide(operation);
      if (operation.kind === "hold") book.counters(operation.keyId, operation.accountId, operation.nowMs, KEY_LINE);
      expect(decide(book, operation), operation.kind).toEqual(want);
      checkSums(book, plain);
      seen.set(want.kind, (seen.get(want.kind) ?? 0) + 1);
    }
    checkTransfers(book);
  });
  fc.assert(life, { numRuns: bySweep({ short: 150, long: 300, all: 300 }) });
  // The lives reach every answer often, or they prove little.
  const often = ["held", "balance_too_low", "budget_exceeded", "settled", "credited", "recovered", "refused", "noted"];

  for (const kind of often) expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(50);
  for (const kind of ["refunded", "refund_too_high", "debited"]) expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(10);
});

test("the database decides as the plain model does, batch by batch, and the proof holds", async () => {
  const batchMax = fc.integer({ min: 1, max: 40 });
  const life = fc.asyncProperty(lives(150), batchMax, creditLines, creditLines, async (operations, most, ...lines) => {
    const store = await openTestStore(temporaryDirectory());
    for (const id of ACCOUNTS) await store.accounts.create({ id, name: id, createTimeMs: 0 }, TEST_ACT);
    await makeKeyLine(store);
    const plain = new PlainLedger(ACCOUNTS);
    const all = batches(operations, most);
    for (const [index, batch] of all.entries()) {
      const line = index === 0 ? lines[0] : lines[1];
      if (index === 0 || index === Math.floor(all.length / 2)) await setLine(store, plain, line);
      const want = batch.map((operation) => plain.decide(operation));
      expect(await store.ledger.commit(batch)).toEqual(want);
    }
    for (const id of ACCOUNTS) {
      const { granted, held, spent } = plain.balance(id);
      const availableNanos = granted - held - spent;
      const want = { availableNanos, heldNanos: held, spentNanos: spent, grantedNanos: granted };
      expect(await store.ledger.balance(id)).toMatchObject(want);
    }
    expect((await store.ledger.verify()).problems).toEqual([]);
    await store.close();
  });
  await fc.assert(life, { numRuns: bySweep({ short: 10, long: 20, all: 20 }) });
});

async function setLine(store: Store, { lines }: PlainLedger, line: CreditLine | undefined): Promise<void> {
  await store.accounts.setSettings("acme", { creditLine: lineSetting(line) }, "", TEST_ACT);
  lines.set("acme", line);
}

/** A recovery ends its batch: which holds it finds is what the database held before it. */
function batches(operations: readonly LedgerOperation[], most: number): LedgerOperation[][] {
  const all: LedgerOperation[][] = [];
  let batch: LedgerOperation[] = [];
  for (const operation of operations) {
    if (operation.kind === "recover" && batch.length > 0) all.push(batch.splice(0));
    batch.push(operation);
    if (batch.length === most) all.push(batch.splice(0));
  }
  if (batch.length > 0) all.push(batch);
  return all;
}

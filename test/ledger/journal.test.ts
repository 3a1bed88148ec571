/** What a node does while its database is away: within its leases it goes on, and nothing is lost, or charged twice. */
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { fc } from "../support/seeds.js";
import { USAGE_FIELDS, usageFrom } from "../../src/api/usage.js";
import { GatewayError } from "../../src/base/errors.js";
import { journalOperation, journalText } from "../../src/ledger/journal-text.js";
import type { LedgerJournal, Replayed } from "../../src/ledger/ledger-options.js";
import { type Hold, type HoldRequest, Ledger, type LedgerOptions } from "../../src/ledger/ledger.js";
import { type Journals, openJournals } from "../../src/store/journals.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { TEST_ACT } from "../support/acts.js";
import { type Bench, WAIT, bench, request, settlement } from "./bench.js";
import { checkpointOf, holdOf, NOON_MS, settleOf } from "./operations.js";

const CREDIT = 10_000n;
const AWAY = "ERROR_REASON_LEDGER_UNAVAILABLE";
let requests = 0;

function next(given: Partial<HoldRequest> = {}): HoldRequest {
  requests += 1;
  return request({ requestId: `j${String(requests).padStart(6, "0")}`, ...given });
}

interface Journaled extends Bench {
  readonly directory: string;
  readonly journals: Journals;
  /** What the journal held when its process was gone. */
  texts: readonly string[];
  hold(given?: Partial<HoldRequest>): Promise<Hold>;
}

/** A ledger with a journal and a lease for key_1, which sent its database a hold 51 ms ago that it did not take. */
async function ahead(options: Partial<LedgerOptions> = {}): Promise<Journaled> {
  const directory = temporaryDirectory();
  const journals = await openJournals(directory);
  onTestFinished(() => journals.close().catch(() => undefined));
  const made = await bench({ beatEveryMs: 60_000, journal: journals, ...options });
  const { ledger } = made;
  await ledger.credit({ creditId: "c2", accountId: "acme", amountNanos: CREDIT - 100n, act: TEST_ACT });
  for (const _ of [1, 2]) await (await ledger.hold(next())).settle(settlement(0n));
  await vi.waitFor(() => expect(ledger.leases.held.count).toBeGreaterThan(0), WAIT);
  made.away = true;
  void (await ledger.hold(next())).settle(settlement(1n), true);
  await vi.waitFor(() => expect(journals.lines).toBe(1), WAIT);
  made.advance(51);
  const hold = async (given: Partial<HoldRequest> = {}): Promise<Hold> => ledger.hold(next(given));
  return Object.assign(made, { directory, journals, hold, texts: [] });
}

async function reasonOf(holding: Promise<Hold>): Promise<string> {
  return holding.then(
    () => "granted",
    (error: unknown) => (error instanceof GatewayError ? error.reason : String(error)),
  );
}

describe("while the database is away, a request", () => {
  test("within a lease is admitted once the journal has it, and is charged once the database is back", async () => {
    const made = await ahead();
    const holds = await Promise.all([made.hold(), made.hold(), made.hold()]);
    expect(made.journals.lines).toBe(4);
    expect(made.ledger.journaled).toBe(4);
    // Who waits for a settlement waits for the disk alone.
    expect(await holds[0]?.settle(settlement(4n), true)).toBeUndefined();
    void holds[1]?.settle(settlement(5n));
    made.away = false;
    await vi.waitFor(async () => expect(await made.ledger.balance("acme")).toMatchObject({ spentNanos: 10n }), WAIT);
    await holds[2]?.settle(settlement(6n));
    expect(await made.ledger.balance("acme")).toMatchObject({ spentNanos: 16n, heldNanos: 0n });
    await vi.waitFor(() => expect(made.journals.lines).toBe(0), WAIT);
  });

  test.each<{ name: string; given: Partial<HoldRequest>; before?: (made: Journaled) => void }>([
    { name: "of another key", given: { keyId: "key_2" } },
    { name: "that is larger than the lease", given: { amountNanos: 5_000n } },
    { name: "after the lease's end", given: {}, before: ({ advance }) => advance(13_000) },
    { name: "after the machine was suspended", given: {}, before: ({ setClock }) => setClock(1_500) },
  ])("$name is refused as unavailable, and never for want of money", async ({ given, before }) => {
    const made = await ahead();
    before?.(made);
    expect(await reasonOf(made.hold(given))).toBe(AWAY);
    expect(made.journals.lines).toBe(1);
  });

  test("beyond what its lease has left is refused as unavailable", async () => {
    const made = await ahead();
    const reasons = await Promise.all(Array.from({ length: 40 }, () => reasonOf(made.hold())));
    expect(new Set(reasons)).toEqual(new Set(["granted", AWAY]));
    expect(made.ledger.leases.held.restNanos).toBeLessThan(10n);
  });

  test("is refused where the journal is full, and where its disk fails", async () => {
    const failing: LedgerJournal = {
      found: [],
      hasRoom: true,
      lines: 0,
      append: () => Promise.reject(new Error("ENOSPC")),
      clear: () => undefined,
      forget: () => Promise.resolve(),
    };
    for (const hasRoom of [true, false]) {
      const append = vi.fn(failing.append);
      const made = await bench({ beatEveryMs: 60_000, journal: { ...failing, hasRoom, append } });
      await made.ledger.credit({ creditId: "c2", accountId: "acme", amountNanos: CREDIT, act: TEST_ACT });
      for (const _ of [1, 2]) await (await made.ledger.hold(next())).settle(settlement(0n));
      await vi.waitFor(() => expect(made.ledger.leases.held.count).toBeGreaterThan(0), WAIT);
      made.away = true;
      void (await made.ledger.hold(next())).settle(settlement(1n), true);
      made.advance(51);
      expect(await reasonOf(Promise.resolve(made.ledger.hold(next())))).toBe(AWAY);
      made.away = false;
      // What was refused is charged nothing.
      await vi.waitFor(async () => expect(await made.ledger.balance("acme")).toMatchObject({ spentNanos: 1n }), WAIT);
      expect(await made.ledger.balance("acme")).toMatchObject({ heldNanos: 0n });
    }
  });
});

async function textsOf({ directory, journals }: Journaled): Promise<readonly string[]> {
  await journals.close();
  const left = await openJournals(directory);
  await left.close();
  return left.found;
}

describe("after a crash the journal", () => {
  /** Three requests were admitted: two ended, one had a checkpoint. */
  async function crashed(): Promise<Journaled> {
    const made = await ahead();
    const holds = await Promise.all([made.hold(), made.hold(), made.hold(), made.hold()]);
    await holds[0]?.settle(settlement(4n), true);
    await holds[1]?.settle(settlement(5n), true);
    holds[2]?.checkpoint(settlement(3n));
    await vi.waitFor(() => expect(made.journals.lines).toBe(8), WAIT);
    made.texts = await textsOf(made);
    return made;
  }

  /** Lets the first node's memory reach nothing, while another node starts. */
  async function startAnew(made: Journaled): Promise<Replayed | undefined> {
    let replayed: Replayed | undefined;
    const journal: LedgerJournal = { ...made.journals, found: made.texts, forget: () => Promise.resolve() };
    const ledger = new Ledger({
      store: made.store,
      nodeId: "node_9",
      nowMs: () => NOON_MS + 100,
      beatEveryMs: 60_000,
      journal,
      onReplayed: (told) => (replayed = told),
    });
    await ledger.start();
    onTestFinished(() => ledger.close());
    return replayed;
  }

  async function spent({ store }: Journaled): Promise<bigint | undefined> {
    return (await store.ledger.balance("acme"))?.spentNanos;
  }

  test("is told to the database: what ended is charged of its lease, what ran by its checkpoint", async () => {
    const made = await crashed();
    expect(await startAnew(made)).toEqual({ settled: 3, unfinished: 2, refused: 0 });
    expect(await spent(made)).toBe(10n);
    expect(await made.store.ledger.balance("acme")).toMatchObject({ heldNanos: 20n });
    await resolveOrphans(made);
    expect(await spent(made)).toBe(13n);
    expect(await made.store.ledger.balance("acme")).toMatchObject({ heldNanos: 0n });
  });

  test("is charged as late records where its leases were taken back meanwhile", async () => {
    const made = await crashed();
    await resolveOrphans(made);
    expect(await spent(made)).toBe(0n);
    expect(await startAnew(made)).toEqual({ settled: 4, unfinished: 1, refused: 0 });
    expect(await spent(made)).toBe(13n);
    expect(await made.store.ledger.balance("acme")).toMatchObject({ heldNanos: 0n, availableNanos: CREDIT - 13n });
  });

  test("may be told twice, and beside the node itself, and charges once", async () => {
    const made = await crashed();
    await startAnew(made);
    await startAnew(made);
    made.away = false;
    await vi.waitFor(async () => expect(await made.ledger.balance("acme")).toMatchObject({ spentNanos: 10n }), WAIT);
    await resolveOrphans(made);
    expect(await spent(made)).toBe(13n);
  });

  async function resolveOrphans({ store }: Journaled): Promise<void> {
    const [seen] = await store.ledger.commit([{ kind: "beat", nodeId: "node_8", nowMs: NOON_MS, isLast: false }]);
    const silent = seen?.kind === "beaten" ? seen.others.filter(({ nodeId }) => nodeId === "node_1") : [];
    await store.ledger.commit([{ kind: "recover", nodeId: "node_8", nowMs: NOON_MS, silent }]);
  }
});

describe("the text of an operation", () => {
  const some = fc.bigInt({ min: 0n, max: 10n ** 18n });
  test("says all of it", () => {
    const terms = { ...holdOf({ budgets: [{ period: "day", limitNanos: 5n, makerId: "key_0" }] }), createTimeMs: 7 };
    fc.assert(
      fc.property(some, fc.string(), fc.uint8Array(), fc.array(some), (amount, text, price, figures) => {
        const usage = usageFrom((field) => figures[USAGE_FIELDS.indexOf(field)] ?? 0n);
        const { kind: _, requestId: __, leaseId: ___, leastNanos: ____, nowMs: _____, ...late } = { ...terms, price };
        for (const operation of [
          holdOf({ amountNanos: amount, model: text, price, leaseId: text }),
          checkpointOf({ costNanos: amount, upstream: text, operatorCostNanos: amount }),
          settleOf({ costNanos: amount, usage, attemptLog: text, terms: { ...late, amountNanos: amount } }),
          settleOf({ operatorCostNanos: amount, upstream: text }),
        ])
          expect(journalOperation(journalText(operation, "node_1"))).toEqual(operation);
      }),
    );
  });

  test.each(["", "{}", "[]", '{"kind":"credit"}', '{"kind":"hold"}', "null"])("is none where it is %j", (text) => {
    expect(journalOperation(text)).toBeUndefined();
  });
});

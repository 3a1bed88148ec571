/** Mistakes in the protocol, each of which the search must find. */
import { type Book } from "../../src/ledger/book.js";
import type { LedgerOperation, LedgerResult } from "../../src/ledger/operation.js";
import { JOB_NODE } from "../../src/ledger/rows.js";
import { SILENCE_MS } from "../../src/ledger/node-leases.js";
import { decide } from "../../src/ledger/state.js";
import { type Protocol, NOON_MS } from "./model-world.js";
import { REAL } from "./scenarios.js";

export interface Mutation {
  readonly name: string;
  /** In which scenario it is found. */
  readonly scenario: string;
  /** The first steps of a way of more than four: the short search begins after them. */
  readonly after?: readonly string[];
  readonly protocol: Protocol;
  /** What is found. */
  readonly finds: RegExp;
}

const RECLAIMED = "a node falls silent, is reclaimed, and what it sent lands late";
const SUSPENDED = "a machine is suspended and wakes";
const CUT_OFF = "a node is cut off, with return and without";
const UNKNOWN = "the end of a COMMIT is unknown, or heard wrong";
const WANTED = "a request wants what leases hold";
const BUDGET = "a key's budget is what leases hold";
const CHANGED = "an account is frozen, or its budget lowered, while requests are admitted";
const CLOCK = "a node's time of day is set";
const JOB_LIVES = "a job outlives its node, and its lines are settled by whoever lives";
const JOURNALED = "a node that is cut off keeps a journal, crashes, and tells it at its next start";

/** Decides otherwise for one kind of operation. */
function deciding<Kind extends LedgerOperation["kind"]>(
  kind: Kind,
  other: (book: Book, operation: Extract<LedgerOperation, { kind: Kind }>) => LedgerResult,
): Protocol {
  const isKind = (operation: LedgerOperation): operation is Extract<LedgerOperation, { kind: Kind }> =>
    operation.kind === kind;
  return {
    ...REAL,
    decide: (book, operation) => (isKind(operation) ? other(book, operation) : decide(book, operation)),
  };
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: "a hold is drawn from a lease that has ended",
    scenario: RECLAIMED,
    protocol: deciding("hold", (book, operation) => {
      const gone = operation.leaseId !== undefined && !book.leases.has(operation.leaseId);
      if (!gone) return decide(book, operation);
      // As if it were still there: money that nobody set aside.
      const account = book.account(operation.accountId);
      account.debitsPending -= operation.amountNanos;
      return decide(book, { ...operation, leaseId: undefined });
    }),
    finds: /pending|below zero|out of bounds/,
  },
  {
    name: "a start does not tell its journal",
    scenario: JOURNALED,
    protocol: { ...REAL, told: () => [] },
    finds: /the journaled settlement of r\d is lost/,
  },
  {
    name: "a start tells of ends, and not what they were admitted on",
    scenario: JOURNALED,
    protocol: { ...REAL, carriesTerms: false, told: (journal) => journal.filter(({ kind }) => kind === "settle") },
    finds: /the settlement of r\d, which ran, is refused/,
  },
  {
    name: "what was charged before is charged once more from a journal",
    scenario: JOURNALED,
    after: ["node 0 is cut off", "node 0 is asked r1", "node 0 is asked r2", "r1 ends"],
    protocol: deciding("settle", (book, operation) => {
      const hold = book.holds.get(operation.requestId);
      if (hold === undefined || hold.state !== "settled") return decide(book, operation);
      // As if recovery had freed it.
      hold.state = "voided";
      hold.recovered = true;
      return decide(book, operation);
    }),
    finds: /charged twice/,
  },
  {
    name: "a node reclaims by the time of day",
    scenario: CLOCK,
    protocol: { ...REAL, isSilent: (sinceMs, { wallMs }) => wallMs - NOON_MS - sinceMs >= SILENCE_MS },
    finds: /lease that has ended/,
  },
  {
    name: "a node reclaims after half the time",
    scenario: RECLAIMED,
    protocol: { ...REAL, isSilent: (sinceMs, { monotonicMs }) => monotonicMs - sinceMs >= SILENCE_MS / 2 },
    finds: /lease that has ended/,
  },
  {
    name: "a node admits however long its beats were not answered",
    scenario: CUT_OFF,
    protocol: {
      ...REAL,
      draw: (node, request, { wallMs }) => {
        node.leases.beaten({ wallMs, monotonicMs: 0 });
        return node.leases.draw(request, wallMs, wallMs, 0);
      },
    },
    finds: /lease that has ended/,
  },
  {
    name: "a node that was suspended trusts its clock of durations",
    scenario: SUSPENDED,
    after: ["tick", "node 0 is suspended", "tick"],
    protocol: {
      ...REAL,
      draw: (node, request, { monotonicMs, wallMs }) => {
        const { beatAt } = node;
        const asleepMs = beatAt === undefined ? 0 : wallMs - beatAt.wallMs - (monotonicMs - beatAt.monotonicMs);
        return node.leases.draw(request, wallMs - asleepMs, wallMs - asleepMs, monotonicMs);
      },
    },
    finds: /lease that has ended/,
  },
  {
    name: "a reclaimed node goes on under its id",
    scenario: RECLAIMED,
    after: ["tick", "tick", "node 0 beats"],
    protocol: deciding("beat", (book, operation) => decide(book, { ...operation, isFirst: true })),
    finds: /lease that has ended/,
  },
  {
    name: "402 is told before leases are recalled",
    scenario: WANTED,
    protocol: {
      ...deciding("hold", (book, operation) => {
        const result = decide(book, operation);
        if (result.kind !== "recalling" || result.shortage.kind !== "balance_too_low") return result;
        return { ...result.shortage, heldNanos: 0n };
      }),
    },
    finds: /402 while money is reachable/,
  },
  {
    name: "a budget refuses before leases are recalled",
    scenario: BUDGET,
    protocol: {
      ...deciding("hold", (book, operation) => {
        const result = decide(book, operation);
        if (result.kind !== "recalling" || result.shortage.kind !== "budget_exceeded") return result;
        return { ...result.shortage, heldNanos: 0n };
      }),
    },
    finds: /402 while money is reachable/,
  },
  {
    name: "a recall is not looked for",
    scenario: WANTED,
    protocol: { ...REAL, polls: false },
    finds: /is asked for and not given back/,
  },
  {
    name: "settlements do not carry their hold's terms",
    scenario: RECLAIMED,
    after: ["tick", "node 0 is asked r1"],
    protocol: { ...REAL, carriesTerms: false },
    finds: /settlement of .* is refused/,
  },
  {
    name: "a late record is charged whole",
    scenario: CUT_OFF,
    protocol: deciding("settle", (book, operation) => {
      if (operation.terms === undefined || book.holds.get(operation.requestId) !== undefined)
        return decide(book, operation);
      const result = decide(book, operation);
      book.account(operation.terms.accountId).debitsPosted += operation.costNanos;
      return result;
    }),
    finds: /spent is not what|below zero/,
  },
  {
    name: "a late record of a request that is known is written again",
    scenario: UNKNOWN,
    protocol: deciding("settle", (book, operation) => {
      const known = book.holds.get(operation.requestId);
      if (known?.state === "settled") {
        known.state = "voided";
        known.recovered = true;
      }
      return decide(book, operation);
    }),
    finds: /charged twice/,
  },
  {
    name: "a change does not ask for the leases before it",
    scenario: CHANGED,
    protocol: { ...REAL, recallsAtChange: false },
    finds: /said to be in force|says it is in force/,
  },
  {
    name: "a frozen account is granted leases",
    scenario: CHANGED,
    after: ["node 0 asks for a lease", "a is frozen"],
    protocol: deciding("lease", (book, operation) => {
      const account = book.account(operation.accountId);
      book.accounts.set(account.id, { ...account, frozen: false });
      const result = decide(book, operation);
      book.accounts.set(account.id, { ...book.account(account.id), frozen: account.frozen });
      return result;
    }),
    finds: /frozen account/,
  },
  {
    name: "a lease counts in no budget",
    scenario: BUDGET,
    protocol: deciding("lease", (book, operation) => {
      const result = decide(book, operation);
      const lease = book.leases.get(operation.leaseId);
      if (lease !== undefined) for (const row of lease.counters) row.pendingNanos -= lease.restNanos;
      return result;
    }),
    finds: /below zero|budget/,
  },
  {
    name: "the answer of a grant that was not heard is forgotten",
    scenario: UNKNOWN,
    protocol: { ...REAL, returnsUnheard: false },
    finds: /never ends/,
  },
  {
    name: "a node goes on while a batch of it is on its way",
    scenario: UNKNOWN,
    after: ["node 0 asks for a lease", "node 0 sends a batch that stays on its way"],
    protocol: { ...REAL, waitsForLate: false },
    finds: /never ends/,
  },
  {
    name: "a node is reclaimed, and stays on the list of nodes",
    scenario: RECLAIMED,
    after: ["tick", "tick", "node 0 beats", "node 1 reclaims"],
    protocol: deciding("recover", (book, operation) => {
      const before = new Map(book.beats);
      const result = decide(book, operation);
      for (const [id, beats] of before) book.beats.set(id, beats);
      return result;
    }),
    finds: /lease that has ended/,
  },
  {
    name: "what is sent again gets new ids",
    scenario: UNKNOWN,
    protocol: {
      ...REAL,
      retry: (batch) =>
        batch.map((sent) => {
          const { operation } = sent;
          return operation.kind === "lease"
            ? { ...sent, operation: { ...operation, leaseId: `${operation.leaseId}+` } }
            : sent;
        }),
    },
    finds: /never ends/,
  },
  {
    name: "a recovery takes what a job set aside for a dead node's lease",
    scenario: JOB_LIVES,
    after: ["tick", "tick"],
    protocol: deciding("recover", (book, operation) => {
      for (const { id, nodeId } of book.leases.values())
        if (nodeId === JOB_NODE) decide(book, { kind: "return", leaseId: id, nowMs: 0 });
      return decide(book, operation);
    }),
    finds: /what the job set aside is gone|line 0 is never charged/,
  },
  {
    name: "a line that two nodes settle is charged by each",
    scenario: JOB_LIVES,
    protocol: deciding("settle", (book, operation) => {
      const hold = book.holds.get(operation.requestId);
      if (hold === undefined || operation.terms?.jobId === undefined) return decide(book, operation);
      hold.state = "voided";
      hold.recovered = true;
      return decide(book, operation);
    }),
    finds: /line \d is charged twice/,
  },
  {
    name: "idle leases are kept",
    scenario: WANTED,
    protocol: { ...REAL, returnsIdle: false },
    finds: /never ends/,
  },
];

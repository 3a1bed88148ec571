/** Where the searches begin: what is asked for, and which accidents may happen how often. */
import type { LedgerOperation } from "../../src/ledger/operation.js";
import { decide } from "../../src/ledger/state.js";
import { SILENCE_MS } from "../../src/ledger/node-leases.js";
import type { Budget, KeyBudget } from "../../src/ledger/rows.js";
import { accountRow, emptyRows } from "./model-store.js";
import {
  type Asked,
  type Moves,
  type Protocol,
  type World,
  movesOf,
  newNode,
  put,
  putBeat,
  toldOf,
  JOB,
  LINE_NANOS,
  MIDNIGHT_MS,
  NOON_MS,
} from "./model-world.js";
import { commitNow } from "./model-steps.js";

/** The protocol as it is. */
export const REAL: Protocol = {
  decide,
  draw: (node, request, { wallMs, monotonicMs }) => node.leases.draw(request, wallMs, wallMs, monotonicMs),
  isSilent: (sinceMs, { monotonicMs }) => monotonicMs - sinceMs >= SILENCE_MS,
  waitsForLate: true,
  retry: (batch) => batch,
  heard: (result) => result,
  polls: true,
  carriesTerms: true,
  recallsAtChange: true,
  returnsUnheard: true,
  returnsIdle: true,
  told: toldOf,
};

export interface Scenario {
  readonly name: string;
  readonly requests: readonly Asked[];
  readonly creditNanos: bigint;
  readonly accountBudgets?: readonly Budget[];
  readonly lowered?: Budget;
  /** A job that has set money aside, by what each of its lines costs. */
  readonly lines?: readonly bigint[];
  /** Which nodes begin with a lease of two. */
  readonly leased: readonly (0 | 1)[];
  readonly startMs?: number;
  readonly moves: Partial<Moves>;
  /** What more may happen in the large search. */
  readonly large: Partial<Moves>;
}

export function asked(number: number, amountNanos: bigint, given: Partial<Asked> = {}): Asked {
  const budgets: readonly KeyBudget[] = [];
  return { id: `r${number}`, accountId: "a", keyId: "k", amountNanos, costNanos: amountNanos, budgets, ...given };
}

const DAY = { period: "day", limitNanos: 16n } as const;

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "a node falls silent, is reclaimed, and what it sent lands late",
    requests: [asked(1, 1n), asked(2, 1n)],
    creditNanos: 8n,
    leased: [0],
    moves: { tick: 2, beat: 2, late: 1, crash: 1, restart: 1 },
    large: { unknown: 1, suspend: 1, tick: 1, ask: 1 },
  },
  {
    name: "a machine is suspended and wakes",
    requests: [asked(1, 1n), asked(2, 1n)],
    creditNanos: 8n,
    leased: [0],
    moves: { tick: 3, beat: 2, suspend: 1 },
    large: { beat: 2, ask: 1, late: 1 },
  },
  {
    name: "a node's time of day is set",
    requests: [asked(1, 1n), asked(2, 1n)],
    creditNanos: 8n,
    leased: [0],
    moves: { tick: 2, beat: 2, clock: 1 },
    large: { beat: 2, suspend: 1, ask: 1 },
  },
  {
    name: "a node is cut off, with return and without",
    requests: [asked(1, 1n), asked(2, 1n, { costNanos: 2n })],
    creditNanos: 8n,
    leased: [0],
    moves: { tick: 3, beat: 2, partition: 2 },
    large: { crash: 1, ask: 1, unknown: 1 },
  },
  {
    name: "a node that is cut off keeps a journal, crashes, and tells it at its next start",
    requests: [asked(1, 1n), asked(2, 1n)],
    creditNanos: 8n,
    leased: [0],
    moves: { partition: 2, crash: 2, restart: 2, tick: 2 },
    large: { late: 1, failed: 1, beat: 2, tick: 1 },
  },
  {
    name: "the end of a COMMIT is unknown, or heard wrong",
    requests: [asked(1, 1n), asked(2, 1n)],
    creditNanos: 8n,
    leased: [0],
    moves: { unknown: 1, failed: 1, late: 1, ask: 1, idle: 1 },
    large: { tick: 2, beat: 1, unknown: 1 },
  },
  {
    name: "a request wants what leases hold",
    requests: [asked(1, 1n), asked(2, 15n), asked(3, 1n)],
    creditNanos: 16n,
    leased: [0, 1],
    moves: { ask: 1, idle: 1, failed: 1 },
    large: { crash: 1, tick: 2, beat: 1, partition: 1 },
  },
  {
    name: "a key's budget is what leases hold",
    requests: [asked(1, 1n, { budgets: [DAY] }), asked(2, 14n, { budgets: [DAY] }), asked(3, 1n, { budgets: [DAY] })],
    creditNanos: 64n,
    leased: [0, 1],
    moves: { ask: 1, tick: 1, idle: 1 },
    large: { failed: 1, crash: 1, tick: 2, beat: 1 },
  },
  {
    name: "an account is frozen, or its budget lowered, while requests are admitted",
    requests: [asked(1, 1n), asked(2, 1n), asked(3, 2n)],
    creditNanos: 64n,
    accountBudgets: [{ period: "day", limitNanos: 32n }],
    lowered: { period: "day", limitNanos: 4n },
    leased: [0, 1],
    moves: { freeze: 1, lower: 1, ask: 1 },
    large: { failed: 1, crash: 1, idle: 1 },
  },
  {
    name: "midnight passes over two accounts and two keys",
    requests: [
      asked(1, 1n, { budgets: [DAY] }),
      asked(2, 1n, { accountId: "b", keyId: "l", costNanos: 0n }),
      asked(3, 1n, { budgets: [DAY] }),
    ],
    creditNanos: 16n,
    leased: [0],
    startMs: MIDNIGHT_MS,
    moves: { tick: 2, ask: 1, beat: 1, idle: 1 },
    large: { crash: 1, late: 1, beat: 1 },
  },
  {
    name: "a job outlives its node, and its lines are settled by whoever lives",
    requests: [asked(1, 1n)],
    creditNanos: 16n,
    lines: [1n, 3n],
    leased: [0],
    moves: { job: 4, crash: 1, restart: 1, tick: 2, beat: 1, late: 1 },
    large: { unknown: 1, failed: 1, partition: 1, tick: 1, job: 1 },
  },
];

function reserveOf({ lines, startMs }: World): LedgerOperation {
  const amountNanos = LINE_NANOS * BigInt(lines.length);
  return { kind: "reserve", jobId: JOB, accountId: "a", keyId: "k", budgets: [], amountNanos, nowMs: startMs };
}

/** Both nodes have beaten, some have a lease, and the job has its money. */
export function startOf(scenario: Scenario, isLarge: boolean): World {
  const { requests, creditNanos, accountBudgets = [], lowered, moves, large } = scenario;
  const world: World = {
    rows: emptyRows(["a", "b"].map((id) => accountRow(id, creditNanos, accountBudgets))),
    startMs: scenario.startMs ?? NOON_MS,
    ticks: 0,
    nodes: [newNode(0, 0), newNode(1, 0)],
    requests: requests.map((one) => {
      return { asked: one, state: "new", node: 0, createTimeMs: 0, isLate: false, recalls: 0 };
    }),
    late: [],
    moves: isLarge ? movesOf(moves, large) : movesOf(moves),
    mustEnd: new Set(),
    lowered: new Map(lowered === undefined ? [] : [["a", lowered]]),
    told: new Map(),
    lines: scenario.lines ?? [],
    isJobEnding: false,
    broken: undefined,
  };
  for (const node of world.nodes) putBeat(world, node, true);
  for (const index of scenario.leased) {
    const node = world.nodes[index];
    const [first] = requests;
    if (first === undefined) continue;
    const who = { leaseId: `${node.id}.first`, nodeId: node.id, accountId: first.accountId, keyId: first.keyId };
    const amounts = { amountNanos: 2n, requestNanos: 1n, budgets: first.budgets, nowMs: world.startMs };
    put(world, node, { kind: "lease", ...who, ...amounts });
  }
  if (world.lines.length > 0) put(world, world.nodes[0], reserveOf(world));
  for (const node of [...world.nodes, ...world.nodes]) {
    if (node.log.length === 0) putBeat(world, node, false);
    commitNow(world, node, REAL);
  }
  return world;
}

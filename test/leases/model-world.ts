/** Two nodes, their logs, their clocks and one database: what may happen next, and what each step does. */
import { dayNumber } from "../../src/base/day.js";
import { UsageSource } from "../../src/api/index.js";
import type { HoldOperation, LedgerOperation, LedgerResult, SettleOperation } from "../../src/ledger/operation.js";
import { type Draw, NodeLeases } from "../../src/ledger/node-leases.js";
import { type Budget, type KeyBudget } from "../../src/ledger/rows.js";
import { settleOf, usage } from "../ledger/operations.js";
import { termsOf } from "../../src/ledger/late-terms.js";
import { type Decide, PRICE, type Rows } from "./model-store.js";

/** Two of these are a lease's life: after one a node still admits, after two the others take it for dead. */
export const TICK_MS = 7_500;
/** Noon, and one tick before midnight. */
export const NOON_MS = Date.UTC(2026, 10, 21, 12);
export const MIDNIGHT_MS = Date.UTC(2026, 10, 22) - TICK_MS;
export const NODES = [0, 1] as const;
export type NodeIndex = (typeof NODES)[number];

/** A request of the model: what it may cost and what it will. */
export interface Asked {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly amountNanos: bigint;
  readonly costNanos: bigint;
  readonly budgets: readonly KeyBudget[];
}

/** One whose end is in a journal was `journaled` as its node crashed. */
export type RequestState = "new" | "asked" | "running" | "settling" | "settled" | "refused" | "lost" | "journaled";

export interface Request {
  readonly asked: Asked;
  state: RequestState;
  node: NodeIndex;
  createTimeMs: number;
  /** True where its hold was not heard of as durable, or not taken. */
  isLate: boolean;
  recalls: number;
}

/** A batch on its way, and whose it is. */
export interface Late {
  readonly writer: string;
  readonly operations: readonly LedgerOperation[];
}

/** An operation on its way, and when it was put into the log, for beats. */
export interface Sent {
  readonly operation: LedgerOperation;
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export interface Node {
  state: "up" | "suspended" | "dead";
  id: string;
  /** Its process, as the database knows it: another after each crash, and the same after others took it for dead. */
  readonly writer: string;
  /** How often it began anew. */
  starts: number;
  leases: NodeLeases;
  beatAt: { readonly wallMs: number; readonly monotonicMs: number } | undefined;
  /** What is not sent yet, in order. */
  log: Sent[];
  /** A batch whose end is unknown: it is sent again before anything else. */
  unknown: Sent[];
  isPartitioned: boolean;
  stoodTicks: number;
  /** How far its time of day is ahead. */
  aheadMs: number;
  asks: number;
  /** The other nodes, as this one saw them. */
  sights: ReadonlyMap<string, { readonly beats: number; readonly sinceMs: number }>;
  /** What recovery must leave alone is asked for once something was not heard of. */
  doubts: boolean;
  /** On the disk of its machine, which outlives its crash: holds and settlements of while it was cut off. */
  journal: readonly (HoldOperation | SettleOperation)[];
}

/** How often what may happen at most. */
export type Move =
  | "tick"
  | "crash"
  | "restart"
  | "suspend"
  | "partition"
  | "clock"
  | "unknown"
  | "late"
  | "failed"
  | "beat"
  | "ask"
  | "freeze"
  | "lower"
  | "idle"
  | "job";
export type Moves = Readonly<Record<Move, number>>;

/** So often each; those that are not named, never. */
export function movesOf(...given: readonly Partial<Moves>[]): Moves {
  const count = (move: Move): number => given.reduce((sum, moves) => sum + (moves[move] ?? 0), 0);
  return {
    tick: count("tick"),
    crash: count("crash"),
    restart: count("restart"),
    suspend: count("suspend"),
    partition: count("partition"),
    clock: count("clock"),
    unknown: count("unknown"),
    late: count("late"),
    failed: count("failed"),
    beat: count("beat"),
    ask: count("ask"),
    freeze: count("freeze"),
    lower: count("lower"),
    idle: count("idle"),
    job: count("job"),
  };
}

export interface World {
  rows: Rows;
  readonly startMs: number;
  ticks: number;
  nodes: [Node, Node];
  requests: Request[];
  /** Batches whose connections are gone, at most one of a writer: the database may take them still. */
  late: Late[];
  moves: Moves;
  /** The leases that were out when their account was frozen, or its budget lowered. */
  mustEnd: Set<string>;
  /** What the budget of an account is lowered to, where that may happen. */
  readonly lowered: ReadonlyMap<string, Budget>;
  /** What callers were told of their settlements. */
  told: Map<string, bigint>;
  /** What a job costs line by line, where there is one, and whether some node asked for its end. */
  readonly lines: readonly bigint[];
  isJobEnding: boolean;
  /** What is wrong, as soon as it is. */
  broken: string | undefined;
}

/** The steps of the protocol that a mistake could be made in: the real ones, or one of them wrong. */
export interface Protocol {
  readonly decide: Decide;
  draw(node: Node, request: Draw, moment: Moment): ReturnType<NodeLeases["draw"]>;
  /** Whether another node is dead, by how long it was not heard of. */
  isSilent(sinceMs: number, now: Moment): boolean;
  /** True where the database takes no batch of a writer before the end of the one that it has of it. */
  waitsForLate: boolean;
  /** What is sent again after a COMMIT of which nobody knows the end. */
  retry(batch: Sent[]): Sent[];
  /** Called with each answer, before the node acts on it. */
  heard(result: LedgerResult, operation: LedgerOperation): LedgerResult;
  /** True where a node looks which of its leases are asked for. */
  polls: boolean;
  /** True where settlements carry what their requests were admitted on. */
  carriesTerms: boolean;
  /** True where a change asks for the leases that were granted before it. */
  recallsAtChange: boolean;
  /** True where a grant whose answer was not heard is given back. */
  returnsUnheard: boolean;
  /** True where what nobody draws on is given back. */
  returnsIdle: boolean;
  /** What a start tells the database of the journal that it finds. */
  told(journal: Node["journal"]): readonly LedgerOperation[];
}

export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export function momentOf(world: World, node: Node): Moment {
  const realMs = world.ticks * TICK_MS;
  return { wallMs: world.startMs + realMs + node.aheadMs, monotonicMs: realMs - node.stoodTicks * TICK_MS };
}

export function newNode(index: NodeIndex, starts: number): Node {
  const memory = { leases: new NodeLeases(), beatAt: undefined, log: [], unknown: [], sights: new Map() };
  const counts = { stoodTicks: 0, aheadMs: 0, asks: 0, isPartitioned: false, doubts: false, journal: [] };
  const id = `n${index}.${starts}`;
  return { state: "up", id, writer: id, starts, ...memory, ...counts };
}

export function put(world: World, node: Node, operation: LedgerOperation): void {
  node.log.push({ operation, ...momentOf(world, node) });
}

export function putBeat(world: World, node: Node, isFirst: boolean): void {
  put(world, node, { kind: "beat", nodeId: node.id, nowMs: 0, isLast: false, isFirst });
}

/** What a node ended in memory, it gives back in its log: behind all that it admitted against it. */
export function giveBack(world: World, node: Node): void {
  for (const { id } of node.leases.ending.splice(0)) put(world, node, { kind: "return", leaseId: id, nowMs: 0 });
}

/** A node admits a request against a lease, or asks the database. */
export function admit(world: World, node: Node, request: Request, protocol: Protocol): void {
  const moment = momentOf(world, node);
  const lease = protocol.draw(node, request.asked, moment);
  giveBack(world, node);
  request.node = world.nodes.indexOf(node) === 0 ? 0 : 1;
  request.createTimeMs = moment.wallMs;
  const hold = holdOf(request, node, lease?.id);
  put(world, node, hold);
  if (lease === undefined) {
    request.state = "asked";
    return;
  }
  if (node.isPartitioned) node.journal = [...node.journal, hold];
  request.state = "running";
  const durable = world.rows.leases.find(({ id }) => id === lease.id);
  if (durable === undefined) world.broken ??= `${request.asked.id} is admitted against a lease that has ended`;
  const account = world.rows.accounts.find(({ id }) => id === request.asked.accountId);
  if (account?.frozen === true && durable?.recalled !== true)
    world.broken ??= `${request.asked.id} is admitted on a frozen account, whose freeze is said to be in force`;
}

function holdOf({ asked, createTimeMs }: Request, node: Node, leaseId: string | undefined): HoldOperation {
  const { id: requestId, accountId, keyId, amountNanos, budgets } = asked;
  const times = { nowMs: createTimeMs, expireTimeMs: createTimeMs + 60_000 };
  const terms = { model: "m", price: PRICE, nodeId: node.id, leastNanos: amountNanos };
  return { kind: "hold", requestId, accountId, keyId, amountNanos, budgets, ...times, ...terms, leaseId };
}

export function settlementOf({ asked, createTimeMs, isLate }: Request, node: Node): SettleOperation {
  const { id: requestId, accountId, keyId, amountNanos, costNanos, budgets } = asked;
  const hold = { accountId, keyId, amountNanos, budgets, model: "m", price: PRICE, nodeId: node.id };
  const terms = { ...hold, createTimeMs, expireTimeMs: createTimeMs + 60_000 };
  const usageSource = UsageSource.USAGE_SOURCE_REPORTED;
  const settle = settleOf({ requestId, costNanos, usageSource, usage: usage(1n) });
  return isLate ? { ...settle, terms } : settle;
}

/** A request ends: its settlement goes with the next batch, and to the disk where there is none soon. */
export function settle(world: World, node: Node, request: Request): void {
  const settlement = settlementOf(request, node);
  request.state = "settling";
  put(world, node, settlement);
  if (node.isPartitioned) node.journal = [...node.journal, settlement];
}

export const JOB = "j";
/** What each line of the job may cost at most. */
export const LINE_NANOS = 2n;

export function lineId(line: number): string {
  return `${JOB}:${line}`;
}

/** A line of the job is settled, by whichever node has its answer. */
export function lineOf({ startMs, lines }: World, line: number): SettleOperation {
  const who = { accountId: "a", keyId: "k", budgets: [], model: "m", price: PRICE, nodeId: "", jobId: JOB };
  const terms = { ...who, amountNanos: LINE_NANOS, createTimeMs: startMs, expireTimeMs: startMs };
  return settleOf({ requestId: lineId(line), costNanos: lines[line] ?? 0n, usage: usage(1n), terms });
}

/** What a start tells of its journal, behind its first beat: each hold as it was, and each end with its terms. */
export function toldOf(journal: Node["journal"]): readonly LedgerOperation[] {
  return journal.map((operation) => {
    if (operation.kind === "hold") return operation;
    const hold = journal.find((one) => one.kind === "hold" && one.requestId === operation.requestId);
    return hold?.kind === "hold" ? { ...operation, terms: operation.terms ?? termsOf(hold) } : operation;
  });
}

/** A node acts on an answer. Undefined: it heard that the batch failed, which may be wrong. */
export function hear(world: World, node: Node, sent: Sent, answer: LedgerResult | undefined, protocol: Protocol): void {
  const { operation } = sent;
  const result = answer && protocol.heard(answer, operation);
  if (result === undefined) node.doubts = true;
  switch (operation.kind) {
    case "hold":
      return hearHold(world, node, operation, result);
    case "settle":
      return hearSettle(world, node, operation, result, protocol);
    case "lease":
      if (result === undefined) {
        if (protocol.returnsUnheard) put(world, node, { kind: "return", leaseId: operation.leaseId, nowMs: 0 });
      } else if (result.kind === "leased") {
        const { leaseId: id, accountId, keyId, budgets, nowMs } = operation;
        const { amountNanos: grantedNanos, requestCostMaxNanos } = result;
        const grant = { grantedNanos, restNanos: grantedNanos, requestCostMaxNanos, day: dayNumber(nowMs) };
        node.leases.add({ id, accountId, keyId, budgets, ...grant, drawnMs: sent.monotonicMs });
      }
      return;
    case "return":
      if (result === undefined) put(world, node, operation);
      return;
    case "beat":
      return hearBeat(world, node, sent, result);
    default:
  }
}

function hearHold(world: World, node: Node, operation: HoldOperation, result: LedgerResult | undefined): void {
  const request = world.requests.find(({ asked }) => asked.id === operation.requestId);
  if (request === undefined) return;
  if (operation.leaseId !== undefined) {
    if (result?.kind !== "held") request.isLate = true;
    return;
  }
  if (request.state !== "asked") return;
  if (result?.kind === "held") request.state = "running";
  else if (result?.kind === "recalling" && request.recalls < 2) {
    // This node's own go back at once, behind what it admitted; then the request asks again.
    request.recalls += 1;
    const asked = new Set(result.leases.map(({ leaseId }) => leaseId));
    node.leases.endWhere(({ id }) => asked.has(id));
    giveBack(world, node);
    put(world, node, operation);
  } else request.state = "refused";
}

function hearSettle(
  world: World,
  node: Node,
  { requestId: id, terms }: SettleOperation,
  result: LedgerResult | undefined,
  protocol: Protocol,
): void {
  const request = world.requests.find(({ asked }) => asked.id === id);
  if (request === undefined) return;
  if (result?.kind === "settled") {
    // From the disk nothing is taken but as a whole.
    const isNeeded = (one: Node["journal"][number]): boolean => one.requestId !== id;
    if (!node.journal.some(isNeeded)) node.journal = [];
    request.state = "settled";
    world.told.set(id, result.chargedNanos);
    return;
  }
  if (result !== undefined && (!protocol.carriesTerms || terms !== undefined)) {
    request.state = "lost";
    world.broken ??= `the settlement of ${id}, which ran, is refused`;
    return;
  }
  // Refused for want of its hold, or not taken: once more, with what the hold would have said.
  if (result !== undefined) request.isLate = true;
  put(world, node, settlementOf(request, node));
}

function hearBeat(world: World, node: Node, { wallMs, monotonicMs }: Sent, result: LedgerResult | undefined): void {
  if (result?.kind === "gone") {
    node.leases.endWhere(() => true);
    giveBack(world, node);
    node.starts += 1;
    node.id = `${node.id.slice(0, 2)}.${node.starts}`;
    node.beatAt = undefined;
    node.leases = new NodeLeases();
    putBeat(world, node, true);
    return;
  }
  if (result?.kind !== "beaten") return;
  node.beatAt = { wallMs, monotonicMs };
  node.leases.beaten(node.beatAt);
  const sinceMs = momentOf(world, node).monotonicMs;
  const seen = result.others.map(({ nodeId, beats }) => {
    const before = node.sights.get(nodeId);
    return [nodeId, before?.beats === beats ? before : { beats, sinceMs }] as const;
  });
  node.sights = new Map(seen);
}

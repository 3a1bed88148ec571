/** Every step that may come next in a world, and the copies that each is tried on. */
import type { LedgerResult } from "../../src/ledger/operation.js";
import { NodeLeases } from "../../src/ledger/node-leases.js";
import { change, commit } from "./model-store.js";
import {
  type Node,
  type Protocol,
  type Sent,
  type World,
  admit,
  giveBack,
  hear,
  JOB,
  lineId,
  lineOf,
  momentOf,
  newNode,
  NODES,
  put,
  putBeat,
  settle,
  type Move,
} from "./model-world.js";

export interface Step {
  readonly name: string;
  /** Changes the copy of the world that it is given. */
  take(world: World): void;
}

export function copyOf(world: World): World {
  return {
    ...world,
    nodes: [copyOfNode(world.nodes[0]), copyOfNode(world.nodes[1])],
    requests: world.requests.map((request) => ({ ...request })),
    late: [...world.late],
    mustEnd: new Set(world.mustEnd),
    told: new Map(world.told),
  };
}

function copyOfNode(node: Node): Node {
  const leases = new NodeLeases();
  if (node.beatAt !== undefined) leases.beaten(node.beatAt);
  for (const lease of node.leases.values()) leases.add({ ...lease });
  return { ...node, leases, log: [...node.log], unknown: [...node.unknown] };
}

/** What may happen next. Each kind of accident happens as often as the world has moves of it left. */
export function stepsOf(world: World, protocol: Protocol): Step[] {
  const steps: Step[] = [];
  const add = (name: string, take: (next: World) => void, move?: Move): void => {
    if (move !== undefined && world.moves[move] === 0) return;
    const taken = (next: World): void => {
      if (move !== undefined) next.moves = { ...next.moves, [move]: next.moves[move] - 1 };
      take(next);
    };
    steps.push({ name, take: taken });
  };
  add("tick", (next) => tick(next), "tick");
  for (const [index, batch] of world.late.entries()) {
    const what = batch.operations.map(({ kind }) => kind).join(", ");
    add(`a late batch lands: ${what}`, (next) => {
      next.late.splice(index, 1);
      apply(next, batch.operations, protocol);
    });
    add(`the database ends a late batch, and takes nothing of it: ${what}`, (next) => void next.late.splice(index, 1));
  }
  for (const index of NODES) stepsOfNode(world, index, protocol, add);
  for (const index of NODES) if (world.nodes[index].state === "up") jobSteps(world, index, add);
  operatorSteps(world, protocol, add);
  return steps;
}

type Add = (name: string, take: (next: World) => void, move?: Move) => void;

function stepsOfNode(world: World, index: 0 | 1, protocol: Protocol, add: Add): void {
  const node = world.nodes[index];
  const at = `node ${index}`;
  if (node.state === "suspended") {
    add(`${at} wakes`, (next) => void (next.nodes[index].state = "up"));
    return;
  }
  if (node.state === "dead") {
    add(`${at} starts anew`, (next) => restart(next, index, protocol), "restart");
    return;
  }
  add(`${at} is suspended`, (next) => void (next.nodes[index].state = "suspended"), "suspend");
  add(`${at} crashes`, (next) => crash(next, index), "crash");
  const cut = node.isPartitioned;
  add(`${at} is ${cut ? "joined" : "cut off"}`, (next) => void (next.nodes[index].isPartitioned = !cut), "partition");
  add(`the time of day of ${at} is set`, (next) => void (next.nodes[index].aheadMs += 20_000), "clock");
  requestSteps(world, index, protocol, add);
  if (node.log.length + node.unknown.length > 0 && !cut) commitSteps(world, index, protocol, add);
  if (node.log.every(({ operation }) => operation.kind !== "beat") && node.unknown.length === 0)
    add(`${at} beats`, (next) => putBeat(next, next.nodes[index], false), "beat");
  if (!cut) {
    const recalled = recalledOf(world, node);
    if (recalled.size > 0 && protocol.polls) add(`${at} looks for recalls`, (next) => poll(next, next.nodes[index]));
    if (silentOf(world, node, protocol).length > 0) add(`${at} reclaims`, (next) => reclaim(next, index, protocol));
  }
  if (node.leases.size > 0) add(`${at} returns what is idle`, (next) => returnAll(next, next.nodes[index]), "idle");
}

function requestSteps(world: World, index: 0 | 1, protocol: Protocol, add: Add): void {
  const at = `node ${index}`;
  const next = world.requests.findIndex(({ state }) => state === "new");
  const request = world.requests[next];
  if (request !== undefined) {
    add(`${at} is asked ${request.asked.id}`, (world_) => {
      const asked = world_.requests[next];
      if (asked !== undefined) admit(world_, world_.nodes[index], asked, protocol);
    });
    const { accountId, keyId, budgets, amountNanos } = request.asked;
    add(
      `${at} asks for a lease`,
      (world_) => {
        const node = world_.nodes[index];
        node.asks += 1;
        const who = { leaseId: `${node.id}.${node.asks}`, nodeId: node.id, accountId, keyId, budgets };
        const nowMs = momentOf(world_, node).wallMs;
        put(world_, node, { kind: "lease", ...who, amountNanos: 2n * amountNanos, requestNanos: amountNanos, nowMs });
      },
      "ask",
    );
  }
  for (const [which, running] of world.requests.entries()) {
    if (running.state !== "running" || running.node !== index) continue;
    add(`${running.asked.id} ends`, (world_) => {
      const ending = world_.requests[which];
      if (ending === undefined) return;
      settle(world_, world_.nodes[index], ending);
    });
  }
}

/** Any node settles what is not charged yet, also what another has on its way, and ends the job once all is. */
function jobSteps(world: World, index: 0 | 1, add: Add): void {
  if (world.rows.leases.every(({ id }) => id !== JOB)) return;
  const open = openLines(world);
  for (const line of open)
    add(`node ${index} settles line ${line}`, (next) => put(next, next.nodes[index], lineOf(next, line)), "job");
  if (open.length > 0) return;
  const end = (next: World): void => {
    next.isJobEnding = true;
    put(next, next.nodes[index], { kind: "return", leaseId: JOB, nowMs: 0 });
  };
  add(`node ${index} ends the job`, end, "job");
}

export function openLines({ lines, rows }: World): readonly number[] {
  return [...lines.keys()].filter((line) => !rows.charges.has(lineId(line)));
}

/** While the database has a batch of a writer, that writer's next one waits; all that it can hear of is a failure. */
function commitSteps(world: World, index: 0 | 1, protocol: Protocol, add: Add): void {
  const at = `node ${index}`;
  const waits = protocol.waitsForLate && world.late.some(({ writer }) => writer === world.nodes[index].writer);
  if (!waits) {
    add(`${at} commits`, (next) => commitNow(next, next.nodes[index], protocol));
    sendLate(index, protocol, add);
  }
  for (const isWritten of waits ? [false] : [true, false]) {
    const how = isWritten ? "which was written" : "which was not";
    add(
      `${at} loses the answer of a COMMIT, ${how}`,
      (next) => {
        const batch = takeBatch(next.nodes[index], protocol);
        if (isWritten) apply(next, operationsOf(batch), protocol);
        next.nodes[index].unknown = batch;
      },
      "unknown",
    );
    add(
      `${at} hears of a failure of its batch, ${how}`,
      (next) => {
        const node = next.nodes[index];
        const batch = takeBatch(node, protocol);
        if (isWritten) apply(next, operationsOf(batch), protocol);
        for (const sent of batch) hear(next, node, sent, undefined, protocol);
      },
      "failed",
    );
  }
}

function sendLate(index: 0 | 1, protocol: Protocol, add: Add): void {
  add(
    `node ${index} sends a batch that stays on its way`,
    (next) => {
      const node = next.nodes[index];
      const batch = takeBatch(node, protocol);
      next.late.push({ writer: node.writer, operations: operationsOf(batch) });
      node.unknown = batch;
    },
    "late",
  );
}

function operatorSteps(world: World, protocol: Protocol, add: Add): void {
  const account = world.rows.accounts[0];
  if (account === undefined) return;
  const { id } = account;
  if (!account.frozen) add(`${id} is frozen`, (next) => changeAccount(next, id, { frozen: true }, protocol), "freeze");
  const lower = world.lowered.get(id);
  if (lower !== undefined && account.budgets.every((budget) => budget !== lower))
    add(`${id} has a lower budget`, (next) => changeAccount(next, id, { budgets: [lower] }, protocol), "lower");
}

function changeAccount(
  world: World,
  id: string,
  to: Partial<World["rows"]["accounts"][number]>,
  protocol: Protocol,
): void {
  for (const lease of world.rows.leases) if (lease.accountId === id) world.mustEnd.add(lease.id);
  if (protocol.recallsAtChange) world.rows = change(world.rows, id, to, protocol.decide);
  else {
    const accounts = world.rows.accounts.map((account) => (account.id === id ? { ...account, ...to } : account));
    world.rows = { ...world.rows, accounts };
  }
}

export function tick(world: World): void {
  world.ticks += 1;
  for (const node of world.nodes) if (node.state === "suspended") node.stoodTicks += 1;
}

/**
 * Its memory is gone, and the requests that it ran, but for those whose end is on its disk; what it sent may still
 * land.
 */
function crash(world: World, index: 0 | 1): void {
  const node = world.nodes[index];
  const ended = new Set(node.journal.flatMap(({ kind, requestId }) => (kind === "settle" ? [requestId] : [])));
  for (const request of world.requests)
    if (request.node === index && ["asked", "running", "settling"].includes(request.state))
      request.state = ended.has(request.asked.id) ? "journaled" : "lost";
  world.nodes[index] = { ...newNode(index, node.starts), state: "dead", journal: node.journal };
}

/** It tells what its journal has before it takes any request. */
export function restart(world: World, index: 0 | 1, protocol: Protocol): void {
  const { starts, journal } = world.nodes[index];
  const node = newNode(index, starts + 1);
  world.nodes[index] = { ...node, journal };
  putBeat(world, world.nodes[index], true);
  for (const operation of protocol.told(journal)) put(world, world.nodes[index], operation);
}

function operationsOf(batch: readonly Sent[]): Sent["operation"][] {
  return batch.map(({ operation }) => operation);
}

/** What was sent before and not heard of comes first, and alone. */
function takeBatch(node: Node, protocol: Protocol): Sent[] {
  if (node.unknown.length > 0) return protocol.retry(node.unknown.splice(0));
  return node.log.splice(0);
}

function apply(world: World, operations: readonly Sent["operation"][], protocol: Protocol): readonly LedgerResult[] {
  const { rows, results } = commit(world.rows, operations, protocol.decide);
  world.rows = rows;
  return results;
}

export function commitNow(world: World, node: Node, protocol: Protocol): void {
  const batch = takeBatch(node, protocol);
  const results = apply(world, operationsOf(batch), protocol);
  for (const [index, sent] of batch.entries()) hear(world, node, sent, results[index], protocol);
}

function recalledOf(world: World, node: Node): Set<string> {
  const mine = new Set([...node.leases.values()].map(({ id }) => id));
  return new Set(world.rows.leases.filter(({ id, recalled }) => recalled && mine.has(id)).map(({ id }) => id));
}

export function poll(world: World, node: Node): void {
  const recalled = recalledOf(world, node);
  node.leases.endWhere(({ id }) => recalled.has(id));
  giveBack(world, node);
}

export function returnAll(world: World, node: Node): void {
  node.leases.endWhere(() => true);
  giveBack(world, node);
}

function silentOf(world: World, node: Node, protocol: Protocol): { readonly nodeId: string; readonly beats: number }[] {
  const now = momentOf(world, node);
  return [...node.sights]
    .filter(([, { sinceMs }]) => protocol.isSilent(sinceMs, now))
    .map(([nodeId, { beats }]) => ({ nodeId, beats }));
}

export function reclaim(world: World, index: 0 | 1, protocol: Protocol): void {
  const node = world.nodes[index];
  const silent = silentOf(world, node, protocol);
  const live = node.doubts
    ? new Set(world.requests.filter((one) => one.node === index && isLive(one.state)).map(({ asked }) => asked.id))
    : undefined;
  apply(world, [{ kind: "recover", nodeId: node.id, nowMs: 0, silent, live }], protocol);
  node.sights = new Map([...node.sights].filter(([id]) => silent.every(({ nodeId }) => nodeId !== id)));
}

function isLive(state: World["requests"][number]["state"]): boolean {
  return state === "asked" || state === "running" || state === "settling";
}

/** What must hold in every world that can be reached, and at the end of each. */
import { isHeldByOthers } from "../../src/ledger/operation.js";
import { available } from "../../src/ledger/rows.js";
import { type Decide, type Rows, commit } from "./model-store.js";
import { JOB, lineId, lineOf, type Node, NODES, type Protocol, type World, putBeat, settle } from "./model-world.js";
import { commitNow, openLines, poll, reclaim, restart, returnAll, tick } from "./model-steps.js";

/** Throws where a refusal for want of money or budget is told although leases hold enough of it. */
export function watched(decide: Decide): Decide {
  return (book, operation) => {
    const result = decide(book, operation);
    if (operation.kind !== "hold" || (result.kind !== "balance_too_low" && result.kind !== "budget_exceeded"))
      return result;
    if (isHeldByOthers(result)) return result;
    const account = book.account(operation.accountId);
    const leases = book.leasesOf(operation.accountId);
    const leased = leases.reduce((sum, { restNanos }) => sum + restNanos, 0n);
    let reachable = available(account) + leased;
    const counters = book.counters(operation.keyId, operation.accountId, operation.nowMs);
    for (const { owner, limits } of [
      { owner: "key", limits: operation.budgets },
      { owner: "account", limits: account.budgets },
    ]) {
      for (const { period, limitNanos } of limits) {
        const row = counters.find((counter) => counter.owner === owner && counter.period === period);
        if (row === undefined) continue;
        const counted = leases.filter((lease) => lease.counters.includes(row));
        const back = counted.reduce((sum, { restNanos }) => sum + restNanos, 0n);
        const left = limitNanos - row.spentNanos - row.pendingNanos + back;
        if (left < reachable) reachable = left;
      }
    }
    if (reachable >= operation.leastNanos) throw new Error(`${operation.requestId} gets 402 while money is reachable`);
    return result;
  };
}

/** What is wrong with a world, if anything is. */
export function problemOf(world: World): string | undefined {
  return (
    world.broken ??
    problemOfRows(world.rows) ??
    problemOfRequests(world) ??
    problemOfJob(world) ??
    problemOfBudgets(world)
  );
}

function problemOfJob({ rows, lines, isJobEnding }: World): string | undefined {
  if (rows.granted.has(JOB) && !isJobEnding && rows.leases.every(({ id }) => id !== JOB))
    return "what the job set aside is gone before its end";
  for (const [line, costNanos] of lines.entries()) {
    const charge = rows.charges.get(lineId(line));
    if (charge === undefined) continue;
    if (charge.count > 1) return `line ${line} is charged twice`;
    if (charge.nanos !== costNanos) return `line ${line} is not charged what it cost`;
  }
  return undefined;
}

function problemOfRows(rows: Rows): string | undefined {
  for (const account of rows.accounts) {
    if (available(account) < 0n) return `${account.id} is below zero`;
    const leased = sumOf(rows.leases.filter(({ accountId }) => accountId === account.id).map((row) => row.restNanos));
    const open = rows.holds.filter(({ accountId, state }) => accountId === account.id && state === "held");
    if (account.debitsPending !== leased + sumOf(open.map(({ amountNanos }) => amountNanos)))
      return `what is pending on ${account.id} is not its holds and leases`;
    if (
      account.debitsPosted !==
      sumOf([...rows.charges].map(([id, { nanos }]) => (isOf(rows, id, account.id) ? nanos : 0n)))
    )
      return `what ${account.id} spent is not what its requests were charged`;
  }
  return rows.leases.some(({ restNanos }) => restNanos < 0n) ? "a lease is below zero" : undefined;
}

function isOf(rows: Rows, requestId: string, accountId: string): boolean {
  return rows.holds.some((hold) => hold.requestId === requestId && hold.accountId === accountId);
}

function problemOfRequests({ rows, requests, told }: World): string | undefined {
  for (const { asked } of requests) {
    const charge = rows.charges.get(asked.id);
    if (charge !== undefined && charge.count > 1) return `${asked.id} is charged twice`;
    if (charge !== undefined && charge.nanos > asked.costNanos) return `${asked.id} is charged more than it cost`;
    const said = told.get(asked.id);
    if (said !== undefined && said !== (charge?.nanos ?? 0n)) return `the durable settlement of ${asked.id} is lost`;
  }
  return undefined;
}

/** Late charges may pass a budget whose money others were given meanwhile. */
function problemOfBudgets({ rows, requests, nodes, lowered, mustEnd }: World): string | undefined {
  for (const { owner, ownerId, period, pendingNanos, spentNanos } of rows.counters.values()) {
    const used = pendingNanos + spentNanos - rows.lateNanos;
    const own = owner === "key" ? requests.filter(({ asked }) => asked.keyId === ownerId) : [];
    const limits = own.flatMap(({ asked }) => asked.budgets);
    const account = rows.accounts.find(({ id }) => owner === "account" && id === ownerId);
    // One that was lowered may be passed by what was granted before.
    if (account !== undefined && !lowered.has(account.id)) limits.push(...account.budgets);
    for (const limit of limits)
      if (limit.period === period && used > limit.limitNanos) return `a budget of the ${owner} ${ownerId} is passed`;
  }
  for (const { id, recalled } of rows.leases)
    if (mustEnd.has(id) && !recalled) return `the lease ${id} outlives a change that says it is in force`;
  for (const node of nodes)
    for (const { id, restNanos } of node.leases.values()) {
      const durable = rows.leases.find((lease) => lease.id === id);
      if (durable !== undefined && durable.restNanos < restNanos) return `${node.id} has more than its lease ${id}`;
    }
  return undefined;
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

/** Rounds after which all that was dead is reclaimed and all that lives has settled. */
const ROUNDS = 8;

/** Whoever lives settles what is left of the job, and ends it. */
function finishJob(world: World, protocol: Protocol): void {
  if (world.rows.leases.every(({ id }) => id !== JOB)) return;
  const lines = openLines(world).map((line) => lineOf(world, line));
  world.isJobEnding = true;
  const end = { kind: "return", leaseId: JOB, nowMs: 0 } as const;
  world.rows = commit(world.rows, [...lines, end], protocol.decide).rows;
}

/** Lets a world come to rest: all nodes live and are joined. Every lease must end, and what ran must be paid. */
export function problemAtRest(world: World, protocol: Protocol): string | undefined {
  for (const { operations } of world.late.splice(0)) world.rows = commit(world.rows, operations, protocol.decide).rows;
  for (const index of NODES) {
    const node = world.nodes[index];
    node.isPartitioned = false;
    if (node.state === "suspended") node.state = "up";
    if (node.state === "dead") restart(world, index, protocol);
  }
  // Whoever can be reached gives back what is asked for, idle or not.
  for (const node of [...world.nodes, ...world.nodes]) {
    if (protocol.polls) poll(world, node);
    commitAll(world, node, protocol);
  }
  const kept = world.rows.leases.find(({ recalled, id }) => recalled && world.nodes.some((node) => has(node, id)));
  if (kept !== undefined) return `the lease ${kept.id} is asked for and not given back`;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const index of NODES) rest(world, world.nodes[index], index, protocol);
    finishJob(world, protocol);
    if (isAtRest(world)) break;
    tick(world);
  }
  const { rows, requests } = world;
  if (rows.leases.length > 0) return `the lease ${rows.leases[0]?.id} never ends`;
  const open = rows.holds.find(({ state }) => state === "held");
  if (open !== undefined) return `the hold of ${open.requestId} never ends`;
  const forgotten = requests.find(({ state }) => state === "journaled");
  if (forgotten !== undefined) return `the journaled settlement of ${forgotten.asked.id} is lost`;
  const unpaid = openLines(world);
  if (unpaid.length > 0) return `line ${unpaid[0]} is never charged`;
  const left = requests.find(({ state }) => state === "asked" || state === "running" || state === "settling");
  return left === undefined ? problemOf(world) : `${left.asked.id} is never answered`;
}

function isAtRest({ rows, nodes, requests }: World): boolean {
  const open = rows.leases.length > 0 || rows.holds.some(({ state }) => state === "held");
  const said = nodes.some(({ log, unknown }) => log.length + unknown.length > 0);
  return (
    !open && !said && requests.every(({ state }) => !["asked", "running", "settling", "journaled"].includes(state))
  );
}

function has(node: Node, leaseId: string): boolean {
  return [...node.leases.values()].some(({ id }) => id === leaseId);
}

function commitAll(world: World, node: Node, protocol: Protocol): void {
  for (let batch = 0; batch < 6 && node.log.length + node.unknown.length > 0; batch += 1)
    commitNow(world, node, protocol);
}

function rest(world: World, node: Node, index: 0 | 1, protocol: Protocol): void {
  if (protocol.returnsIdle) returnAll(world, node);
  for (const request of world.requests) {
    if (request.state !== "running" || request.node !== index) continue;
    settle(world, node, request);
  }
  if (node.log.every(({ operation }) => operation.kind !== "beat")) putBeat(world, node, false);
  commitAll(world, node, protocol);
  if (protocol.polls) poll(world, node);
  reclaim(world, index, protocol);
}

/** Through every world that can be reached from one: breadth first to a depth, or to the end of all that may happen. */
import { createHash } from "node:crypto";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import { problemAtRest, problemOf, watched } from "./invariants.js";
import { type Node, type Protocol, type World, momentOf, movesOf } from "./model-world.js";
import { copyOf, stepsOf } from "./model-steps.js";

export interface Found {
  /** Undefined where everything held. */
  readonly problem: string | undefined;
  /** The shortest way there. */
  readonly steps: readonly string[];
  readonly worlds: number;
}

/** How many steps a search goes, and how many worlds it sees at most. */
export interface Bounds {
  readonly depthMax?: number;
  readonly worldsMax?: number;
}

interface Way {
  readonly step: string;
  readonly before: Way | undefined;
}

export function search(start: World, given: Protocol, { depthMax = Infinity, worldsMax = Infinity }: Bounds): Found {
  const protocol = { ...given, decide: watched(given.decide) };
  const seen = new Set([textOf(start)]);
  // How a world comes to rest does not depend on what might have happened.
  const rested = new Set<string>();
  let level: { readonly world: World; readonly way: Way | undefined }[] = [{ world: start, way: undefined }];
  for (let depth = 0; level.length > 0 && depth < depthMax && seen.size < worldsMax; depth += 1) {
    const next: typeof level = [];
    for (const { world, way } of level) {
      for (const { name, take } of stepsOf(world, protocol)) {
        const copy = copyOf(world);
        const here = { step: name, before: way };
        const problem = attempt(() => {
          take(copy);
          return problemOf(copy);
        });
        if (problem !== undefined) return { problem, steps: stepsTo(here), worlds: seen.size };
        const text = textOf(copy);
        if (seen.has(text)) continue;
        seen.add(text);
        const end = textOf({ ...copy, moves: movesOf() });
        const atRest = rested.has(end) ? undefined : attempt(() => problemAtRest(copyOf(copy), protocol));
        rested.add(end);
        if (atRest !== undefined) return { problem: atRest, steps: stepsTo(here), worlds: seen.size };
        next.push({ world: copy, way: here });
      }
    }
    level = next;
  }
  return { problem: undefined, steps: [], worlds: seen.size };
}

/** The world after these steps, each by its name. */
export function after(start: World, steps: readonly string[], protocol: Protocol): World {
  const world = copyOf(start);
  for (const name of steps) {
    const step = stepsOf(world, protocol).find((one) => one.name === name);
    if (step === undefined) throw new Error(`"${name}" cannot happen here`);
    step.take(world);
  }
  return world;
}

/**
 * Every world that can be reached by any number of steps, deep first: of a world nothing is kept but its digest, so
 * that all that its accidents allow fits in memory. `isWhole` is false where there were more than `worldsMax`.
 */
export function exhaust(start: World, given: Protocol, worldsMax: number): Found & { readonly isWhole: boolean } {
  const protocol = { ...given, decide: watched(given.decide) };
  const seen = new Set([digestOf(textOf(start))]);
  const rested = new Set<string>();
  const open: { readonly world: World; readonly way: Way | undefined }[] = [{ world: start, way: undefined }];
  for (let here = open.pop(); here !== undefined; here = open.pop()) {
    for (const { name, take } of stepsOf(here.world, protocol)) {
      const world = copyOf(here.world);
      const way = { step: name, before: here.way };
      const broken = attempt(() => {
        take(world);
        return problemOf(world);
      });
      if (broken !== undefined) return { problem: broken, steps: stepsTo(way), worlds: seen.size, isWhole: false };
      const digest = digestOf(textOf(world));
      if (seen.has(digest)) continue;
      if (seen.size === worldsMax) return { problem: undefined, steps: [], worlds: seen.size, isWhole: false };
      seen.add(digest);
      const end = digestOf(textOf({ ...world, moves: movesOf() }));
      const atRest = rested.has(end) ? undefined : attempt(() => problemAtRest(copyOf(world), protocol));
      rested.add(end);
      if (atRest !== undefined) return { problem: atRest, steps: stepsTo(way), worlds: seen.size, isWhole: false };
      open.push({ world, way });
    }
  }
  return { problem: undefined, steps: [], worlds: seen.size, isWhole: true };
}

/** 96 bits: among ten million worlds no two share them, but for one time in 10^15. */
function digestOf(text: string): string {
  return createHash("sha1").update(text).digest("base64").slice(0, 16);
}

/** A rule of the book that is broken throws. */
function attempt(take: () => string | undefined): string | undefined {
  try {
    return take();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function stepsTo(way: Way | undefined): string[] {
  const steps: string[] = [];
  for (let at = way; at !== undefined; at = at.before) steps.unshift(at.step);
  return steps;
}

/** Two worlds of one text go on alike. */
function textOf(world: World): string {
  const { rows, requests } = world;
  const accounts = rows.accounts.map(
    (row) => `${row.debitsPending} ${row.debitsPosted} ${row.short} ${row.frozen} ${row.budgets[0]?.limitNanos}`,
  );
  const leases = rows.leases.map(
    ({ id, accountId, restNanos, recalled, createTimeMs }) =>
      `${id} ${accountId} ${restNanos} ${recalled} ${createTimeMs}`,
  );
  const holds = rows.holds.map(
    (row) => `${row.requestId} ${row.state} ${row.recovered} ${row.leaseId} ${row.nodeId} ${row.amountNanos}`,
  );
  const charges = [...rows.charges].map(([id, { count, nanos }]) => `${id} ${count} ${nanos}`);
  const counters = [...rows.counters.values()].map(
    (row) => `${row.ownerId}${row.bucket} ${row.pendingNanos} ${row.spentNanos}`,
  );
  const asked = requests.map(
    ({ state, node, isLate, recalls, createTimeMs }) => `${state} ${node} ${isLate} ${recalls} ${createTimeMs}`,
  );
  const late = world.late.map(({ writer, operations }) => `${writer} ${operations.map(nameOf).join("+")}`);
  return [
    world.ticks,
    world.isJobEnding,
    accounts.join(),
    leases.join(),
    holds.join(),
    counters.sort().join(),
    charges.sort().join(),
    rows.lateNanos,
    [...rows.granted].sort().join(),
    [...rows.beats].sort().join(),
    world.nodes.map((node) => textOfNode(world, node)).join("/"),
    asked.join(),
    late.join(),
    Object.values(world.moves).join(),
    [...world.told].sort().join(),
    [...world.mustEnd].sort().join(),
  ].join("|");
}

function textOfNode(world: World, node: Node): string {
  const leases = [...node.leases.values()].map(({ id, restNanos, day }) => `${id} ${restNanos} ${day}`);
  const sights = [...node.sights].map(([id, { beats, sinceMs }]) => `${id} ${beats} ${sinceMs}`);
  const log = node.log.map(({ operation, monotonicMs, wallMs }) => `${nameOf(operation)}@${monotonicMs} ${wallMs}`);
  const unknown = node.unknown.map(({ operation }) => nameOf(operation));
  const { state, id, writer, beatAt, aheadMs, isPartitioned, asks, doubts } = node;
  const clock = momentOf(world, node).monotonicMs;
  return [
    state,
    id,
    writer,
    beatAt?.monotonicMs,
    beatAt?.wallMs,
    isPartitioned,
    asks,
    doubts,
    clock,
    aheadMs,
    leases,
    sights,
    log,
    unknown,
    node.journal.map(nameOf),
  ].join();
}

function nameOf(operation: LedgerOperation): string {
  switch (operation.kind) {
    case "hold":
      return `h${operation.requestId}${operation.leaseId ?? ""}${operation.nodeId}`;
    case "settle":
      return `s${operation.requestId}${operation.terms === undefined ? "" : "t"}`;
    case "lease":
      return `lease${operation.leaseId} ${operation.accountId} ${operation.nowMs}`;
    case "return":
      return `return${operation.leaseId}`;
    default:
      return `${operation.kind}${operation.kind === "beat" ? `${operation.nodeId}${operation.isFirst}` : ""}`;
  }
}

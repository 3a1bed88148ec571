/**
 * Sums are the ledger's on every question: whichever requests run over midnight, whatever was cleaned or lost, in a
 * process that was asked before and in one that was not, on one node and on two. Else the answer is an error.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { DAY_MS, dayOf } from "../../src/base/day.js";
import { Price, UsageSource } from "../../src/api/index.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { GatewayError } from "../../src/base/errors.js";
import { Ledger } from "../../src/ledger/ledger.js";
import { Adopter } from "../../src/records/adopter.js";
import { FLAG } from "../../src/records/columns.js";
import type { RecordFilter } from "../../src/records/filter.js";
import { Records } from "../../src/records/records.js";
import { DIMENSIONS, type Dimension } from "../../src/records/usage-codes.js";
import { UsageQuestions } from "../../src/records/usage-questions.js";
import { TEST_ACT } from "../support/acts.js";
import { pick, type Random, randomOf } from "../support/random.js";
import { onEachStore, type StorePlace } from "../support/stores.js";
import { bySweep } from "../support/sweep.js";
import { rowWith } from "./row.js";

const HOUR_MS = 3_600_000;
const KEPT_MS = 10 * DAY_MS;
/** Midnights of a day, a month and a year. */
const MIDNIGHTS = ["2026-12-30", "2026-12-01", "2027-01-01"].map((day) => Date.parse(day));
const KEYS = [
  { account: "acme", key: "k1" },
  { account: "acme", key: "k2" },
  { account: "other", key: "k3" },
] as const;
const SEEDS = Array.from({ length: bySweep({ short: 1, long: 6, all: 50 }) }, (_, at) => at + 1);

interface Asked {
  readonly account: string;
  readonly key: string;
  readonly model: string;
  readonly beginMs: number;
  readonly costNanos: bigint;
}

interface Node {
  readonly records: Records;
  readonly questions: UsageQuestions;
}

class World {
  nowMs = 0;
  readonly asked: Asked[] = [];
  #count = 0;

  private constructor(
    readonly ledger: Ledger,
    private readonly at: { readonly url: string } | { readonly directory: string },
  ) {}

  static async open(place: StorePlace): Promise<World> {
    const directory = await mkdtemp(join(tmpdir(), "tollgate-days-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const store = await place.open();
    const url = place.env["TOLLGATE_DATABASE_URL"];
    const ledger: Ledger = new Ledger({ store, nodeId: "node_1", nowMs: () => world.nowMs });
    const world = new World(ledger, url === undefined ? { directory } : { url });
    world.nowMs = Date.parse("2026-11-01");
    await ledger.start();
    onTestFinished(() => ledger.close());
    for (const id of ["acme", "other"]) {
      await ledger.createAccount({ id, name: id }, TEST_ACT);
      await ledger.credit({ creditId: id, accountId: id, amountNanos: 10n ** 15n, act: TEST_ACT });
    }
    return world;
  }

  async node(records?: Records): Promise<Node> {
    const fail = (problem: unknown): never => expect.unreachable(String(problem));
    const told = { onDropped: fail, onRefusalsLeftOut: fail, onContentDropped: fail, onError: fail };
    const content = { keys: [Buffer.alloc(32, 7)], previous: undefined, keptMs: DAY_MS };
    const retention = { recordsMs: KEPT_MS, refusalsMs: KEPT_MS };
    const nowMs = (): number => this.nowMs;
    const opened = records ?? (await Records.open({ place: this.at, retention, content, nowMs, ...told }));
    if (records === undefined) onTestFinished(() => opened.close());
    const { requests } = this.ledger;
    const adopter = new Adopter({ records: opened, requests, nowMs });
    return { records: opened, questions: new UsageQuestions({ records: opened, requests, adopter, nowMs }) };
  }

  /** Runs a request, whose record a crash may have lost. */
  async run(random: Random, records: Records, beginMs: number, lastsMs: number): Promise<void> {
    const { account, key } = pick(random, KEYS);
    const model = pick(random, ["m1", "m2"]);
    const costNanos = BigInt(Math.floor(random() * 1e9));
    const isVoid = random() < 0.1;
    this.nowMs = beginMs;
    const at = String((this.#count += 1)).padStart(20, "0");
    const requestId = `req_${beginMs.toString(16).padStart(12, "0")}${at}`;
    const owner = { requestId, accountId: account, keyId: key, model };
    const price = Price.decode(new Uint8Array());
    const terms = { amountNanos: costNanos, leastNanos: costNanos, budgets: [], price, timeoutMs: 600_000 };
    const hold = await this.ledger.hold({ ...owner, ...terms });
    this.nowMs = beginMs + lastsMs;
    const usageSource = isVoid ? UsageSource.USAGE_SOURCE_NONE : UsageSource.USAGE_SOURCE_REPORTED;
    const paid = { costNanos: isVoid ? 0n : costNanos, operatorCostNanos: isVoid ? undefined : 3n };
    const outcome = { usage: NO_USAGE, usageSource, ...paid, upstream: "u", attempts: 1, attemptLog: "[]" };
    await hold.settle(outcome, true);
    if (!isVoid) this.asked.push({ account, key, model, beginMs, costNanos });
    if (random() < 0.1) return;
    const flags = FLAG.answered | (isVoid ? 0 : FLAG.costKnown);
    const nanos = Number(paid.costNanos);
    const told = { flags, usageSource, upstream: "u", endUser: pick(random, ["", "ann"]) };
    const figures = { costNanos: nanos, chargedNanos: nanos, operatorCostNanos: isVoid ? 0 : 3 };
    const times = { createTimeMs: beginMs, endTimeMs: this.nowMs, total: lastsMs * 10 + 1 };
    const row = rowWith({ id: requestId, account, key, model, ...told, ...figures, ...times });
    await records.adopt([row], this.nowMs, this.nowMs);
  }

  /** What was charged of the requests that count in a time. */
  total({ fromMs, toMs, names }: RecordFilter): bigint {
    const isAsked = (one: Asked): boolean =>
      one.beginMs >= fromMs &&
      one.beginMs <= toMs &&
      (names.account === undefined || one.account === names.account) &&
      (names.key === undefined || one.key === names.key) &&
      (names.model === undefined || one.model === names.model);
    return this.asked.filter(isAsked).reduce((sum, { costNanos }) => sum + costNanos, 0n);
  }
}

const SOME: readonly (readonly Dimension[])[] = [[], ["day", "model"], ["hour"], ["key", "user"]];
const GROUPINGS = bySweep({ short: SOME, long: [...SOME, ...DIMENSIONS.map((one) => [one])], all: undefined }) ?? [
  ...SOME,
  ...DIMENSIONS.flatMap((one) => DIMENSIONS.map((other) => (one === other ? [one] : [one, other]))),
];

interface Question {
  readonly filter: RecordFilter;
  /** Of whole days, and of what the ledger knows: it is never refused. */
  readonly isWhole: boolean;
}

function* questionsOf(midnightMs: number, nowMs: number): Generator<Question> {
  const week = { fromMs: midnightMs - 3 * DAY_MS, toMs: midnightMs + 3 * DAY_MS - 1 };
  const [before, after] = [midnightMs - DAY_MS, midnightMs + DAY_MS - 1];
  yield { filter: { ...week, toMs: nowMs, names: {} }, isWhole: true };
  yield { filter: { fromMs: midnightMs, toMs: after, names: {} }, isWhole: true };
  yield { filter: { fromMs: before, toMs: midnightMs - 1, names: { account: "acme" } }, isWhole: true };
  yield { filter: { ...week, names: { account: "acme", key: "k1", model: "m1" } }, isWhole: true };
  yield { filter: { fromMs: midnightMs - HOUR_MS / 2, toMs: midnightMs + HOUR_MS / 2, names: {} }, isWhole: false };
}

/** What answers say beside the ledger. What is refused says that it is. */
async function wrong(world: World, { questions }: Node, midnightMs: number): Promise<string[]> {
  const found: string[] = [];
  for (const { isWhole, filter } of questionsOf(midnightMs, world.nowMs))
    for (const dimensions of GROUPINGS) {
      const groups = await questions.ask(dimensions, filter).catch((error: unknown) => {
        if (error instanceof GatewayError) return undefined;
        throw error;
      });
      if (groups === undefined) {
        if (isWhole) found.push(`${dimensions.join()}: whole days are refused`);
        continue;
      }
      const sum = groups.reduce((all, group) => all + group.sums.costNanos, 0n);
      const want = world.total(filter);
      const span = `${dayOf(filter.fromMs)}..${dayOf(filter.toMs)}`;
      const about = `${dimensions.join()} ${span} ${JSON.stringify(filter.names)}`;
      if (sum !== want) found.push(`${about}: ${sum} for ${want}`);
      if (dimensions[0] !== "day") continue;
      for (const day of new Set(groups.map(({ values }) => values[0] ?? ""))) {
        const dayFromMs = Math.max(Date.parse(day), filter.fromMs);
        const ofDay = { ...filter, fromMs: dayFromMs, toMs: Math.min(Date.parse(day) + DAY_MS - 1, filter.toMs) };
        const told = groups
          .filter(({ values }) => values[0] === day)
          .reduce((all, one) => all + one.sums.costNanos, 0n);
        if (told !== world.total(ofDay)) found.push(`${about} on ${day}: ${told} for ${world.total(ofDay)}`);
      }
    }
  return found;
}

onEachStore((driver) => {
  test.each(SEEDS)("every grouping is the ledger's to the nano, or an error, with seed %d", async (seed) => {
    const random = randomOf(seed);
    const midnightMs = pick(random, MIDNIGHTS);
    const world = await World.open(await driver.place());
    const first = await world.node();
    // On SQLite two processes have one thread of records.
    const second = await world.node(driver.id === "sqlite" ? first.records : undefined);
    const problems: string[] = [];
    const ask = async (when: string, nodes: readonly Node[]): Promise<void> => {
      for (const [at, node] of nodes.entries())
        problems.push(...(await wrong(world, node, midnightMs)).map((told) => `${when}, node ${at + 1}: ${told}`));
    };
    for (let at = 0; at < bySweep({ short: 15, long: 30, all: 60 }); at++) {
      const beginMs = midnightMs + Math.floor((random() - 0.6) * (random() < 0.5 ? 4 * DAY_MS : 1_200_000));
      const lastsMs = Math.floor(random() * 600_000);
      await world.run(random, pick(random, [first, second]).records, beginMs, lastsMs);
    }
    world.nowMs = midnightMs + 2 * DAY_MS + HOUR_MS / 2;
    await ask("the days after", [first, second]);
    world.nowMs = midnightMs + 4 * DAY_MS;
    await ask("when all days are over", [first, second]);
    // A part of it is over its time, then all. One node cleans, and both answer.
    for (const days of bySweep({ short: [8, 14], long: [8, 10, 11, 14], all: [8, 10, 11, 14] })) {
      world.nowMs = midnightMs + days * DAY_MS + HOUR_MS;
      await first.records.sweep();
      await ask(`cleaned after ${days} days`, [first, second]);
    }
    const ofAnn = { fromMs: midnightMs - 3 * DAY_MS, toMs: world.nowMs, names: { endUser: "ann" } };
    await expect(first.questions.ask([], ofAnn)).rejects.toMatchObject({ reason: "ERROR_REASON_PARAMETER_INVALID" });
    await ask("after a start", [await world.node(driver.id === "sqlite" ? first.records : undefined)]);
    expect(problems.slice(0, 20)).toEqual([]);
  });
});

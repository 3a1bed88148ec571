/**
 * Random operations of three nodes at once on one PostgreSQL, through lost connections, nodes that die and a server
 * that crashes. What was committed is decided again by a plain model, in the ledger's order: each answer, each balance.
 * A few thousand with all tests, a million with `npm run money:nodes`; repeat a run's operations with TOLLGATE_SEED.
 */
import { randomInt } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import type { LedgerOperation, LedgerResult } from "../../src/ledger/operation.js";
import { verifyDatabase } from "../../src/store/postgres/verify.js";
import { recover } from "../ledger/cases.js";
import { NOON_MS, creditOf } from "../ledger/operations.js";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.js";
import { pace } from "../support/pauses.js";
import { administer, postgresMissing, postgresPrograms } from "../support/postgres.js";
import { makeLedger, type NodeWriter, openWriter } from "../support/postgres-ledger.js";
import { MADE_KEYS } from "./key-line.js";
import { LIFE_ACCOUNTS, RandomLife, randomFrom } from "./random-life.js";
import { RunningLedger } from "./running-ledger.js";

const OPERATIONS = Number(process.env["TOLLGATE_MONEY_OPERATIONS"] ?? 6_000);
const SEED = Number(process.env["TOLLGATE_SEED"] ?? randomInt(2 ** 31));
const TIMEOUT_MS = Math.max(300_000, 5 * OPERATIONS);
const NODES = 3;
const BATCHES_A_ROUND = 8;
/** One round of so many goes through each of the three ways to fail. */
const ROUNDS_TO_FAIL = 4;
const PROOFS_MAX = 5;

/** A batch, whose first operation is a credit that says where in the ledger it stands. */
interface Sent {
  readonly markId: string;
  readonly operations: readonly LedgerOperation[];
  /** Undefined where nobody heard of its end. */
  answers: readonly LedgerResult[] | undefined;
}

interface Node {
  readonly id: string;
  readonly life: RandomLife;
  readonly writer: NodeWriter;
  batches: number;
}

class Run {
  readonly tally = { operations: 0, batches: 0, unheard: 0, lost: 0, deaths: 0, cuts: 0, serverCrashes: 0, proofs: 0 };
  readonly answers: Record<string, number> = {};
  readonly #server: OwnPostgres;
  readonly #life: RandomLife;
  readonly #random: () => number;
  readonly #model = new RunningLedger(LIFE_ACCOUNTS, Number.MAX_SAFE_INTEGER);
  #nodes: Node[] = [];
  #made = 0;

  constructor(server: OwnPostgres, random: () => number) {
    this.#server = server;
    this.#random = random;
    this.#life = new RandomLife(random);
  }

  async go(): Promise<void> {
    const keys = LIFE_ACCOUNTS.flatMap((account) =>
      MADE_KEYS.map(([id, makerId]) => [`${account}/${id}`, `${account}/${makerId}`] as const),
    );
    await makeLedger(this.#server.url, LIFE_ACCOUNTS, keys);
    for (let count = 0; count < NODES; count += 1) this.#nodes.push(await this.#join());
    for (let round = 1; this.tally.operations < OPERATIONS; round += 1) await this.#round(round);
    await this.#prove();
  }

  async #join(): Promise<Node> {
    this.#made += 1;
    const id = `node${this.#made}`;
    const url = new URL(this.#server.url);
    url.searchParams.set("application_name", id);
    const writer = await openWriter(url.href, id);
    const node = { id, life: new RandomLife(this.#random, { nodeId: id }), writer, batches: 0 };
    await this.#replay([await this.#send(node, [{ kind: "beat", nodeId: id, nowMs: NOON_MS, isLast: false }])]);
    return node;
  }

  async #round(round: number): Promise<void> {
    const sending = this.#nodes.map((node) => this.#live(node));
    let dead: Node | undefined;
    if (round % ROUNDS_TO_FAIL === 1) await this.#cut();
    if (round % ROUNDS_TO_FAIL === 2) dead = await this.#die();
    if (round % ROUNDS_TO_FAIL === 3) await this.#crashServer();
    await this.#replay((await Promise.all(sending)).flat());
    if (dead !== undefined) await this.#bury(dead);
    await this.#compareBalances();
    if (this.tally.proofs < PROOFS_MAX && round % (ROUNDS_TO_FAIL + 1) === 0) await this.#prove();
  }

  async #live(node: Node): Promise<Sent[]> {
    const open = [...this.#model.open.values()].filter(({ hold }) => hold.nodeId === node.id).length;
    const sent: Sent[] = [];
    for (let count = 0; count < BATCHES_A_ROUND; count += 1) {
      const size = 1 + this.#life.whole(this.#life.whole(4) === 0 ? 250 : 40);
      sent.push(
        await this.#send(
          node,
          Array.from({ length: size }, () => node.life.next(open)),
        ),
      );
    }
    return sent;
  }

  async #send(node: Node, operations: readonly LedgerOperation[]): Promise<Sent> {
    node.batches += 1;
    const markId = `mark-${node.id}-${node.batches}`;
    const accountId = LIFE_ACCOUNTS[this.#life.whole(LIFE_ACCOUNTS.length)]!;
    const sent: Sent = {
      markId,
      operations: [creditOf(1n, { creditId: markId, accountId }), ...operations],
      answers: undefined,
    };
    try {
      sent.answers = await node.writer.batches.commit(sent.operations);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.reason !== "ERROR_REASON_LEDGER_UNAVAILABLE") throw error;
    }
    return sent;
  }

  /** All connections of a node break; it lives on. */
  async #cut(): Promise<void> {
    this.tally.cuts += 1;
    const { id } = this.#nodes[this.#life.whole(NODES)]!;
    for (let count = 0; count < 5; count += 1) {
      await pace(this.#life.whole(20));
      await this.#terminate(id);
    }
  }

  /** A node that another takes for dead commits nothing more, whatever it still tries. */
  async #die(): Promise<Node> {
    this.tally.deaths += 1;
    const node = this.#nodes[this.#life.whole(NODES)]!;
    await this.#terminate(node.id);
    await administer(`UPDATE writer SET epoch = epoch + 1 WHERE id = '${node.id}'`, this.#server.url);
    return node;
  }

  async #terminate(id: string): Promise<void> {
    const found = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${id}'`;
    await administer(found, this.#server.url);
  }

  async #crashServer(): Promise<void> {
    this.tally.serverCrashes += 1;
    await pace(this.#life.whole(50));
    await this.#server.crash();
    await this.#server.start();
  }

  /** Another node resolves what the dead one held, and a new one takes its place. */
  async #bury(dead: Node): Promise<void> {
    const other = this.#nodes.find((node) => node !== dead)!;
    const silent = [{ nodeId: dead.id, beats: 1 }];
    await this.#replay([await this.#send(other, [recover({ nodeId: other.id, silent })])]);
    await dead.writer.database.close();
    this.#nodes = [...this.#nodes.filter((node) => node !== dead), await this.#join()];
  }

  /** What is in the ledger is decided again, in its order. What was answered must be there. */
  async #replay(sent: readonly Sent[]): Promise<void> {
    const ids = sent.map(({ markId }) => `'${markId}'`).join(", ");
    const rows = await administer(
      `SELECT credit_id AS id, sequence::float8 AS place FROM transfer WHERE credit_id IN (${ids})`,
      this.#server.url,
    );
    const places = new Map(rows.map((row) => [String(row["id"]), Number(row["place"])]));
    for (const { markId, answers } of sent) {
      if (answers !== undefined) expect(places.has(markId), `the batch ${markId} was answered and is gone`).toBe(true);
      else if (places.has(markId)) this.tally.unheard += 1;
      else this.tally.lost += 1;
    }
    const placeOf = ({ markId }: Sent): number => places.get(markId) ?? 0;
    const written = sent.filter(({ markId }) => places.has(markId)).toSorted((a, b) => placeOf(a) - placeOf(b));
    for (const one of written) this.#decide(one);
  }

  #decide({ markId, operations, answers }: Sent): void {
    this.tally.batches += 1;
    this.tally.operations += operations.length;
    for (const [index, operation] of operations.entries()) {
      const want = this.#model.decide(operation);
      const name = want.kind === "settled" && want.repeated ? "settled again" : want.kind;
      this.answers[name] = (this.answers[name] ?? 0) + 1;
      if (answers === undefined || want.kind === "beaten") continue;
      expect(answers[index], `operation ${index} of ${markId}: ${operation.kind}`).toEqual(want);
    }
  }

  async #compareBalances(): Promise<void> {
    const columns = "id, credits_posted - debited_nanos AS granted, debits_pending AS held";
    const sums = `SELECT ${columns}, debits_posted - debited_nanos AS spent FROM account`;
    for (const { id, ...sum } of await administer(sums, this.#server.url)) {
      const { granted, held, spent } = this.#model.accounts.get(String(id))!;
      expect(sum, String(id)).toEqual({ granted: `${granted}`, held: `${held}`, spent: `${spent}` });
    }
  }

  async #prove(): Promise<void> {
    this.tally.proofs += 1;
    const report = await verifyDatabase(this.#nodes[0]!.writer.database);
    expect(report.problems).toEqual([]);
    expect(report.openHoldCount).toBe(this.#model.open.size);
  }
}

describe.skipIf(postgresMissing !== undefined || postgresPrograms === undefined)(
  "three nodes on one PostgreSQL",
  () => {
    test(
      `${OPERATIONS} random operations drift by nothing (TOLLGATE_SEED=${SEED})`,
      { timeout: TIMEOUT_MS },
      async () => {
        const run = new Run(await startOwnPostgres(), randomFrom(SEED));
        onTestFinished(() => {
          process.stdout.write(`TOLLGATE_SEED=${SEED} ${JSON.stringify({ ...run.tally, ...run.answers })}\n`);
        });
        await run.go();
        for (const kind of [
          "held",
          "settled",
          "settled again",
          "credited",
          "balance_too_low",
          "budget_exceeded",
          "refused",
        ])
          expect(run.answers[kind] ?? 0, kind).toBeGreaterThan(0);
        const { deaths, cuts, serverCrashes } = run.tally;
        expect(Math.min(deaths, cuts, serverCrashes)).toBeGreaterThan(0);
      },
    );
  },
);

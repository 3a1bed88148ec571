/** Answers with an Idempotency-Key in PostgreSQL: every node finds them, and one node at a time has a key. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { AnswerBounds, AnswerRow, AnswerTotals } from "../../src/store/answer-rows.js";
import type { PostgresAnswers } from "../../src/store/postgres/answers.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import { administer, postgresMissing } from "../support/postgres.js";
import { makeStoreDatabase } from "../support/stores.js";

const HOUR_MS = 3_600_000;

function row(name: string, more: Partial<AnswerRow> = {}): AnswerRow {
  const texts = { accountId: "acme", requestId: `req_${name}` };
  const bytes = {
    id: Buffer.from(name),
    print: Buffer.from(`print of ${name}`),
    record: Buffer.from(`record of ${name}`),
  };
  return { ...texts, ...bytes, recordUntilMs: HOUR_MS, untilMs: 2 * HOUR_MS, ...more };
}

interface Kept {
  readonly url: string;
  readonly nodes: readonly PostgresAnswers[];
  readonly swept: AnswerTotals[];
  nowMs: number;
}

/** The answers of two nodes, of which the first lives. */
async function kept(bounds?: AnswerBounds): Promise<Kept> {
  const url = await makeStoreDatabase();
  const made = { url, swept: [] as AnswerTotals[], nodes: [] as PostgresAnswers[], nowMs: 0 };
  for (const nodeId of ["node_1", "node_2"]) {
    const store = await openPostgresStore({ url, nodeId });
    onTestFinished(() => store.close());
    if (nodeId === "node_1") await store.ledger.commit([{ kind: "beat", nodeId, nowMs: 0, isLast: false }]);
    const told = { onSwept: (totals: AnswerTotals) => void made.swept.push(totals), onError: () => undefined };
    const answers = store.answers({ nowMs: () => made.nowMs, ...told, ...(bounds && { bounds }) });
    onTestFinished(() => answers.close());
    made.nodes.push(answers);
  }
  return made;
}

async function found(answers: PostgresAnswers | undefined, ...names: readonly string[]): Promise<unknown[]> {
  const rows = await Promise.all(names.map((name) => answers?.find(Buffer.from(name))));
  return rows.map((one) => one && (one.record === null ? one.requestId : Buffer.from(one.record).toString()));
}

describe.skipIf(postgresMissing !== undefined)("an answer in PostgreSQL", () => {
  test("that one node puts every node finds, until its time is over", async () => {
    const world = await kept();
    const [one, two] = world.nodes;
    await Promise.all(["a", "b", "c"].map((name) => one?.put(row(name))));
    await one?.put(row("b", { requestId: "req_later", record: null }));
    await one?.remove(Buffer.from("c"));
    expect(await found(two, "a", "b", "c")).toEqual(["record of a", "req_later", undefined]);
    world.nowMs = HOUR_MS;
    expect(await found(two, "a", "b")).toEqual(["req_a", "req_later"]);
    world.nowMs = 2 * HOUR_MS;
    expect(await found(two, "a", "b")).toEqual([undefined, undefined]);
    await two?.sweep();
    expect(world.swept).toEqual([{ rows: 0, recordBytes: 0, evicted: 0 }]);
  });

  test("is the node's that claimed its key, until it is gone or did nothing for a minute", async () => {
    const { url, nodes } = await kept();
    const [one, two] = nodes;
    await one?.put(row("a", { record: null }));
    const second = row("a", { requestId: "req_other", record: null });
    await expect(two?.put(second)).rejects.toMatchObject({
      reason: "ERROR_REASON_OVERLOADED",
      metadata: { retry_after_ms: "1000" },
    });
    await two?.remove(Buffer.from("a"));
    expect(await found(two, "a")).toEqual(["req_a"]);
    // The very request may go on elsewhere.
    await two?.put(row("a", { record: null }));
    await administer("UPDATE answer SET node_id = 'node_1', claim_time = now() - interval '61 seconds'", url);
    await two?.put(second);
    expect(await found(one, "a")).toEqual(["req_other"]);
    await administer("UPDATE answer SET node_id = 'node_9', claim_time = now()", url);
    await one?.put(row("a", { record: null }));
    expect(await found(one, "a")).toEqual(["req_a"]);
  });

  test("loses its record where there is no room, the account's that has the most and the oldest first", async () => {
    const world = await kept({ recordBytesMax: 60, rowsMax: 4 });
    const [one] = world.nodes;
    for (const [index, name] of ["a", "b", "c", "d", "e"].entries())
      await one?.put(row(name, { recordUntilMs: HOUR_MS + index, untilMs: HOUR_MS * 2 + index }));
    await one?.put(row("z", { accountId: "other" }));
    await one?.sweep();
    expect(world.swept.at(-1)).toMatchObject({ rows: 4 });
    expect(await found(one, "a", "b", "e", "z")).toEqual([undefined, undefined, "record of e", "record of z"]);
  });
});

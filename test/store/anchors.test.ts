/** Anchors on PostgreSQL: no account is rewritten and no end is lost without a trace. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openPostgresStore, type PostgresOptions, type PostgresStore } from "../../src/store/postgres/store.js";
import { readWitness } from "../../src/store/witness.js";
import { creditOf } from "../ledger/operations.js";
import { TEST_ACT } from "../support/acts.js";
import { administer, postgresMissing } from "../support/postgres.js";
import { makeStoreDatabase } from "../support/stores.js";

interface World {
  readonly url: string;
  readonly witnessPath: string;
  open(more?: Partial<PostgresOptions>): Promise<PostgresStore>;
  /** As a hand in the database may. */
  tamper(sql: string): Promise<void>;
}

async function world(): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-anchors-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [url, witnessPath] = [await makeStoreDatabase(), join(directory, "witness.json")];
  return {
    url,
    witnessPath,
    open: (more) => openPostgresStore({ url, nodeId: "node_1", keyChecks: ["ab".repeat(32)], witnessPath, ...more }),
    tamper: async (sql) => void (await administer(`SET session_replication_role = replica; ${sql}`, url)),
  };
}

/** A node that credits acme once more and stops. */
async function lived(made: World, creditId: string): Promise<void> {
  const store = await made.open();
  await store.accounts.create({ id: "acme", name: "acme", createTimeMs: 0 }, TEST_ACT);
  await store.ledger.commit([creditOf(5n, { creditId })]);
  await store.close();
}

async function problemsOf(made: World): Promise<string> {
  const store = await made.open({ witnessPath: undefined });
  const { problems } = await store.ledger.verify();
  await store.close();
  return problems.join("\n");
}

function notedNumber({ witnessPath }: World): number {
  const note = readWitness(witnessPath);
  return typeof note === "object" ? note.head.sequence : -1;
}

const REWRITTEN = "UPDATE anchor SET heads = sha256('x') WHERE number = 2";

describe.skipIf(postgresMissing !== undefined)("an anchor", () => {
  test("is made where anything happened, is noted outside, and holds", async () => {
    const made = await world();
    await lived(made, "c1");
    expect(notedNumber(made)).toBe(1);
    await lived(made, "c2");
    expect(notedNumber(made)).toBe(2);
    await (await made.open()).close();
    expect(notedNumber(made)).toBe(2);
    expect(await problemsOf(made)).toBe("");
  });

  test.each([
    ["DELETE FROM anchor WHERE number = 1", "The anchor 2 follows anchor 0: some between are gone"],
    [REWRITTEN, "The anchor 2 was changed: its hash does not fit"],
    ["DELETE FROM anchor", "The anchor 0 is not over the ends of chains that are kept of it"],
    ["DELETE FROM anchor WHERE number = 2", "The anchor 1 is not over the ends of chains that are kept of it"],
    ["UPDATE anchor_head SET account_sequence = 1", "The anchor 2 is not over the ends of chains that are kept of it"],
    ["DELETE FROM anchor_head", "The anchor 2 is not over the ends of chains that are kept of it"],
    // An account whose last transfer is gone, with all that knew of it.
    [
      `DELETE FROM transfer WHERE credit_id = 'c2'; UPDATE operator_total SET nanos = 5;
       UPDATE account SET credits_posted = 5, chain_sequence = 1, chain_hash = (SELECT hash FROM transfer)`,
      "The account acme had other transfers up to number 2 when the last anchor was made",
    ],
  ])("that does not fit is found by the proof: %s", async (sql, problem) => {
    const made = await world();
    await lived(made, "c1");
    await lived(made, "c2");
    await made.tamper(sql);
    expect(await problemsOf(made)).toContain(problem);
  });

  test.each([
    ["DELETE FROM anchor WHERE number = 2", "ends at anchor 1, but anchor 2 was made"],
    ["UPDATE anchor SET hash = heads WHERE number = 2", "anchor 2 is not the one that was made"],
    ["UPDATE identity SET database_id = md5('x')", "the database is not the one that was here"],
  ])("that the database has lost refuses the start: %s", async (sql, found) => {
    const made = await world();
    await lived(made, "c1");
    await lived(made, "c2");
    await made.tamper(sql);
    await expect(made.open()).rejects.toThrow(found);
    await expect(made.open()).rejects.toThrow(/^The database at [^\n]+tollgate serve --accept-loss$/);
    const accepted: string[] = [];
    const store = await made.open({ acceptLoss: true, onLossAccepted: (text) => accepted.push(text) });
    const page = { size: 10, token: "" };
    const { rows } = await store.audit.list({ methods: ["store.accept_loss"] }, page);
    expect(rows).toMatchObject([{ result: "done", resource: "store/postgres", actor: { kind: "cli" } }]);
    expect(rows[0]?.after).toContain(found);
    await store.close();
    expect(accepted.join()).toContain(found);
    expect(await administer("SELECT count(*) AS n FROM accepted_loss", made.url)).toEqual([{ n: "1" }]);
    // Accepted once: the witness knows the ledger as it is now.
    await (await made.open()).close();
  });

  test("is noted by each node, and a damaged note refuses the start", async () => {
    const made = await world();
    const other = { ...made, witnessPath: `${made.witnessPath}.other` };
    await lived(made, "c1");
    const store = await made.open({ nodeId: "node_2", witnessPath: other.witnessPath });
    expect(notedNumber(other)).toBe(1);
    await store.close();
    writeFileSync(made.witnessPath, "{}");
    await expect(made.open()).rejects.toThrow("its witness (TOLLGATE_WITNESS) is damaged");
  });
});

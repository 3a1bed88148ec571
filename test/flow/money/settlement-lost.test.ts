/**
 * A settlement that its database never takes, in the real process: it is told once and counted once, its hold is
 * resolved at what the stream had noted, and the books are right, then and after a restart.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Sqlite } from "../../../src/store/sqlite/binding.js";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { administer, makeDatabase } from "../../support/postgres.js";
import { onEachStore, STORE_DRIVERS } from "../../support/stores.js";
import { testStore } from "../../support/test-store.js";
import { settingsFor } from "../../support/world.js";

/** It is tried again after pauses of up to five seconds, several times. */
const TRIES = { timeout: 300_000, interval: 500 };
const PATIENT = { timeout: 60_000, interval: 50 };
const CREDIT_NANOS = 1_000_000_000n;
/** Several seconds of words, so that what came is noted before the end. */
const LONG = script({ words: 90, eventDelayMs: 50 });
const SECRET = "a root secret of this test, long enough";
/** What is known of the operator's cost is left out first where the database refuses a settlement. */
const COSTING = '{ upstream: fake, cost: { input: "0.01", output: "0.05" } }';
const REFUSED = "NEW.kind = 'settle' AND NEW.account_id = 'poisoned' AND NEW.attempt_log IS NOT NULL";

let upstream: FakeUpstream;
beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterAll(() => upstream.close());

type Line = Readonly<Record<string, unknown>>;

function linesOf(gateway: GatewayProcess, requestId: string): Line[] {
  return gateway.log.filter((line) => line.includes(requestId)).map((line) => JSON.parse(line) as Line);
}

/** From now on no settlement of the account comes in: the database itself refuses the row. */
function refuseInSqlite(directory: string): void {
  const database = new Sqlite(join(directory, "tollgate.db"));
  database.exec(`CREATE TRIGGER poison BEFORE INSERT ON transfer WHEN ${REFUSED}
    BEGIN SELECT RAISE(ABORT, 'poisoned'); END`);
  database.close();
}

async function refuseInPostgres(url: string): Promise<void> {
  await administer(
    `CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poisoned'; END $$;
     CREATE TRIGGER poison BEFORE INSERT ON transfer FOR EACH ROW WHEN (${REFUSED}) EXECUTE FUNCTION poison()`,
    url,
  );
}

/** Where all gateways of a run keep their state in PostgreSQL, none has it in SQLite. */
const drivers = STORE_DRIVERS.filter(({ id }) => testStore === "sqlite" || id === testStore);

onEachStore(({ id: driver }) => {
  test(
    "a settlement that can never be written is lost once, told once, and charged by its note",
    { timeout: 400_000 },
    async () => {
      const settings = settingsFor(upstream.url).replaceAll("{ upstream: fake }", COSTING);
      const url = driver === "postgres" ? await makeDatabase() : "";
      const env: Record<string, string> = url === "" ? {} : { TOLLGATE_DATABASE_URL: url, TOLLGATE_SECRET: SECRET };
      const gateway = await startGateway({ settings, env });
      const { dataDirectory } = gateway;
      onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
      const management = new Management(gateway);
      const keys: string[] = [];
      for (const account of ["poisoned", "well"]) {
        await management.account(account, CREDIT_NANOS);
        keys.push((await management.makeKey(account)).secret);
      }
      const [poisoned = "", well = ""] = keys;
      if (driver === "sqlite") refuseInSqlite(dataDirectory);
      else await refuseInPostgres(url);

      const answer = await postChat(gateway, poisoned, chat(LONG, { stream: true }));
      const id = answer.headers.get("x-request-id") ?? "";
      expect(await readAll(answer)).toContain("[DONE]");
      // Each try that others pass is a fault of its own.
      const lost = (): Line[] =>
        linesOf(gateway, id).filter(({ msg }) => String(msg).includes("settlement failed for good"));
      const oneMore = async (): Promise<number> => {
        expect((await postChat(gateway, well, chat("Hello"))).status).toBe(200);
        return lost().length;
      };
      await expect.poll(oneMore, TRIES).toBe(1);
      const resolved = async (): Promise<bigint> => (await management.balance("poisoned")).heldNanos;
      await expect.poll(resolved, PATIENT).toBe(0n);

      const record = async (): Promise<Line> =>
        (await management.call("GET", `/requests/${id}`)).body["request"] as Line;
      const ended = await record();
      expect(ended).toMatchObject({ state: "settled", usage_source: "recovered" });
      const { spentNanos, grantedNanos, availableNanos } = await management.balance("poisoned");
      expect(spentNanos).toBeGreaterThan(0n);
      expect([grantedNanos, availableNanos]).toEqual([CREDIT_NANOS, CREDIT_NANOS - spentNanos]);
      expect(String(spentNanos)).toBe(ended["cost_nanos"]);
      expect(lost()).toEqual([expect.objectContaining({ request_id: id, level: "error" })]);
      // Beside it one line that it waits: tries are told by how many wait.
      expect(linesOf(gateway, id).flatMap(({ level, msg }) => (level === "error" ? [msg] : []))).toEqual([
        "a settlement waits: the ledger cannot be written",
        "a settlement failed for good; recovery resolves its hold",
      ]);
      expect((await readMetrics(gateway)).value("tollgate_settles_lost_total")).toBe(1);
      await management.verify();
      // Its account goes on to be served nothing for free, and the restart finds nothing to do.
      expect(await gateway.stop()).toBe(0);
      const again = await startGateway({ settings, dataDirectory, env });
      const after = new Management(again);
      expect((await after.balance("poisoned")).spentNanos).toBe(spentNanos);
      expect(await after.verify()).toMatchObject({ open_hold_count: "0" });
      expect(again.log.filter((line) => line.includes(id))).toEqual([]);
      expect(await again.stop()).toBe(0);
    },
  );
}, drivers);

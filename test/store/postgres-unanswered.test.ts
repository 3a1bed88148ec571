/** A commit whose answer is lost, and a server that crashes: what was written is written once, what was said stays. */
import net from "node:net";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifyDatabase } from "../../src/store/postgres/verify.js";
import { NOON_MS, creditOf, holdOf, settleOf } from "../ledger/operations.js";
import { startOwnPostgres } from "../support/own-postgres.js";
import { pace } from "../support/pauses.js";
import { administer, postgresMissing, postgresPrograms } from "../support/postgres.js";
import { makeStoreDatabase } from "../support/stores.js";
import { makeLedger, openWriter } from "../support/postgres-ledger.js";

type Loss = "before the server heard of it" | "after the server did it" | "with the commit on its way";

interface Wire {
  readonly url: string;
  /** The next commits lose their connection, one for each. */
  readonly losses: Loss[];
  /** What brings the server the commits that are on their way. */
  readonly late: (() => void)[];
}

interface WireOptions {
  /** In the place of the bound of a batch for a lock. */
  readonly lockMs?: number;
}

/** The same statements, of the same length, where the server waits for the next word for as long as a test likes. */
function patient(data: Buffer, { lockMs }: WireOptions): Buffer {
  let text = data.toString("latin1");
  const set = (name: string, value: number): void => {
    text = text.replace(new RegExp(`(SET LOCAL ${name} = )(\\d+)`), (_, start: string, before: string) => {
      return start + String(value).padEnd(before.length);
    });
  };
  set("statement_timeout", 0);
  set("idle_in_transaction_session_timeout", 0);
  if (lockMs !== undefined) set("lock_timeout", lockMs);
  return Buffer.from(text, "latin1");
}

/** A way to the server that can break at a commit, on either side of it, and bring it late. */
async function wireTo(url: string, options: WireOptions = {}): Promise<Wire> {
  const target = new URL(url);
  const losses: Loss[] = [];
  const late: (() => void)[] = [];
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    let isLate = false;
    client.on("close", () => isLate || end());
    upstream.on("close", end);
    let isLost = false;
    client.on("data", (data) => {
      const loss = data.includes("COMMIT\0") ? losses.shift() : undefined;
      isLost ||= loss !== undefined;
      isLate ||= loss === ON_ITS_WAY;
      if (loss === "before the server heard of it") end();
      else if (loss === ON_ITS_WAY) {
        late.push(() => upstream.write(data));
        client.destroy();
      } else upstream.write(patient(data, options));
    });
    upstream.on("data", (data) => (isLost ? end() : client.write(data)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const through = new URL(url);
  through.port = String(typeof address === "object" ? address?.port : "");
  return { url: through.href, losses, late };
}

const BEFORE: Loss = "before the server heard of it";
const AFTER: Loss = "after the server did it";
const ON_ITS_WAY: Loss = "with the commit on its way";
const BEAT = { kind: "beat", nodeId: "node_1", nowMs: NOON_MS, isLast: false } as const;

/** How many of this database wait for what another has locked. */
async function waiting(url: string): Promise<unknown> {
  const locks = "SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = ";
  const [row] = await administer(`${locks} current_database()`, url);
  return row?.["n"];
}

describe.skipIf(postgresMissing)("a commit whose answer is lost", () => {
  test.each([[[BEFORE]], [[AFTER]], [[BEFORE, BEFORE]], [[BEFORE, AFTER]]])("%s is done once", async (losses) => {
    const url = await makeStoreDatabase();
    await makeLedger(url, ["acme"]);
    const wire = await wireTo(url);
    const { batches, database } = await openWriter(wire.url, "node_1");
    await batches.commit([creditOf(10n)]);
    wire.losses.push(...losses);
    // Unlike the others, a beat counts each time that it is done.
    const results = await batches.commit([holdOf({ amountNanos: 4n }), settleOf({ costNanos: 3n }), BEAT]);
    expect(wire.losses).toEqual([]);
    expect(results).toMatchObject([
      { kind: "held", amountNanos: 4n },
      { kind: "settled", chargedNanos: 3n, repeated: false },
      { kind: "beaten" },
    ]);
    expect(await administer("SELECT count(*) AS n FROM transfer", url)).toEqual([{ n: "3" }]);
    expect(await administer("SELECT beats FROM node", url)).toEqual([{ beats: "1" }]);
    expect((await verifyDatabase(database)).problems).toEqual([]);
  });

  test.each([
    { which: "a writer's first", earlier: 0 },
    { which: "a later one", earlier: 1 },
  ])("is waited for while it is on its way: $which", async ({ earlier }) => {
    const url = await makeStoreDatabase();
    await makeLedger(url, ["acme"]);
    const wire = await wireTo(url);
    const { batches, database } = await openWriter(wire.url, "node_1");
    for (let count = 0; count < earlier; count += 1) await batches.commit([creditOf(3n, { creditId: `c${count}` })]);
    wire.losses.push(ON_ITS_WAY);
    const results = batches.commit([creditOf(10n, { creditId: "late" }), BEAT]);
    await expect.poll(() => waiting(url)).toBe("1");
    expect(wire.late).toHaveLength(1);
    wire.late[0]?.();
    expect(await results).toMatchObject([{ kind: "credited", repeated: false }, { kind: "beaten" }]);
    // It would count each time that it is done.
    expect(await administer("SELECT beats FROM node", url)).toEqual([{ beats: "1" }]);
    expect((await verifyDatabase(database)).problems).toEqual([]);
  });

  test("lets its writer return no lease before the grant that is on its way", async () => {
    const url = await makeStoreDatabase();
    await makeLedger(url, ["acme"]);
    const wire = await wireTo(url, { lockMs: 200 });
    const { batches, database } = await openWriter(wire.url, "node_1");
    await batches.commit([creditOf(100n), BEAT]);
    wire.losses.push(ON_ITS_WAY);
    const who = { leaseId: "l1", nodeId: "node_1", accountId: "acme", keyId: "key_1", budgets: [] };
    const grant = { kind: "lease", ...who, amountNanos: 20n, requestNanos: 2n, nowMs: NOON_MS } as const;
    const giveBack = { kind: "return", leaseId: "l1", nowMs: NOON_MS } as const;
    const away = { reason: "ERROR_REASON_LEDGER_UNAVAILABLE" };
    // The node is told of a failure, and gives back what it may have been granted.
    await expect(batches.commit([grant])).rejects.toMatchObject(away);
    await expect(batches.commit([giveBack])).rejects.toMatchObject(away);
    // A writer that knows whose the lease is waits for that account as well; one that forgot, for its own row alone.
    const forgetful = await openWriter(wire.url, "node_1");
    await expect(forgetful.batches.commit([giveBack])).rejects.toMatchObject(away);
    expect(wire.late).toHaveLength(1);
    wire.late[0]?.();
    const leases = () => administer("SELECT id FROM lease", url);
    await expect.poll(leases).toEqual([{ id: "l1" }]);
    expect(await batches.commit([giveBack])).toEqual([{ kind: "returned", amountNanos: 20n }]);
    expect(await leases()).toEqual([]);
    expect((await verifyDatabase(database)).problems).toEqual([]);
  });
});

describe.skipIf(postgresMissing !== undefined || postgresPrograms === undefined)("a server that crashes", () => {
  test("and comes back keeps all that was acknowledged, and the ledger goes on and holds", async () => {
    const server = await startOwnPostgres();
    await makeLedger(server.url, ["acme"]);
    const { batches, database } = await openWriter(server.url, "node_1");
    await batches.commit([creditOf(1_000n)]);
    const held: string[] = [];
    const over = new AbortController();
    const caller = async (name: string): Promise<void> => {
      for (let count = 0; !over.signal.aborted; count += 1) {
        const requestId = `${name}-${count}`;
        try {
          const [result] = await batches.commit([holdOf({ requestId, amountNanos: 1n })]);
          if (result?.kind === "held") held.push(requestId);
        } catch (error) {
          expect(error).toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
          await pace(20);
        }
      }
    };
    const callers = ["a", "b", "c"].map(caller);
    await expect.poll(() => held.length).toBeGreaterThan(5);
    await server.crash();
    const before = held.length;
    await pace(50);
    await server.start();
    await expect.poll(() => held.length).toBeGreaterThan(before + 5);
    over.abort();
    await Promise.all(callers);
    const rows = await administer("SELECT request_id AS id FROM transfer WHERE kind = 'hold'", server.url);
    const written = new Set(rows.map((row) => row["id"]));
    expect(held.filter((requestId) => !written.has(requestId))).toEqual([]);
    expect((await verifyDatabase(database)).problems).toEqual([]);
  });
});

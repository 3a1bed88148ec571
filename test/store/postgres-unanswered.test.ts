/** A commit whose answer is lost, and a server that crashes: what was written is written once, what was said stays. */
import net from "node:net";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifyDatabase } from "../../src/store/postgres/verify.js";
import { NOON_MS, creditOf, holdOf, settleOf } from "../ledger/operations.js";
import { startOwnPostgres } from "../support/own-postgres.js";
import { administer, makeDatabase, postgresMissing, postgresPrograms } from "../support/postgres.js";
import { makeLedger, openWriter } from "../support/postgres-ledger.js";

type Loss = "before the server heard of it" | "after the server did it";

interface Wire {
  readonly url: string;
  /** The next commits lose their connection, one for each. */
  readonly losses: Loss[];
}

/** A way to the server that can break at a commit, on either side of it. */
async function wireTo(url: string): Promise<Wire> {
  const target = new URL(url);
  const losses: Loss[] = [];
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    client.on("close", end);
    upstream.on("close", end);
    let isLost = false;
    client.on("data", (data) => {
      const loss = data.includes("COMMIT\0") ? losses.shift() : undefined;
      isLost ||= loss !== undefined;
      if (loss === "before the server heard of it") end();
      else upstream.write(data);
    });
    upstream.on("data", (data) => (isLost ? end() : client.write(data)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const through = new URL(url);
  through.port = String(typeof address === "object" ? address?.port : "");
  return { url: through.href, losses };
}

const BEFORE: Loss = "before the server heard of it";
const AFTER: Loss = "after the server did it";

describe.skipIf(postgresMissing)("a commit whose answer is lost", () => {
  test.each([[[BEFORE]], [[AFTER]], [[BEFORE, BEFORE]], [[BEFORE, AFTER]]])("%s is done once", async (losses) => {
    const url = await makeDatabase();
    await makeLedger(url, ["acme"]);
    const wire = await wireTo(url);
    const { batches, database } = await openWriter(wire.url, "node_1");
    await batches.commit([creditOf(10n)]);
    wire.losses.push(...losses);
    // Unlike the others, a beat counts each time that it is done.
    const results = await batches.commit([
      holdOf({ amountNanos: 4n }),
      settleOf({ costNanos: 3n }),
      { kind: "beat", nodeId: "node_1", nowMs: NOON_MS, isLast: false },
    ]);
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
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    };
    const callers = ["a", "b", "c"].map(caller);
    await expect.poll(() => held.length).toBeGreaterThan(5);
    await server.crash();
    const before = held.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
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

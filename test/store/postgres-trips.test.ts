/** How often a batch on PostgreSQL goes there and back, and that what it takes to be known costs no truth. */
import net from "node:net";
import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifyDatabase } from "../../src/store/postgres/verify.js";
import { refused } from "../ledger/cases.js";
import { NOON_MS, checkpointOf, creditOf, holdOf, settleOf } from "../ledger/operations.js";
import { postgresMissing } from "../support/postgres.js";
import { makeStoreDatabase } from "../support/stores.js";
import { makeLedger, openWriter } from "../support/postgres-ledger.js";

/** Turns of the event loop after which all is sent that waits for nothing. */
const TURNS = 20;

interface Way {
  readonly url: string;
  /** How often something was asked that went out behind an answer. */
  turns: number;
}

async function wayTo(url: string): Promise<Way> {
  const target = new URL(url);
  const way = { url: "", turns: 0 };
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    let isAnswered = true;
    client.on("data", (data) => {
      if (isAnswered) way.turns += 1;
      isAnswered = false;
      upstream.write(data);
    });
    // Late enough that all that does not wait for it was sent before: its sender shares this event loop.
    let answered = Promise.resolve();
    upstream.on("data", (data) => {
      answered = answered.then(async () => {
        for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
        isAnswered = true;
        client.write(data);
      });
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on("error", () => undefined);
      socket.on("close", () => other.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const through = new URL(url);
  const address = server.address();
  through.port = String(typeof address === "object" ? address?.port : "");
  way.url = through.href;
  return way;
}

const leaseOf = (leaseId: string) =>
  ({
    kind: "lease",
    leaseId,
    nodeId: "node_1",
    accountId: "acme",
    keyId: "key_1",
    budgets: [],
    amountNanos: 100n,
    requestNanos: 1n,
    nowMs: NOON_MS,
  }) as const;

describe.skipIf(postgresMissing)("a batch on PostgreSQL", () => {
  test("goes there and back three times: to read under its locks, to write, and to commit", async () => {
    const url = await makeStoreDatabase();
    await makeLedger(url, ["acme"], [["key_1", "none"]]);
    const way = await wayTo(url);
    const { batches } = await openWriter(way.url, "node_1");
    await batches.commit([creditOf(10_000n), { kind: "beat", nodeId: "node_1", nowMs: NOON_MS, isLast: false }]);
    await batches.commit([leaseOf("l1"), holdOf({ requestId: "r0" })]);
    const turns = async (...operations: Parameters<typeof batches.commit>[0]): Promise<number> => {
      way.turns = 0;
      await batches.commit(operations);
      return way.turns;
    };
    const leaseId = "l1";
    expect(await turns(holdOf({ requestId: "r1", leaseId }))).toBe(3);
    expect(await turns(checkpointOf({ requestId: "r1" }), holdOf({ requestId: "r2", leaseId }))).toBe(3);
    expect(await turns(settleOf({ requestId: "r0" }), settleOf({ requestId: "r1" }), leaseOf("l2"))).toBe(3);
    expect(await turns(settleOf({ requestId: "r2" }), { kind: "return", leaseId: "l2", nowMs: NOON_MS })).toBe(3);
    // Records of the audit log are written at once, however many there are: all nodes wait for the end of its chain.
    const credits = Array.from({ length: 20 }, (_, index) => creditOf(1n, { creditId: `more${index}` }));
    expect(await turns(...credits)).toBe(await turns(creditOf(1n, { creditId: "one more" })));
  });

  test("of a request that turns out to be of another account, key or day answers as the ledger has it", async () => {
    const url = await makeStoreDatabase();
    await makeLedger(url, ["acme", "other"]);
    const one = await openWriter(url, "node_1");
    const other = await openWriter(url, "node_2");
    await one.batches.commit([creditOf(100n), creditOf(100n, { creditId: "c2", accountId: "other" })]);
    const asked = ["r1", "r2", "r3"].map((requestId) => holdOf({ requestId, accountId: "other", keyId: "key_2" }));
    await other.batches.commit(asked);
    const nextDay = NOON_MS + 24 * 3_600_000;
    const results = await one.batches.commit([
      holdOf({ requestId: "r1" }),
      settleOf({ requestId: "r1", costNanos: 4n }),
      holdOf({ requestId: "r2", accountId: "other", keyId: "key_2", nowMs: nextDay }),
      settleOf({ requestId: "r2", costNanos: 5n, nowMs: nextDay }),
      holdOf({ requestId: "r3", accountId: "other", keyId: "key_1" }),
      settleOf({ requestId: "r3", costNanos: 6n }),
      holdOf({ requestId: "r4" }),
    ]);
    expect(results).toMatchObject([
      refused("id_taken"),
      { kind: "settled", chargedNanos: 4n },
      { kind: "held" },
      { kind: "settled", chargedNanos: 5n },
      refused("id_taken"),
      { kind: "settled", chargedNanos: 6n },
      { kind: "held" },
    ]);
    expect((await verifyDatabase(one.database)).problems).toEqual([]);
  });

  test("is written whole or not at all where it is refused at its first statement", async () => {
    const url = await makeStoreDatabase();
    await makeLedger(url, ["acme"]);
    const { batches, database } = await openWriter(url, "node_1");
    await batches.commit([creditOf(100n), holdOf()]);
    await database.script("UPDATE writer SET epoch = epoch + 1");
    const late = [holdOf({ requestId: "r2" }), settleOf()];
    for (let time = 0; time < 5; time += 1)
      await expect(batches.commit(late)).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
    expect(await database.rows({ text: "SELECT kind FROM transfer ORDER BY sequence", name: "" })).toEqual([
      { kind: "credit" },
      { kind: "hold" },
    ]);
  });
});

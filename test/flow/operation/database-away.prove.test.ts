/**
 * PostgreSQL goes away under a gateway that serves: calls within leases go on by its journal, all others are 503, and
 * what was served is charged once, also where the gateway is killed before the database is back.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { startOwnPostgres } from "../../support/own-postgres.js";
import { pace } from "../../support/pauses.js";
import { postgresMissing, postgresPrograms } from "../../support/postgres.js";
import { OWN_REDIS_MISSING, startRedis } from "../../support/redis-server.js";
import { settingsFor } from "../../support/world.js";

const PATIENT = { timeout: 60_000, interval: 100 };
/** Of a call of the fake upstream: 10 tokens in and 4 out. */
const COST_NANOS = 500n;
const CREDIT_NANOS = 1_000_000_000n;

interface Told {
  served: number;
  readonly refused: Set<string>;
}

/** Calls one after the other until so many are answered, or the gateway has refused so many. */
async function callUntil(
  gateway: GatewayProcess,
  secret: string,
  served: number,
  refusedMax: number,
  isPaced = false,
): Promise<Told> {
  const told: Told = { served: 0, refused: new Set() };
  for (let refused = 0; told.served < served && refused < refusedMax;) {
    if (isPaced) await pace(100);
    const response = await postChat(gateway, secret, chat("hello"));
    const body = await response.text();
    if (response.status === 200) told.served += 1;
    else {
      refused += 1;
      const { error } = JSON.parse(body) as { error: { code: string } };
      const wait = response.headers.get("retry-after") === null ? "" : "later";
      told.refused.add(`${response.status} ${error.code} ${wait}`);
    }
  }
  return told;
}

const missing = postgresMissing ?? OWN_REDIS_MISSING;

test.skipIf(missing !== undefined || postgresPrograms === undefined)(
  `a database that is away costs nobody what was served, and nobody is refused for want of money ${missing ?? ""}`,
  async () => {
    const server = await startOwnPostgres();
    const upstream = await startFakeUpstream();
    // With it, a node that starts anew does not wait to see whether the one that was killed lives.
    const redis = await startRedis();
    const env = {
      TOLLGATE_DATABASE_URL: server.url,
      TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      TOLLGATE_SECRET: "a root secret of this test, long enough",
    };
    const first = await startGateway({ settings: settingsFor(upstream.url, 100), env });
    first.expectOddAnswers();
    const management = new Management(first);
    for (const id of ["acme", "other"]) await management.account(id, CREDIT_NANOS);
    const { secret } = await management.makeKey("acme");
    const { secret: cold } = await management.makeKey("other");
    let served = (await callUntil(first, secret, 40, 1)).served;
    expect(await callUntil(first, cold, 1, 1)).toMatchObject({ served: 1 });
    const slow = chat(JSON.stringify({ fake: { eventDelayMs: 150 } }), { stream: true });
    const stream = await postChat(first, secret, slow);

    await server.crash();
    const away = await callUntil(first, secret, 6, 600, true);
    expect(away.served, [...away.refused].join()).toBe(6);
    // A balancer that asks goes on sending what the journal serves, and stops where nothing is left to serve by.
    expect(await readyStatus(first), "the journal serves").toBe(200);
    await first.logged("are written to the journal");
    const others = await callUntil(first, cold, 1, 3);
    expect([...others.refused]).toEqual(["503 ledger_unavailable later"]);
    expect([...away.refused].filter((refusal) => refusal !== "503 ledger_unavailable later")).toEqual([]);
    expect(await readAll(stream)).toContain("[DONE]");
    served += away.served;
    await expect.poll(() => readyStatus(first), PATIENT).toBe(503);
    const metrics = await readMetrics(first);
    expect([metrics.value("tollgate_ready"), metrics.value("tollgate_database_away")]).toEqual([0, 1]);
    const refusals = 'tollgate_refusals_total{reason="LEDGER_UNAVAILABLE",status="503"}';
    expect(metrics.value(refusals)).toBeGreaterThan(0);
    await server.start();
    const back = await callUntil(first, cold, 1, 100_000);
    expect([...back.refused].filter((refusal) => refusal !== "503 ledger_unavailable later")).toEqual([]);
    const spent = async (): Promise<bigint> => (await management.balance("acme")).spentNanos;
    await expect.poll(spent, PATIENT).toBeGreaterThanOrEqual(BigInt(served) * COST_NANOS);
    await expect.poll(() => readyStatus(first), PATIENT).toBe(200);
    expect(toldOf(first, "takes no writes"), "once an outage").toBe(1);
    expect(toldOf(first, "takes writes again")).toBe(1);
    const stacks = first.log.filter((line) => /"level":"(warn|error)"/.test(line) && line.includes('"stack"'));
    expect(stacks, "no stack for each call that failed").toEqual([]);
    const streamNanos = (await spent()) - BigInt(served) * COST_NANOS;
    await management.verify();

    served += (await callUntil(first, secret, 40, 1_000)).served;
    await expect.poll(spent, PATIENT).toBe(BigInt(served) * COST_NANOS + streamNanos);
    await server.crash();
    const last = await callUntil(first, secret, 6, 600, true);
    expect(last.served).toBe(6);
    served += last.served;
    // An answer is told before its settlement is on the disk: what a kill takes of that is not what this is about.
    await expect.poll(() => unsettled(first.dataDirectory), PATIENT).toEqual([]);
    await first.kill();
    await server.start();
    const second = await startGateway({ env, dataDirectory: first.dataDirectory, settings: settingsFor(upstream.url) });
    expect(second.log.filter((line) => line.includes("an earlier process wrote a journal"))).toHaveLength(1);
    const after = new Management(second);
    const total = BigInt(served) * COST_NANOS + streamNanos;
    await expect.poll(async () => (await after.balance("acme")).spentNanos, PATIENT).toBe(total);
    await after.verify();
    await second.stop();
    await redis.close();
    await upstream.close();
  },
  400_000,
);

async function readyStatus({ url }: GatewayProcess): Promise<number> {
  return (await fetch(`${url}/readyz`)).status;
}

function toldOf({ log }: GatewayProcess, words: string): number {
  return log.filter((line) => line.includes(words)).length;
}

/** The requests in the journal whose hold is there, and what they came to is not. */
function unsettled(dataDirectory: string): readonly string[] {
  const folder = join(dataDirectory, "journals");
  const texts = readdirSync(folder).map((place) => readFileSync(join(folder, place, "journal"), "utf8"));
  const lines = texts.join("").split("\n");
  const idsOf = (kind: string): string[] =>
    lines
      .filter((line) => line.includes(`"kind":"${kind}"`))
      .map((line) => /"requestId":"(\w+)"/.exec(line)?.[1] ?? "");
  const settled = new Set(idsOf("settle"));
  const held = idsOf("hold");
  if (held.length === 0) throw new Error("the journal has no hold");
  return held.filter((id) => !settled.has(id));
}

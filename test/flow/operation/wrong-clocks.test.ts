/**
 * Machines whose time of day is days wrong: days, budgets, ends of keys and nightly files go by the database's clock,
 * and where the machine's is all there is, by the time that the program counts itself.
 */
import { mkdtempSync, readdirSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway, type StartOptions } from "../../support/gateway-process.js";
import { signInAt, startIssuerGateway } from "../../support/issuer-gateway.js";
import { MachineClock, skewSecondsOf } from "../../support/machine-clock.js";
import { Management } from "../../support/management.js";
import { administer, makeDatabase, postgresMissing } from "../../support/postgres.js";
import { OWN_REDIS_MISSING, startRedis } from "../../support/redis-server.js";
import { testStore } from "../../support/test-store.js";
import { settingsFor } from "../../support/world.js";

const DAY_MS = 86_400_000;
/** Below what 100 words cost, and above what one may. */
const BUDGET = { budget_day_nanos: "9000" };
const missing = postgresMissing ?? OWN_REDIS_MISSING;

interface OffNode {
  readonly gateway: GatewayProcess;
  readonly management: Management;
  readonly exports: string;
}

/** A gateway on a machine, and where it writes its nightly files. */
async function startOn(clock: MachineClock, upstreamUrl: string, more: StartOptions = {}): Promise<OffNode> {
  const exports = mkdtempSync(join(tmpdir(), "tollgate-exports-"));
  const settings = `${settingsFor(upstreamUrl)}exports: { directory: "${exports}", formats: [csv] }\n`;
  const gateway = await startGateway({ ...more, settings, env: { ...more.env, ...clock.env } });
  return { gateway, management: new Management(gateway), exports };
}

async function statusWith(gateway: GatewayProcess, secret: string): Promise<number> {
  const response = await postChat(gateway, secret, chat("Hello", { max_tokens: 1 }));
  await readAll(response);
  return response.status;
}

/** A key whose budget of the day is used up: a day of its own would let it ask again. */
async function spentKey({ gateway, management }: OffNode): Promise<string> {
  const { secret, id } = await management.makeKey("acme");
  await readAll(await postChat(gateway, secret, chat(script({ words: 100 }))));
  const fresh = await management.makeKey("acme", BUDGET);
  expect(await statusWith(gateway, fresh.secret)).toBe(200);
  await management.call("PATCH", `/keys/${id}`, { settings: BUDGET, update_mask: "budget_day_nanos" });
  return secret;
}

/** The days on which an account has used something, as one node tells. */
async function daysOf({ management }: OffNode): Promise<string[]> {
  const { body } = await management.call("GET", "/usage?from_day=2000-01-01&to_day=2199-01-01&account_id=acme");
  const summaries = (body["summaries"] ?? []) as { day: string }[];
  return [...new Set(summaries.map(({ day }) => day))];
}

describe.skipIf(missing !== undefined)(`two nodes on one PostgreSQL ${missing ?? ""}`, () => {
  test("whose clocks are six days apart have one day, one budget, and no file of a day that is not over", async () => {
    const [upstream, redis, url] = await Promise.all([startFakeUpstream(), startRedis(), makeDatabase()]);
    onTestFinished(async () => void (await Promise.all([redis.close(), upstream.close()])));
    const env = {
      TOLLGATE_DATABASE_URL: url,
      TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      TOLLGATE_SECRET: "a root secret of this test, long enough",
    };
    const ahead = await startOn(new MachineClock(3 * DAY_MS), upstream.url, { env });
    const behind = await startOn(new MachineClock(-3 * DAY_MS), upstream.url, { env });
    const nodes = [ahead, behind];
    await ahead.management.account("acme", 1_000_000_000n);
    const kind = { kind: "clock_skew" };
    expect(await ahead.management.call("POST", "/alerts", { settings: kind })).toMatchObject({ status: 200 });
    const tomorrow = new Date(Date.now() + DAY_MS).toISOString();
    const ending = await ahead.management.makeKey("acme", { expire_time: tomorrow });
    const spent = await spentKey(behind);
    for (const { gateway } of nodes) {
      expect(await statusWith(gateway, spent)).toBe(402);
      expect(await statusWith(gateway, ending.secret)).toBe(200);
    }
    const [{ today } = { today: "" }] = await administer(
      "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS today",
      url,
    );
    for (const node of nodes) {
      await expect.poll(() => daysOf(node)).toEqual([today]);
      await node.management.verify();
    }
    // Nothing told a day as over that is not.
    const files = nodes.flatMap(({ exports }) => readdirSync(exports)).filter((name) => name.endsWith(".csv"));
    expect(files.length).toBeGreaterThan(0);
    const days = files.map((name) => /\d{4}-\d{2}-\d{2}/.exec(name)?.[0] ?? "");
    expect(days.filter((day) => day >= String(today))).toEqual([]);
    const fired = async (): Promise<unknown> => (await ahead.management.call("GET", "/events")).body["events"];
    await expect.poll(fired, { timeout: 60_000 }).toMatchObject([{ subject: `clock of ${hostname()}` }]);
    for (const [node, offDays] of [
      [ahead, 3],
      [behind, -3],
    ] as const) {
      await node.gateway.logged("the machine's clock differs");
      expect(await skewSecondsOf(node.gateway)).toBeCloseTo(offDays * 86_400, -2);
      const { body } = await node.management.call("GET", "/nodes");
      const own = (body["nodes"] as { answering: boolean; clock_skew_ms: string }[]).find(({ answering }) => answering);
      expect(Number(own?.clock_skew_ms) / DAY_MS).toBeCloseTo(offDays, 2);
      expect(await node.gateway.stop()).toBe(0);
    }
  }, 180_000);
});

describe.skipIf(testStore !== "sqlite")("on the embedded store", () => {
  test("a clock that is set opens no other day, and one that is set back opens none at the next start", async () => {
    const upstream = await startFakeUpstream();
    onTestFinished(() => upstream.close());
    const clock = new MachineClock();
    const node = await startOn(clock, upstream.url);
    const { gateway, management } = node;
    await management.account("acme", 1_000_000_000n);
    const secret = await spentKey(node);
    const [today] = await daysOf(node);
    for (const days of [0, 3, -3, 40, -40]) {
      await clock.set(gateway, days * DAY_MS);
      expect(await statusWith(gateway, secret)).toBe(402);
    }
    expect(await daysOf(node)).toEqual([today]);
    await gateway.logged("the machine's clock differs");
    await gateway.stop();
    const later = await startOn(new MachineClock(-3 * DAY_MS), upstream.url, { dataDirectory: gateway.dataDirectory });
    expect(await statusWith(later.gateway, secret)).toBe(402);
    expect(await daysOf(later)).toEqual([today]);
    await later.management.verify();
    expect(await later.gateway.stop()).toBe(0);
    // Who says so has the day that the machine has, and its budget.
    const accepting = { dataDirectory: gateway.dataDirectory, args: ["--accept-clock"] };
    const accepted = await startOn(new MachineClock(-3 * DAY_MS), upstream.url, accepting);
    expect(await statusWith(accepted.gateway, secret)).toBe(200);
    expect(await daysOf(accepted)).toHaveLength(2);
    await accepted.management.verify();
    expect(await accepted.gateway.stop()).toBe(0);
  }, 120_000);

  test("a person comes in at an issuer, whose tokens the machine's clock would end", async () => {
    const clock = new MachineClock();
    const world = await startIssuerGateway(undefined, clock.env);
    onTestFinished(() => world.close());
    for (const [index, days] of [0, 3, -3].entries()) {
      await clock.set(world.gateway, days * DAY_MS);
      const login = `person-${index}`;
      const email = `${login}@example.com`;
      world.open.people.set(login, { sub: login, email, email_verified: true, name: login });
      expect(await signInAt(world.open, world.browser(), login, { name: "open" })).toMatchObject({ status: 200 });
    }
  }, 120_000);
});

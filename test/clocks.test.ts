/** The time of day is for dates alone: a clock that is set must neither end nor prolong anything that lasts. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { chat, postChat, readAll } from "./support/chat-call.js";
import { script, startFakeUpstream } from "./support/fake-upstream.js";
import { startGateway } from "./support/gateway-process.js";
import { MachineClock } from "./support/machine-clock.js";
import { Management } from "./support/management.js";
import { settingsFor } from "./support/world.js";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/**
 * Every place that reads the machine's time of day, and why it is not the store's, which everything else is given
 * (src/clock/clock.ts). What lasts reads `performance.now`.
 */
const DATES: Readonly<Record<string, string>> = {
  "src/cli/account.ts": "part of an id",
  "src/cli/arguments.ts": "the first day that a command asks for",
  "src/cli/correction.ts": "part of an id",
  "src/cli/import-litellm.ts": "which keys of another gateway have expired",
  "src/cli/prices.ts": "when a snapshot was made",
  "src/cli/store.ts": "the date of an act in the audit log",
  "src/cli/top.ts": "from when to when it asks",
  "src/families/azure/index.ts": "when a token of the cloud ends",
  "src/families/bedrock/index.ts": "the date of a signature, which the cloud compares with true time",
  "src/families/sim/index.ts": "when an answer was made",
  "src/families/vertex/index.ts": "a token's end as Google tells it, made a life at once",
  "src/http/warm-up.ts": "when an answer was made",
  "src/observe/log.ts": "the time of a line",
  "src/rpc/transport/remote-channel.ts": "a deadline as the gRPC library takes it, at the moment of the call",
  "src/rpc/transport/server.ts": "a deadline as the gRPC library tells it, made a life at once",
  "src/serve/clock.ts": "what the clock compares the store's time with, and the one source of an embedded store",
  "src/serve/settings-check.ts": "the date of the prices in force",
  "src/store/journals.ts": "part of the name of a damaged journal's copy",
  "src/store/sqlite/archive.ts": "which months are over, beside an embedded store, which has no other clock",
  "src/store/sqlite/database-file.ts": "when a loss was accepted, before the store is open",
};

/** Every place that asks a database for the time. */
const ASKS: Readonly<Record<string, string>> = {
  "src/coordination/redis-script.ts": "windows in Redis",
  "src/store/postgres/answers.ts": "how old a claim is, within one statement",
  "src/store/postgres/time.ts": "the time that nodes go by",
};
const TIME_IN_SQL = /clock_timestamp|(?<![.#\w])now\(\)|current_(?:date|time|timestamp)\b|'now'|call\('TIME'/i;

test("every reader of the time of day is known, and makes a date of it", () => {
  const files = readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" });
  const readers = files
    .map((path) => `src/${path}`)
    .filter((path) => /\.(ts|mjs)$/.test(path) && !path.startsWith("console/"))
    .filter((path) => /\bDate\.now\b|new Date\(\)/.test(readFileSync(`${ROOT}${path}`, "utf8")));
  expect(readers.toSorted()).toEqual(Object.keys(DATES).toSorted());
});

test("every statement that reads a database's time is known", () => {
  const files = readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" });
  const readers = files
    .map((path) => `src/${path}`)
    .filter((path) => /\.(ts|mjs|lua)$/.test(path) && !path.startsWith("console/"))
    .filter((path) => TIME_IN_SQL.test(readFileSync(`${ROOT}${path}`, "utf8")));
  expect(readers.toSorted()).toEqual(Object.keys(ASKS).toSorted());
});

const HOUR_MS = 3_600_000;

test("a gateway whose clock is set by an hour holds, limits, cools down and ends keys as before", async () => {
  const upstream = await startFakeUpstream();
  const clock = new MachineClock();
  const gateway = await startGateway({ settings: settingsFor(upstream.url), env: clock.env });
  const management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  const inHalfAnHour = new Date(Date.now() + HOUR_MS / 2).toISOString();
  const { secret } = await management.makeKey("acme");
  const ending = await management.makeKey("acme", { expire_time: inHalfAnHour });
  const limited = await management.makeKey("acme", { requests_per_minute: 1 });
  const statusWith = async (key: { secret: string }): Promise<number> => {
    const response = await postChat(gateway, key.secret, chat("Hello"));
    await response.arrayBuffer();
    return response.status;
  };
  const coolingMs = async (): Promise<number> => {
    const { body } = await management.call("GET", "/upstreams");
    const found = (body["upstreams"] as { id: string; cooling_ms: string }[]).find(({ id }) => id === "gone");
    return Number(found?.cooling_ms);
  };

  // Two streams are under way: their holds live through all that follows.
  const open = (): Promise<Response> =>
    postChat(gateway, secret, chat(script({ words: 150, held: "all is seen", heldAfter: 20 }), { stream: true }));
  const streams = await Promise.all([open(), open()]);
  expect(await statusWith(limited)).toBe(200);
  expect(await statusWith(limited)).toBe(429);
  for (let index = 0; index < 6; index++) await postChat(gateway, secret, chat("Hello", { model: "gone-1" }));
  const cooledMs = performance.now();
  const firstMs = await coolingMs();
  expect(firstMs).toBeGreaterThan(0);
  /** No longer than at first, and no shorter than the time that passed can make it: clocks do not go quite alike. */
  const expectCooling = async (): Promise<void> => {
    const leftMs = await coolingMs();
    expect(leftMs).toBeLessThanOrEqual(firstMs);
    expect(leftMs).toBeGreaterThanOrEqual(firstMs - (performance.now() - cooledMs) - 100);
  };
  for (const jumpMs of [HOUR_MS, -HOUR_MS, 0]) {
    await clock.set(gateway, jumpMs);
    expect(await statusWith(ending)).toBe(200);
    expect(await statusWith(limited)).toBe(429);
    await expectCooling();
    expect((await management.balance("acme")).heldNanos).toBeGreaterThan(0n);
  }
  upstream.release("all is seen");
  for (const text of await Promise.all(streams.map(readAll))) expect(text).toContain("[DONE]");
  await expect.poll(async () => (await management.balance("acme")).heldNanos).toBe(0n);
  for (const stream of streams) {
    const { body } = await management.call("GET", `/requests/${stream.headers.get("x-request-id")}`);
    expect(body["request"]).toMatchObject({ state: "settled" });
  }
  await management.verify();
  await gateway.stop();
  await upstream.close();
});

/** A stream that one node serves is read on, followed and ended through another node, as if that one served it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { createDatabase, postgresMissing } from "../../support/postgres.js";
import { OWN_REDIS_MISSING, type RedisServer, startRedis } from "../../support/redis-server.js";
import { settingsFor } from "../../support/world.js";

const MISSING = postgresMissing ?? OWN_REDIS_MISSING;
const WAIT = { timeout: 60_000, interval: 50 };
const LONG = { words: 80, eventDelayMs: 20 };

describe.skipIf(MISSING !== undefined)(`two nodes ${MISSING ?? ""}`, () => {
  let upstream: FakeUpstream;
  let redis: RedisServer;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  const nodes: GatewayProcess[] = [];
  let management: Management;
  let secret: string;

  beforeAll(async () => {
    [upstream, redis, database] = await Promise.all([startFakeUpstream(), startRedis(), createDatabase()]);
    const env = {
      TOLLGATE_DATABASE_URL: database.url,
      TOLLGATE_REDIS_URL: redis.url,
      TOLLGATE_SECRET: "a root secret of this test, long enough",
    };
    const settings = settingsFor(upstream.url);
    for (let place = 0; place < 2; place += 1) nodes.push(await startGateway({ env, settings }));
    management = new Management(at(0));
    await management.account("acme", 100_000_000_000n);
    ({ secret } = await management.makeKey("acme"));
  }, 180_000);
  afterAll(async () => {
    for (const node of nodes) await node.stop();
    await redis.close();
    await upstream.close();
    await database.drop();
  });

  function at(place: number): GatewayProcess {
    const node = nodes[place];
    if (node === undefined) throw new Error("there is no such node");
    return node;
  }
  const start = (fake: object, signal?: AbortSignal): Promise<Response> =>
    fetch(`${at(0).url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        "x-tollgate-resumable": "1",
      },
      body: JSON.stringify(chat(script(fake), { stream: true })),
      ...(signal === undefined ? {} : { signal }),
    });
  const stream = (place: number, method: string, id: string, after = 0, key = secret): Promise<Response> =>
    fetch(`${at(place).url}/v1/streams/${id}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(after === 0 ? {} : { "last-event-id": `${id}:${after}` }) },
    });
  const idOf = (response: Response): string => response.headers.get("x-request-id") ?? "";
  const numberOf = (text: string): number => Number([...text.matchAll(/^id: \S+:(\d+)$/gm)].at(-1)?.[1] ?? 0);

  test("what one node keeps, another gives: all of it, and what comes after any event", async () => {
    const response = await start({ words: 12 });
    const whole = await response.text();
    const calls = upstream.requests.length;
    for (const after of [0, 1, 5, numberOf(whole)]) {
      const [own, others] = await Promise.all([0, 1].map((place) => stream(place, "GET", idOf(response), after)));
      expect([own?.status, others?.status]).toEqual([200, 200]);
      expect(others?.headers.get("content-type")).toBe(own?.headers.get("content-type"));
      expect(await others?.text()).toBe(await own?.text());
    }
    expect(upstream.requests.length).toBe(calls);
  });

  test("a stream that runs is read on through another node, to its end", async () => {
    const leaving = new AbortController();
    const response = await start(LONG, leaving.signal);
    let read = "";
    for await (const bytes of response.body ?? []) {
      read += Buffer.from(bytes as Uint8Array).toString();
      if (numberOf(read) >= 5) break;
    }
    leaving.abort();
    const had = read.slice(0, read.lastIndexOf("\n\n") + 2);
    const rest = await stream(1, "GET", idOf(response), numberOf(had)).then(readAll);
    expect(rest).toContain("[DONE]");
    const whole = await stream(0, "GET", idOf(response)).then(readAll);
    expect(numberOf(had) + [...rest.matchAll(/^id: /gm)].length).toBe(numberOf(whole));
    expect(whole.endsWith(rest)).toBe(true);
  });

  test("two follow it at once, each at another node, and both have all", async () => {
    const response = await start(LONG);
    const [first, second] = await Promise.all([readAll(response), stream(1, "GET", idOf(response)).then(readAll)]);
    expect(first).toContain("[DONE]");
    expect(second).toBe(first);
  });

  test("a stream that fails tells it through another node as well", async () => {
    const response = await start({ cutAfter: 3 });
    const told = await response.text();
    expect(told).toContain("error");
    expect(await stream(1, "GET", idOf(response)).then(readAll)).toBe(told);
  });

  test("DELETE through another node ends it, charges what came, and forgets it on both", async () => {
    const response = await start({ words: 500, eventDelayMs: 10 });
    const reader = response.body?.getReader();
    for (let bytes = 0; bytes < 2_000;) bytes += (await reader?.read())?.value?.length ?? 2_000;
    const ended = await stream(1, "DELETE", idOf(response));
    expect(ended.status).toBe(200);
    const told = (await ended.json()) as { cancelled: boolean; cost_nanos: string };
    expect(told).toMatchObject({ id: idOf(response), cancelled: true });
    expect(BigInt(told.cost_nanos)).toBeGreaterThan(0n);
    await reader?.cancel();
    await expect.poll(async () => (await stream(0, "GET", idOf(response))).status, WAIT).toBe(410);
    await expect.poll(async () => (await stream(1, "GET", idOf(response))).status, WAIT).toBe(410);
  });

  test("is another account's secret, and nobody's that was never kept", async () => {
    const response = await start({ words: 3 });
    await response.text();
    await management.account("other", 0n);
    const other = await management.makeKey("other");
    expect((await stream(1, "GET", idOf(response), 0, other.secret)).status).toBe(404);
    expect((await stream(1, "DELETE", idOf(response), 0, other.secret)).status).toBe(404);
    expect((await stream(1, "GET", `req_${"0".repeat(32)}`)).status).toBe(404);
    // And another key's of its own account, as long as it runs too.
    const sibling = await management.makeKey("acme");
    const running = await start(LONG);
    for (const id of [idOf(response), idOf(running)]) {
      expect((await stream(1, "GET", id, 0, sibling.secret)).status).toBe(404);
      expect((await stream(1, "DELETE", id, 0, sibling.secret)).status).toBe(404);
    }
    expect(await readAll(running)).toContain("[DONE]");
    expect((await stream(1, "GET", idOf(response), 0, OPERATOR_KEY)).status).toBe(200);
    expect((await stream(1, "GET", idOf(response))).status).toBe(200);
  });

  test("an answer with an Idempotency-Key that has just come is there at the other node at once", async () => {
    const statuses: number[] = [];
    for (let turn = 0; turn < 30; turn += 1) {
      const headers = { "idempotency-key": `at once ${turn}` };
      const body = chat("Hello", turn % 2 === 0 ? {} : { stream: true });
      const first = await postChat(at(turn % 2), secret, body, { headers });
      const text = await first.text();
      const again = await postChat(at(1 - (turn % 2)), secret, body, { headers });
      statuses.push(again.status);
      if (again.status === 200) expect(await again.text()).toBe(text);
      else await again.text();
    }
    expect(statuses).toEqual(statuses.map(() => 200));
  });
});

/** How often a request asks Redis: once before its upstream is asked, and what it tells afterwards nobody waits for. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Breaker } from "../../src/coordination/redis-breaker.js";
import { connect, createClient, type Client } from "../../src/coordination/redis-client.js";
import { type Answer, RedisPipe } from "../../src/coordination/redis-pipe.js";
import { pace } from "../support/pauses.js";
import { REDIS_MISSING, sharedRedis } from "../support/redis-server.js";
import { TEST_ACT } from "../support/acts.js";
import { type NodeCores, openNodeCores } from "./node-cores.js";
import { hearingNothing } from "./steered-client.js";

type Command = (string | number)[];

interface Noted {
  readonly acts: unknown[];
  /** True while what only tells gets no answer. */
  isSilent: boolean;
}

/** A client that notes each script's first act, and each other command. */
function noting(url: string, noted: Noted): Client {
  const { hostname, port } = new URL(url);
  const hosts = [{ host: hostname, port: Number(port) }];
  const real = createClient({ kind: "single", hosts, database: 0, commandMs: 20_000 }, "test notes");
  const call = (name: string, ...rest: Command): Promise<unknown> => {
    const act = name.startsWith("EVAL") ? rest[3 + Number(rest[1])] : name;
    noted.acts.push(act);
    const answer = real.call(name, ...rest);
    return noted.isSilent && (act === "C" || act === "R") ? answer.then(() => new Promise(() => undefined)) : answer;
  };
  return new Proxy(real, {
    get: (target, name) => {
      if (name === "call") return call;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

describe.skipIf(REDIS_MISSING !== undefined)(`round trips ${REDIS_MISSING ?? ""}`, () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>;
  const opened: NodeCores[] = [];
  beforeAll(async () => {
    server = await sharedRedis();
  });
  afterEach(async () => {
    for (const cores of opened.splice(0)) await cores.close();
  });
  afterAll(() => server.close());

  test.each([
    // Without limits there is nothing to take: the words of its key are read.
    { limits: {}, asked: "MGET", told: [] },
    { limits: { requestsPerMinute: 100n }, asked: "A", told: [] },
    // The words of what it tells go in one command.
    { limits: { tokensPerMinute: 100_000n }, asked: "A", told: ["C"] },
    { limits: { requestsPerMinute: 100n, concurrency: 10n }, asked: "A", told: ["R"] },
    { limits: { requestsPerMinute: 100n, tokensPerMinute: 100_000n, concurrency: 10n }, asked: "A", told: ["C"] },
  ])("with the limits $limits it asks once, and tells $told without waiting", async ({ limits, asked, told }) => {
    const noted: Noted = { acts: [], isSilent: true };
    const { acts } = noted;
    const cores = await openNodeCores([server.url], { client: noting(server.url, noted) });
    opened.push(cores);
    const [node] = cores.nodes;
    const { secret } = await cores.makeKey(limits);
    // The first one is read from the store, with the words that stand for it; so is one that comes with first news.
    const firstAct = async (): Promise<unknown> => {
      acts.length = 0;
      expect(await node?.generate(secret)).toHaveProperty("head");
      await expect.poll(() => told.every((act) => acts.includes(act))).toBe(true);
      return acts[0];
    };
    await expect.poll(firstAct).toBe(asked);
    acts.length = 0;
    for (let count = 1; count <= 3; count += 1) {
      expect(await node?.generate(secret)).toHaveProperty("head");
      await expect.poll(() => acts).toHaveLength(count * (1 + told.length));
    }
    noted.isSilent = false;
    const each = [asked, ...told];
    expect(acts).toEqual([...each, ...each, ...each]);
  });

  test("a caller without limits is asked about with its headers, for one request that comes with them", async () => {
    const noted: Noted = { acts: [], isSilent: false };
    const { acts } = noted;
    const cores = await openNodeCores([server.url], { client: noting(server.url, noted) });
    opened.push(cores);
    const [node] = cores.nodes;
    if (node === undefined) throw new Error("there is a node");
    const { secret } = await cores.makeKey();
    expect(await node.generate(secret)).toHaveProperty("head");
    // Where this machine is busy, a message comes too late behind its headers, and is asked about once more.
    const asked = async (requests: number): Promise<unknown[]> => {
      acts.length = 0;
      const send = await node.enter(secret);
      const before = acts.length;
      for (let count = 0; count < requests; count += 1) expect(await send()).toHaveProperty("head");
      return [before, ...acts];
    };
    await expect.poll(() => asked(1)).toEqual([1, "MGET"]);
    await expect.poll(() => asked(2)).toEqual([1, "MGET", "MGET"]);

    acts.length = 0;
    const late = await node.enter(secret);
    await pace(100);
    expect(await late()).toHaveProperty("head");
    expect(acts, "a message that took long is asked about as if nothing had been").toEqual(["MGET", "MGET"]);

    const limited = await cores.makeKey({ requestsPerMinute: 100n });
    expect(await node.generate(limited.secret)).toHaveProperty("head");
    acts.length = 0;
    await node.enter(limited.secret);
    await node.enter(secret, { "idempotency-key": "one" });
    expect(acts, "limits need the message, and an answer that is kept needs none").toEqual([]);
  });

  test.each(["hears of it", "hears of nothing"])(
    "a key that ends between the headers and a late message is refused, at a node that %s",
    async (what) => {
      const listener = what === "hears of nothing" ? hearingNothing(server.url) : undefined;
      const cores = await openNodeCores([server.url, server.url], listener === undefined ? {} : { listener });
      opened.push(cores);
      const [one, other] = cores.nodes;
      const { key, secret } = await cores.makeKey();
      expect(await other?.generate(secret)).toHaveProperty("head");
      const send = await other?.enter(secret);
      await one?.keys.revoke(key.id, TEST_ACT);
      await pace(100);
      expect(await send?.()).toHaveProperty("error.reason", "ERROR_REASON_KEY_REVOKED");
    },
  );

  test("a question alone goes at once, and the others of its turn together; of many, all of a turn", async () => {
    const noted: Noted = { acts: [], isSilent: false };
    const client = noting(server.url, noted);
    await connect(client);
    noted.acts.length = 0;
    const pipe = new RedisPipe({
      client,
      breaker: new Breaker(() => undefined),
      monotonicMs: () => performance.now(),
      serverMs: () => 0,
      slowMs: 10_000,
      giveUpMs: 20_000,
      onAnswer: () => undefined,
      onFailure: () => undefined,
    });
    const ask = (): Promise<Answer> =>
      new Promise((resolve) => pipe.send("", ["round-trips"], ["W", 1, "none"], resolve, ["never set"]));
    const first = ask();
    expect(noted.acts, "one, in this turn").toEqual(["MGET"]);
    const others = [ask(), ask(), ask()];
    expect(noted.acts, "nothing more while one is on its way").toEqual(["MGET"]);
    expect(await Promise.all([first, ...others])).toEqual([[2], [2], [2], [2]]);
    expect(noted.acts, "the three of one turn as one").toEqual(["MGET", "MGET"]);
    const many = [ask(), ask()];
    expect(noted.acts, "after a command of several all of a turn go together").toEqual(["MGET", "MGET"]);
    await Promise.all(many);
    expect(noted.acts).toEqual(["MGET", "MGET", "MGET"]);
    client.disconnect();
  });
});

/** Vectors with an Idempotency-Key: one upstream call and one charge, however often they are asked for. */
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type FakeVectors, startFakeVectors, TOKENS_EACH } from "../../support/fake-vectors.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { SWEPT_TOPOLOGIES } from "../../support/topologies.js";

const SECRET = "a root secret of this test, long enough";
const INPUT_NANOS = 10n;
const COST_NANOS = BigInt(TOKENS_EACH) * INPUT_NANOS;

function settings(url: string): string {
  const price = 'kind: embedding, price: { input: "0.01", output: "0" }';
  return [
    "upstreams:",
    `  fake: { family: openai-compatible, base_url: "${url}/v1" }`,
    `  google: { family: gemini, base_url: "${url}", api_key: "AIza-upstream-secret-of-this-test" }`,
    "models:",
    `  vectors-1: { targets: [{ upstream: fake }], ${price} }`,
    `  gemini-embedding-001: { targets: [{ upstream: google }], ${price} }`,
    `  chat-1: { targets: [{ upstream: fake }], kind: chat, price: free }`,
    "",
  ].join("\n");
}

describe.each(SWEPT_TOPOLOGIES)("vectors with an Idempotency-Key, %s", (topology) => {
  let fake: FakeVectors;
  let core: GatewayProcess;
  let front: GatewayProcess;
  let management: Management;
  let secret: string;
  let lastKey = 0;

  beforeAll(async () => {
    fake = await startFakeVectors();
    const env = { TOLLGATE_SECRET: SECRET };
    core = await startGateway({ settings: settings(fake.url), env });
    front = topology === "one process" ? core : await startGateway({ env: { ...env, TOLLGATE_CORE: core.grpc } });
    management = new Management(core);
    await management.account("acme", 100_000_000_000n);
    ({ secret } = await management.makeKey("acme"));
  });
  afterEach(() => {
    fake.override = {};
  });
  afterAll(async () => {
    if (front !== core) await front.stop();
    await core.stop();
    await fake.close();
  });

  const nextKey = (): string => `vectors ${(lastKey += 1)}`;
  const post = (key: string, body: unknown, signal?: AbortSignal, path = "/v1/embeddings"): Promise<Response> =>
    fetch(front.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify(body),
      signal: signal ?? null,
    });
  const textOf = async (response: Response): Promise<string> => {
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return text;
  };
  /** What the block cost the account, and how many calls reached the upstream meanwhile. */
  const bill = async (work: () => Promise<void>): Promise<{ spent: bigint; calls: number }> => {
    const before = await management.balance("acme");
    const calls = fake.requests.length;
    await work();
    await expect.poll(async () => (await management.balance("acme")).heldNanos).toBe(0n);
    const after = await management.balance("acme");
    return { spent: after.spentNanos - before.spentNanos, calls: fake.requests.length - calls };
  };

  test.each([
    { name: "of the upstream's own wire", body: { model: "vectors-1", input: "hello" } },
    { name: "as base64", body: { model: "vectors-1", input: "hello", encoding_format: "base64" } },
    { name: "of another wire", body: { model: "gemini-embedding-001", input: "hello!" } },
  ])("come again as they were, $name", async ({ body }) => {
    const key = nextKey();
    const made = await bill(async () => {
      const first = await post(key, body);
      const text = await textOf(first);
      expect(first.headers.get("idempotent-replayed")).toBeNull();
      for (let round = 0; round < 3; round += 1) {
        const again = await post(key, body);
        expect(await textOf(again)).toBe(text);
        expect(again.headers.get("idempotent-replayed")).toBe("true");
        expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
        expect(again.headers.get("x-tollgate-original-request")).toBe(first.headers.get("x-request-id"));
        expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
        expect(again.headers.get("x-tollgate-cost-nanos")).toBe("0");
      }
    });
    expect(made).toEqual({ spent: COST_NANOS, calls: 1 });
  });

  test("a hundred at once are one", async () => {
    const key = nextKey();
    fake.override = { delayMs: 300 };
    const body = { model: "vectors-1", input: "hello" };
    const texts = new Set<string>();
    const replayed: (string | null)[] = [];
    const made = await bill(async () => {
      await Promise.all(
        Array.from({ length: 100 }, async () => {
          const response = await post(key, body);
          texts.add(await textOf(response));
          replayed.push(response.headers.get("idempotent-replayed"));
        }),
      );
    });
    expect(made).toEqual({ spent: COST_NANOS, calls: 1 });
    expect(texts.size).toBe(1);
    expect(replayed.filter((value) => value === null)).toHaveLength(1);
  });

  test("whose client left are there for the next", async () => {
    const key = nextKey();
    fake.override = { delayMs: 300 };
    const body = { model: "vectors-1", input: "hello" };
    const made = await bill(async () => {
      const leaving = new AbortController();
      const calls = fake.requests.length;
      const gone = post(key, body, leaving.signal);
      await expect.poll(() => fake.requests.length).toBe(calls + 1);
      leaving.abort();
      await expect(gone).rejects.toThrow();
      const again = await post(key, body);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(await textOf(again)).toContain('"embedding"');
    });
    expect(made).toEqual({ spent: COST_NANOS, calls: 1 });
  });

  test.each([
    { what: "another input", path: "/v1/embeddings", body: { model: "vectors-1", input: "goodbye" } },
    { what: "another form of it", path: "/v1/embeddings", body: { model: "vectors-1", input: ["hello"] } },
    {
      what: "another route",
      path: "/v1/chat/completions",
      body: { model: "chat-1", messages: [{ role: "user", content: "hello" }] },
    },
  ])("are refused with $what", async ({ path, body }) => {
    const key = nextKey();
    await textOf(await post(key, { model: "vectors-1", input: "hello" }));
    const made = await bill(async () => {
      const response = await post(key, body, undefined, path);
      expect(response.status).toBe(422);
      expect(response.headers.get("x-should-retry")).toBe("false");
      expect(await response.json()).toMatchObject({ error: { code: "idempotency_key_reused" } });
    });
    expect(made).toEqual({ spent: 0n, calls: 0 });
  });

  test("are refused with another body while they run", async () => {
    const key = nextKey();
    fake.override = { delayMs: 300 };
    const calls = fake.requests.length;
    const first = post(key, { model: "vectors-1", input: "hello" });
    await expect.poll(() => fake.requests.length).toBe(calls + 1);
    expect((await post(key, { model: "vectors-1", input: "goodbye" })).status).toBe(422);
    await textOf(await first);
  });

  test("are asked for anew where the upstream failed, and cost nothing before", async () => {
    const key = nextKey();
    const body = { model: "vectors-1", input: "hello" };
    fake.override = { status: 400, body: '{"error":{"message":"bad dimensions"}}' };
    const made = await bill(async () => {
      expect((await post(key, body)).status).toBe(400);
      fake.override = {};
      await expect.poll(async () => (await post(key, body)).status).toBe(200);
    });
    expect(made).toEqual({ spent: COST_NANOS, calls: 2 });
  });

  test("come again to the official client", async () => {
    const client = new OpenAI({ baseURL: `${front.url}/v1`, apiKey: secret, maxRetries: 0 });
    const headers = { "idempotency-key": nextKey() };
    const ask = (): Promise<OpenAI.CreateEmbeddingResponse> =>
      client.embeddings.create({ model: "vectors-1", input: ["one", "two"] }, { headers });
    const first = await ask();
    const made = await bill(async () => {
      expect(await ask()).toEqual(first);
    });
    expect(made).toEqual({ spent: 0n, calls: 0 });
  });

  test("leave a ledger that holds", async () => {
    expect(await management.verify()).toMatchObject({ open_hold_count: "0" });
  });
});

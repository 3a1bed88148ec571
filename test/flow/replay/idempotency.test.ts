/** Requests with an Idempotency-Key: one upstream call and one charge, however often they are sent. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { script } from "../../support/fake-upstream.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import { SWEPT_TOPOLOGIES } from "../../support/topologies.js";
import { startWorld, type World } from "../../support/world.js";

/** Ten tokens read at ten nano-USD, four answered at a hundred. */
const COST_NANOS = 500n;

describe.each(SWEPT_TOPOLOGIES)("an Idempotency-Key, %s", (topology) => {
  let world: World;
  let lastKey = 0;

  beforeAll(async () => {
    world = await startWorld(topology);
  });
  afterAll(() => world.close());

  const nextKey = (): string => `order ${topology} ${(lastKey += 1)}`;
  const post = (key: string, body: unknown, init: { signal?: AbortSignal; secret?: string } = {}): Promise<Response> =>
    postChat(world.front, init.secret ?? world.secret, body, {
      headers: { "idempotency-key": key },
      ...(init.signal === undefined ? {} : { signal: init.signal }),
    });
  /** What the block cost the account, and how many calls reached the upstream meanwhile. */
  const bill = async (work: () => Promise<void>): Promise<{ spent: bigint; calls: number }> => {
    const before = await world.management.balance("acme");
    const calls = world.upstream.requests.length;
    await work();
    await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
    const after = await world.management.balance("acme");
    return { spent: after.spentNanos - before.spentNanos, calls: world.upstream.requests.length - calls };
  };
  const textOf = async (response: Response): Promise<string> => {
    expect(response.status).toBe(200);
    return response.text();
  };

  test.each([
    { form: "whole", more: {} },
    { form: "streamed", more: { stream: true, stream_options: { include_usage: true } } },
  ])("answers the same again, $form", async ({ more }) => {
    const key = nextKey();
    const body = chat("Hello", more);
    const made = await bill(async () => {
      const first = await post(key, body);
      const text = await textOf(first);
      expect(first.headers.get("idempotent-replayed")).toBeNull();
      expect(text).toContain("Hello");
      for (let round = 0; round < 3; round += 1) {
        const again = await post(key, body);
        expect(await textOf(again)).toBe(text);
        expect(again.headers.get("idempotent-replayed")).toBe("true");
        expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
        expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
        expect(again.headers.get("x-tollgate-original-request")).toBe(first.headers.get("x-request-id"));
      }
    });
    expect(made).toEqual({ spent: COST_NANOS, calls: 1 });
  });

  test.each([
    { form: "whole", more: {} },
    { form: "streamed", more: { stream: true } },
  ])("a hundred at once are one, $form", async ({ more }) => {
    const key = nextKey();
    const body = chat(script({ words: 4, headDelayMs: 300 }), more);
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
    expect(made.calls).toBe(1);
    expect(made.spent).toBe(COST_NANOS);
    expect(texts.size).toBe(1);
    expect(replayed.filter((value) => value === null)).toHaveLength(1);
  });

  test("one that comes while it runs reads it from its first event", async () => {
    const key = nextKey();
    const body = chat(script({ words: 40, eventDelayMs: 20 }), { stream: true });
    const made = await bill(async () => {
      const first = await post(key, body);
      const reader = first.body!.getReader();
      const { value } = await reader.read();
      const [whole, begun] = await Promise.all([post(key, body).then(readAll), restOf(reader)]);
      expect(Buffer.from(value!).toString() + begun).toBe(whole);
      expect(whole).toContain("[DONE]");
    });
    expect(made.calls).toBe(1);
  });

  test("one whose client left goes on, and is there for the next", async () => {
    const key = nextKey();
    const body = chat(script({ words: 4, headDelayMs: 200 }));
    const made = await bill(async () => {
      const leaving = new AbortController();
      const gone = post(key, body, { signal: leaving.signal });
      await world.upstream.waitFor((request) => request.raw.includes("headDelayMs") && !request.done);
      leaving.abort();
      await expect(gone).rejects.toThrow();
      expect(await textOf(await post(key, body))).toContain("content");
    });
    expect(made).toEqual({ spent: COST_NANOS, calls: 1 });
  });

  test.each([
    { what: "another body", path: "/v1/chat/completions", body: chat("Goodbye") },
    { what: "another form", path: "/v1/chat/completions", body: chat("Hello", { stream: true }) },
    {
      what: "another route",
      path: "/v1/messages",
      body: { model: "fake-1", max_tokens: 9, messages: [{ role: "user", content: "Hello" }] },
    },
  ])("is refused with $what", async ({ path, body }) => {
    const key = nextKey();
    await textOf(await post(key, chat("Hello")));
    const made = await bill(async () => {
      const response = await fetch(`${world.front.url}${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${world.secret}`,
          "content-type": "application/json",
          "idempotency-key": key,
        },
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(422);
      expect(response.headers.get("x-should-retry")).toBe("false");
      expect(await response.text()).toContain("was used before with another body or route");
    });
    expect(made).toEqual({ spent: 0n, calls: 0 });
  });

  test("belongs to one API key", async () => {
    const key = nextKey();
    const other = await world.management.makeKey("acme");
    await textOf(await post(key, chat("Hello")));
    const made = await bill(async () => {
      const response = await post(key, chat("Hello"), { secret: other.secret });
      expect(response.headers.get("idempotent-replayed")).toBeNull();
      await textOf(response);
    });
    expect(made.calls).toBe(1);
  });

  test.each([
    { name: "a failed whole answer", fake: { status: 500, times: 3 }, more: {} },
    { name: "a cut stream", fake: { cutAfter: 2, times: 1 }, more: { stream: true } },
  ])("is free again after $name", async ({ fake, more }) => {
    const key = nextKey();
    const body = chat(script({ ...fake, id: key }), more);
    const failed = await post(key, body).then(readAll);
    expect(failed).toContain("error");
    await expect.poll(async () => (await post(key, body).then(readAll)).includes("error")).toBe(false);
  });

  test.each([
    { why: "its body is invalid", body: { model: "fake-1" }, status: 400, settings: {} },
    { why: "its model is unknown", body: { ...chat("Hello"), model: "none" }, status: 404, settings: {} },
    {
      why: "its budget is used up",
      body: chat("Hello"),
      status: 402,
      settings: { request_cost_max_nanos: "1" },
    },
  ])("is not used up where $why", async ({ body, status, settings }) => {
    const key = nextKey();
    const { secret } = await world.management.makeKey("acme", settings);
    for (let round = 0; round < 2; round += 1) {
      const response = await post(key, body, { secret });
      expect(response.status).toBe(status);
      expect(response.headers.get("idempotent-replayed")).toBeNull();
    }
    if (status === 402) return;
    await textOf(await post(key, chat("Hello"), { secret }));
  });

  test.each([
    { what: "too long", key: "k".repeat(256) },
    { what: "empty", key: "" },
    { what: "not printable", key: "kl\u00fcssel" },
  ])("that is $what is refused", async ({ key }) => {
    const response = await post(key, chat("Hello"));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "Idempotency-Key" } });
  });

  test("of 255 characters is taken", async () => {
    await textOf(await post(`${topology} ${"k".repeat(254 - topology.length)}`, chat("Hello")));
  });

  test("makes one key and one account, and gives credit once", async () => {
    const manage = async (path: string, key: string, body: unknown): Promise<{ status: number; text: string }> => {
      const response = await fetch(`${world.front.url}/api/v1${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${OPERATOR_KEY}`,
          "content-type": "application/json",
          "idempotency-key": key,
        },
        body: JSON.stringify(body),
      });
      return { status: response.status, text: await response.text() };
    };
    const id = `made-${topology.replaceAll(" ", "-")}`;
    for (const [path, body] of [
      ["/accounts", { id, name: "Made" }],
      ["/keys", { account_id: id }],
      [`/accounts/${id}:credit`, { amount_nanos: "5", credit_id: `gift-${id}` }],
    ] as const) {
      const key = nextKey();
      const first = await manage(path, key, body);
      expect(first.status).toBe(200);
      expect(await manage(path, key, body)).toEqual(first);
    }
    expect((await world.management.balance(id)).grantedNanos).toBe(5n);
    const { body } = await world.management.call("GET", `/keys?account_id=${id}`);
    expect(body["keys"]).toHaveLength(1);
  });

  test("leaves a ledger that holds", async () => {
    await world.management.verify();
  });
});

async function restOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value);
  return Buffer.concat(parts).toString();
}

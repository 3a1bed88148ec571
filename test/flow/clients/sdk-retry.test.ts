/** The official SDKs' own retries after lost connections: one upstream call and one charge. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { type DroppingProxy, type Loss, lossesHeard, startDroppingProxy } from "../../support/dropping-proxy.js";
import { script } from "../../support/fake-upstream.js";
import { pace } from "../../support/pauses.js";
import { SWEPT_TOPOLOGIES } from "../../support/topologies.js";
import { says, startWorld, type World } from "../../support/world.js";

/** Ten tokens read at ten nano-USD, four answered at a hundred. */
const COST_NANOS = 500n;

describe.each(SWEPT_TOPOLOGIES)("a retry of an SDK, %s", (topology) => {
  let world: World;
  let proxy: DroppingProxy;
  let lastId = 0;

  beforeAll(async () => {
    world = await startWorld(topology);
    proxy = await startDroppingProxy(world.front.url);
  });
  afterEach(() => proxy.lose());
  afterAll(async () => {
    await proxy.close();
    await world.close();
  });

  /** A prompt that no other test sends, so that the upstream's requests can be told apart. */
  const nextText = (fake: object = {}): string =>
    script({ words: 4, headDelayMs: 300, id: `${topology} ${(lastId += 1)}`, ...fake });
  const callsOf = (text: string): number =>
    world.upstream.requests.filter(({ raw }) => raw.includes(JSON.stringify(text).slice(1, -1))).length;
  const arrived = (text: string) => (): Promise<unknown> =>
    world.upstream.waitFor(({ raw }) => raw.includes(JSON.stringify(text).slice(1, -1)));
  const lost = (text: string): Loss => ({ kind: "before the head", when: arrived(text) });
  const proxied = (text: string, retryCount: string): Promise<Response> =>
    postChat(proxy, world.secret, chat(text), { headers: { "x-stainless-retry-count": retryCount } });
  const spentBy = async (work: () => Promise<void>): Promise<bigint> => {
    const before = await world.management.balance("acme");
    await work();
    await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
    return (await world.management.balance("acme")).spentNanos - before.spentNanos;
  };

  const openai = (apiKey = world.secret, through: typeof fetch = fetch): OpenAI =>
    new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey, maxRetries: 2, fetch: through });
  const anthropic = (): Anthropic => new Anthropic({ baseURL: proxy.url, apiKey: world.secret, maxRetries: 2 });
  const ASKS: readonly { name: string; ask: (text: string) => Promise<string> }[] = [
    {
      name: "openai, whole",
      ask: async (text) => {
        const answer = await openai().chat.completions.create({ model: "fake-1", messages: says(text) });
        return answer.choices[0]?.message.content ?? "";
      },
    },
    {
      name: "openai, streamed",
      ask: async (text) => {
        const stream = openai().chat.completions.stream({ model: "fake-1", messages: says(text) });
        return (await stream.finalContent()) ?? "";
      },
    },
    {
      name: "anthropic, whole",
      ask: async (text) => {
        const body = { model: "fake-1", max_tokens: 100, messages: says(text) };
        const { content } = await anthropic().messages.create(body);
        return content.map((block) => (block.type === "text" ? block.text : "")).join("");
      },
    },
    {
      name: "anthropic, streamed",
      ask: (text) =>
        anthropic()
          .messages.stream({ model: "fake-1", max_tokens: 100, messages: says(text) })
          .finalText(),
    },
  ];

  // Behind the front end nothing differs between the formats, so one is enough there.
  const asks = topology === "one process" ? ASKS : ASKS.filter((_, index) => index === 0);
  test.each(asks)("$name: two lost connections are one upstream call and one charge", async ({ ask }) => {
    const text = nextText({ headDelayMs: 2_000 });
    const retried = proxy.requests();
    proxy.lose(lost(text), { kind: "before the head", when: () => pace(200) });
    const spent = await spentBy(async () => expect((await ask(text)).length).toBeGreaterThan(0));
    expect(proxy.requests() - retried).toBe(3);
    expect(callsOf(text)).toBe(1);
    expect(spent).toBe(COST_NANOS);
  });

  test("comes to an answer that was whole before it", async () => {
    const text = nextText({ headDelayMs: 100 });
    proxy.lose(lost(text));
    const spent = await spentBy(async () => {
      const { data, response } = await openai()
        .chat.completions.create({ model: "fake-1", messages: says(text) })
        .withResponse();
      expect(data.choices[0]?.message.content).not.toBe("");
      expect(response.headers.get("x-tollgate-original-request")).toMatch(/^req_/);
    });
    expect(callsOf(text)).toBe(1);
    expect(spent).toBe(COST_NANOS);
  });

  // The clients of this language do not retry once a head came; others read the whole answer first, and do.
  test("comes to an answer that was lost on its way", async () => {
    const text = nextText({ headDelayMs: 0 });
    const before = await proxied(text, "0").then((response) => response.text());
    const spent = await spentBy(async () => {
      const lossy = nextText({ headDelayMs: 0 });
      for (const bytes of [400, before.length]) {
        proxy.lose({ kind: "in the answer", bytes });
        await expect(proxied(lossy, bytes === 400 ? "0" : "1").then((response) => response.text())).rejects.toThrow();
        await lossesHeard(world.front, world.secret);
      }
      const response = await proxied(lossy, "2");
      expect(response.headers.get("x-tollgate-original-request")).toMatch(/^req_/);
      expect(response.headers.get("content-type")).toContain("application/json");
      expect(await response.text()).toBe(before);
      expect(callsOf(lossy)).toBe(1);
      // What came to its client is not kept for another.
      expect((await proxied(lossy, "3")).headers.get("x-tollgate-original-request")).toBeNull();
      expect(callsOf(lossy)).toBe(2);
    });
    expect(spent).toBe(2n * COST_NANOS);
  });

  test("runs anew where the first attempt failed meanwhile", async () => {
    const text = nextText({ headDelayMs: 100, status: 400, times: 1 });
    proxy.lose(lost(text));
    let calls = 0;
    const client = openai(world.secret, async (url, init) => {
      if ((calls += 1) > 1) {
        await world.upstream.waitFor(({ raw, done }) => done && raw.includes(JSON.stringify(text).slice(1, -1)));
        await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
      }
      return fetch(url, init);
    });
    const answer = await client.chat.completions.create({ model: "fake-1", messages: says(text) });
    expect(answer.choices[0]?.message.content).not.toBe("");
    expect(callsOf(text)).toBe(2);
  });

  test("with an Idempotency-Key: an answer that was lost at any place comes again", async () => {
    const text = nextText({ headDelayMs: 0 });
    const client = openai();
    const ask = (): Promise<OpenAI.ChatCompletion> =>
      client.chat.completions
        .create({ model: "fake-1", messages: says(text) }, { headers: { "Idempotency-Key": text } })
        .asResponse()
        .then(async (response) => JSON.parse(await response.text()) as OpenAI.ChatCompletion);
    const losses: readonly Loss[] = [
      lost(text),
      { kind: "in the answer", bytes: 1 },
      { kind: "in the answer", bytes: 900 },
    ];
    const spent = await spentBy(async () => {
      for (const loss of losses) {
        proxy.lose(loss);
        await ask().catch(() => undefined);
      }
      const answer = await ask();
      expect(answer.choices[0]?.message.content).not.toBe("");
    });
    expect(callsOf(text)).toBe(1);
    expect(spent).toBe(COST_NANOS);
  });

  test("pays anew where its key says so", async () => {
    const { secret } = await world.management.makeKey("acme", { retries_run_anew: true });
    const text = nextText();
    proxy.lose(lost(text));
    await openai(secret).chat.completions.create({ model: "fake-1", messages: says(text) });
    expect(callsOf(text)).toBe(2);
    // Without a retry to wait for, the attempt that was left is ended at once.
    await world.upstream.waitFor(({ raw, left }) => left && raw.includes(JSON.stringify(text).slice(1, -1)));
  });

  test.each([
    { name: "another key's", other: true, headers: { "x-stainless-retry-count": "1" }, more: {} },
    { name: "a first attempt", other: false, headers: { "x-stainless-retry-count": "0" }, more: {} },
    { name: "one that says nothing of retries", other: false, headers: {}, more: {} },
    { name: "another body's", other: false, headers: { "x-stainless-retry-count": "1" }, more: { temperature: 0.5 } },
  ])("attaches to nothing as $name", async ({ other, headers, more }) => {
    const text = nextText();
    const leaving = new AbortController();
    const first = postChat(world.front, world.secret, chat(text), {
      headers: { "x-stainless-retry-count": "0" },
      signal: leaving.signal,
    });
    await arrived(text)();
    leaving.abort();
    await expect(first).rejects.toThrow();
    const secret = other ? (await world.management.makeKey("acme")).secret : world.secret;
    const response = await postChat(world.front, secret, chat(text, more), { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-tollgate-original-request")).toBeNull();
    expect(callsOf(text)).toBe(2);
  });

  test("two equal requests that are lost together are two, and each retry gets its own", async () => {
    const text = nextText({ headDelayMs: 1_000 });
    const bothArrived = async (): Promise<void> => {
      await expect.poll(() => callsOf(text)).toBe(2);
    };
    proxy.lose({ kind: "before the head", when: bothArrived }, { kind: "before the head", when: bothArrived });
    const spent = await spentBy(async () => {
      const asked = [1, 2].map(() => openai().chat.completions.create({ model: "fake-1", messages: says(text) }));
      const ids = (await Promise.all(asked)).map((answer) => answer._request_id);
      expect(new Set(ids).size).toBe(2);
    });
    expect(callsOf(text)).toBe(2);
    expect(spent).toBe(2n * COST_NANOS);
  });

  test("a stream that was under way when its client left is ended at once", async () => {
    const text = nextText({ words: 500, eventDelayMs: 10, headDelayMs: 0 });
    const stream = await openai().chat.completions.create({ model: "fake-1", stream: true, messages: says(text) });
    for await (const _ of stream) break;
    stream.controller.abort();
    await world.upstream.waitFor((request) => request.left && request.raw.includes(`${topology} ${lastId}`));
  });

  test("leaves a ledger that holds", async () => {
    await world.management.verify();
  });
});

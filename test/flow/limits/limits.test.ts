/** The limits of a key over real HTTP: they admit as many as they say, and give back what is not used. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, deliveredText, postChat, readAll } from "../../support/chat-call.js";
import { script } from "../../support/fake-upstream.js";
import { startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { searchingModel, settingsFor, startWorld, type World } from "../../support/world.js";

let world: World;
beforeAll(async () => {
  world = await startWorld("one process", undefined, searchingModel(1_000));
});
afterAll(() => world.close());

type Json = Readonly<Record<string, unknown>>;

async function keyWith(settings: Json): Promise<string> {
  return (await world.management.makeKey("acme", settings)).secret;
}

const DURATION = /^(\d+m)?\d+(\.\d+)?(ms|s)$|^\d+m\d+s$/;

function expectRetryAfter(response: Response, secondsMax: number): void {
  const seconds = Number(response.headers.get("retry-after"));
  const milliseconds = Number(response.headers.get("retry-after-ms"));
  expect(Number.isInteger(seconds)).toBe(true);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(secondsMax);
  expect(milliseconds).toBeGreaterThan(0);
  expect(milliseconds).toBeLessThanOrEqual(secondsMax * 1000);
  expect(Math.ceil(milliseconds / 1000)).toBe(seconds);
  expect(response.headers.get("x-should-retry")).toBe("true");
}

describe("requests of a minute", () => {
  test.each([false, true])("let exactly 20 of 200 at once pass, streamed: %s", async (stream) => {
    const secret = await keyWith({ requests_per_minute: "20" });
    const body = chat("Hello", stream ? { stream } : {});
    const responses = await Promise.all(Array.from({ length: 200 }, () => postChat(world.front, secret, body)));
    const passed = responses.filter((response) => response.status === 200);
    const refused = responses.filter((response) => response.status === 429);
    expect([passed.length, refused.length]).toEqual([20, 180]);
    // Each that passed was told a different remainder, down to none.
    const remainders = passed.map((response) => Number(response.headers.get("x-ratelimit-remaining-requests")));
    expect(remainders.sort((a, b) => b - a)).toEqual(Array.from({ length: 20 }, (_, index) => 19 - index));
    for (const response of responses) {
      expect(response.headers.get("x-ratelimit-limit-requests")).toBe("20");
      expect(response.headers.get("x-ratelimit-reset-requests")).toMatch(DURATION);
    }
    for (const response of refused) {
      expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("0");
      expectRetryAfter(response, 61);
    }
    const texts = await Promise.all(responses.map(readAll));
    expect(texts.filter((text) => text.includes('"code":"rate_limit_exceeded"'))).toHaveLength(180);
    // One more comes as the rest are gone: the window is still full.
    expect((await postChat(world.front, secret, body)).status).toBe(429);
  });

  test("are counted for each key, and refused ones do not reach the upstream or the ledger", async () => {
    const [first, second] = [await keyWith({ requests_per_minute: "1" }), await keyWith({ requests_per_minute: "1" })];
    expect((await postChat(world.front, first, chat("Hello"))).status).toBe(200);
    const upstream = world.upstream.requests.length;
    const settled = async (): Promise<bigint> => (await world.management.balance("acme")).heldNanos;
    await expect.poll(settled).toBe(0n);
    const newest = await world.management.newestEntry("acme");
    expect((await postChat(world.front, first, chat("Hello"))).status).toBe(429);
    expect(world.upstream.requests.length).toBe(upstream);
    expect(await world.management.newestEntry("acme")).toEqual(newest);
    expect((await postChat(world.front, second, chat("Hello"))).status).toBe(200);
  });

  test("are not given back by an answer that failed, and told on it as well", async () => {
    const secret = await keyWith({ requests_per_minute: "2" });
    const failed = await postChat(world.front, secret, chat(script({ status: 400 })));
    expect(failed.status).toBe(400);
    expect((await postChat(world.front, secret, chat("Hello"))).headers.get("x-ratelimit-remaining-requests")).toBe(
      "0",
    );
    expect((await postChat(world.front, secret, chat("Hello"))).status).toBe(429);
  });
});

describe("tokens of a minute", () => {
  // The most that this request can use: its bytes, and the 1,000 tokens of output that the model allows.
  const body = JSON.stringify(chat("Hello"));
  const reserved = body.length + 1_000;
  const used = 14;

  test.each([
    { name: "a whole answer", sent: body },
    { name: "a stream", sent: JSON.stringify(chat("Hello", { stream: true })) },
  ])("are given back when $name used less than was reserved", async ({ sent }) => {
    const limit = sent.length + 1_000 + used;
    const secret = await keyWith({ tokens_per_minute: String(limit) });
    const first = await postChat(world.front, secret, sent);
    expect(first.status).toBe(200);
    expect(first.headers.get("x-ratelimit-limit-tokens")).toBe(String(limit));
    expect(Number(first.headers.get("x-ratelimit-remaining-tokens"))).toBe(used);
    await readAll(first);
    // Only with what the first gave back is there room for the second.
    let second: Response | undefined;
    await expect.poll(async () => (second = await postChat(world.front, secret, sent)).status).toBe(200);
    expect(Number(second?.headers.get("x-ratelimit-remaining-tokens"))).toBe(0);
  });

  test("of an answer that its client left count as its receipt says", async () => {
    const limit = 100_000;
    const { secret, id } = await world.management.makeKey("acme", { tokens_per_minute: String(limit) });
    const leaving = new AbortController();
    const slow = chat(script({ words: 900, eventDelayMs: 20 }), { stream: true });
    const left = await postChat(world.front, secret, slow, { signal: leaving.signal });
    let text = "";
    const decoder = new TextDecoder();
    try {
      for await (const bytes of left.body ?? []) {
        text += decoder.decode(bytes as Uint8Array, { stream: true });
        if (deliveredText(text).split(" ").length > 5) leaving.abort();
      }
    } catch {
      // The client left.
    }
    const receipt = async (): Promise<Json> => {
      const { body: told } = await world.management.call("GET", `/requests/${left.headers.get("x-request-id")}`);
      return told["request"] as Json;
    };
    await expect.poll(async () => (await receipt())["state"]).toBe("settled");
    const { input_tokens: input, output_tokens: output } = (await receipt())["usage"] as Json;
    expect(Number(input)).toBeGreaterThan(0);
    expect(Number(output)).toBeGreaterThan(4);
    expect(Number(output)).toBeLessThan(900);
    const counted = async (): Promise<unknown> => {
      const { body: told } = await world.management.call("GET", `/keys/${id}`);
      return ((told["key"] as Json)["figures"] as Json)["tokens_used"];
    };
    // It is settled before its tokens are corrected.
    const usedTokens = Number(input) + Number(output);
    await expect.poll(counted).toBe(String(usedTokens));
    const next = await postChat(world.front, secret, body);
    expect(next.headers.get("x-ratelimit-remaining-tokens")).toBe(String(limit - usedTokens - reserved));
  });

  test.each([
    { name: "an upstream refused", fake: { status: 400 } },
    { name: "an upstream failed", fake: { cutAfter: 0 } },
    {
      name: "an answer was empty and reports no output",
      fake: { text: "", usageIs: { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 } },
    },
  ])("are given back whole where $name", async ({ fake }) => {
    await world.management.call("POST", "/upstreams/fake:reset", {});
    const sent = JSON.stringify(chat(script(fake)));
    const secret = await keyWith({ tokens_per_minute: String(sent.length + 1_000) });
    const statuses: number[] = [];
    for (let call = 0; call < 3; call++) {
      const response = await postChat(world.front, secret, sent);
      await readAll(response);
      statuses.push(response.status);
    }
    expect(statuses).not.toContain(429);
    await world.management.call("POST", "/upstreams/fake:reset", {});
  });

  test("are held while a request runs, and refused with what remains", async () => {
    const secret = await keyWith({ tokens_per_minute: String(reserved + 500) });
    const marker = "slow tokens";
    const slow = JSON.stringify(chat(script({ held: marker }), { max_tokens: 800 }));
    const running = postChat(world.front, secret, slow);
    await world.upstream.waitFor((request) => request.raw.includes(marker));
    const refused = await postChat(world.front, secret, body);
    world.upstream.release(marker);
    expect(refused.status).toBe(429);
    expect(JSON.parse(await refused.text())).toMatchObject({ error: { type: "tokens", code: "rate_limit_exceeded" } });
    expect(refused.headers.get("x-ratelimit-remaining-tokens")).toBe(String(reserved + 500 - slow.length - 800));
    expect(refused.headers.get("x-ratelimit-reset-tokens")).toMatch(DURATION);
    expectRetryAfter(refused, 61);
    expect((await running).status).toBe(200);
    await expect.poll(async () => (await postChat(world.front, secret, body)).status).toBe(200);
  });

  test("that an answer used above its reservation count against what comes later", async () => {
    const search = { model: "searching-1", web_search_options: {} };
    const sent = JSON.stringify(chat(script({ usageIs: { prompt_tokens: 5_000, completion_tokens: 900 } }), search));
    const secret = await keyWith({ tokens_per_minute: "3000" });
    await readAll(await postChat(world.front, secret, sent));
    await expect.poll(async () => (await postChat(world.front, secret, body)).status).toBe(429);
  });
});

describe("requests at once", () => {
  const marked = (marker: string, fake: object, stream: boolean): string =>
    JSON.stringify(chat(script(fake), { user: marker, ...(stream ? { stream } : {}) }));
  let made = 0;
  const newMarker = (): string => `slot ${++made}.`;

  test.each([false, true])("of 20 let 3 pass, and others after they finished, streamed: %s", async (stream) => {
    const secret = await keyWith({ concurrency: "3" });
    const marker = newMarker();
    const body = marked(marker, { held: marker }, stream);
    const asked = Array.from({ length: 20 }, () => postChat(world.front, secret, body));
    let refusals = 0;
    for (const response of asked) void response.then(({ status }) => (refusals += status === 429 ? 1 : 0));
    await expect.poll(() => refusals).toBe(17);
    world.upstream.release(marker);
    const responses = await Promise.all(asked);
    expect(responses.filter((response) => response.status === 200)).toHaveLength(3);
    const refused = responses.filter((response) => response.status === 429);
    expect(refused).toHaveLength(17);
    for (const response of refused) expectRetryAfter(response, 61);
    await Promise.all(responses.map(readAll));
    await expect.poll(async () => (await postChat(world.front, secret, chat("Hello"))).status).toBe(200);
  });

  test.each([
    { name: "an abort before the head", fake: { hang: true }, stream: false },
    { name: "an abort of a silent stream", fake: { hang: true }, stream: true },
    { name: "an abort in a stream", fake: { words: 900, eventDelayMs: 20 }, stream: true },
  ])("are freed after $name", async ({ fake, stream }) => {
    const secret = await keyWith({ concurrency: "1" });
    const marker = newMarker();
    const leaving = new AbortController();
    const body = marked(marker, fake, stream);
    const running = postChat(world.front, secret, body, { signal: leaving.signal }).catch(() => undefined);
    await world.upstream.waitFor((request) => request.raw.includes(marker));
    expect((await postChat(world.front, secret, chat("Hello"))).status).toBe(429);
    leaving.abort();
    await running;
    await expect.poll(async () => (await postChat(world.front, secret, chat("Hello"))).status).toBe(200);
  });

  test.each([
    { name: "a refusal by the upstream", fake: { status: 400 }, stream: false },
    { name: "a cut stream", fake: { words: 9, cutAfter: 4 }, stream: true },
    { name: "an error event", fake: { words: 9, errorAfter: 4 }, stream: true },
    { name: "a request that the balance does not cover", fake: {}, stream: false, max: 10 },
  ])("are freed after $name", async ({ fake, stream, max }) => {
    const secret = await keyWith({ concurrency: "1", ...(max ? { request_cost_max_nanos: String(max) } : {}) });
    for (let call = 0; call < 4; call++) {
      const response = await postChat(world.front, secret, marked(newMarker(), fake, stream));
      expect(response.status).not.toBe(429);
      await readAll(response);
      await world.management.call("POST", "/upstreams/fake:reset", {});
    }
  });

  test("are free again when a process was killed and another serves its data", async () => {
    const settings = settingsFor(world.upstream.url);
    const killed = await startGateway({ settings });
    const management = new Management(killed);
    await management.account("acme", 1_000_000_000n);
    const { secret } = await management.makeKey("acme", { concurrency: "2" });
    const marker = newMarker();
    const bodies = [marked(`${marker}a`, { hang: true }, false), marked(`${marker}b`, { hang: true }, true)];
    const running = bodies.map((body) => postChat(killed, secret, body).catch(() => undefined));
    for (const name of ["a", "b"]) await world.upstream.waitFor((request) => request.raw.includes(marker + name));
    expect((await postChat(killed, secret, chat("Hello"))).status).toBe(429);
    await killed.kill();
    await Promise.all(running);
    const next = await startGateway({ settings, dataDirectory: killed.dataDirectory });
    // Leases that a process keeps in its memory end with it.
    await expect.poll(async () => (await postChat(next, secret, chat("Hello"))).status).toBe(200);
    await next.stop();
    rmSync(killed.dataDirectory, { recursive: true });
  });
});

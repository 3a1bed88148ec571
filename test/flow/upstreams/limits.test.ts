/** Limits of upstreams and targets, as a client meets them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { startWorld, type World } from "../../support/world.js";

const PRICED = "output_tokens_max: 1000, context_tokens: 100000, price: free";

let world: World;

beforeAll(async () => {
  world = await startWorld();
  const upstream = (limits: string): string =>
    `{ family: openai-compatible, base_url: ${JSON.stringify(world.upstream.url)}, limits: { ${limits} } }`;
  const settings = [
    `upstreams:`,
    `  queued: ${upstream("concurrency: 1, queue: { length: 29 }")}`,
    `  full: ${upstream("concurrency: 1")}`,
    `  minute: ${upstream("requests_per_minute: 1")}`,
    `  spent: ${upstream('budget: { amount: "0.000001", period: day }')}`,
    `models:`,
    `  queued: { targets: [{ upstream: queued }], stream_head_ms: 100, ${PRICED} }`,
    `  full: { targets: [{ upstream: full }], ${PRICED} }`,
    `  minute: { targets: [{ upstream: minute }], ${PRICED} }`,
    `  fallen: { targets: [{ upstream: minute, model: minute }], fallbacks: [queued], ${PRICED} }`,
    `  spent: { targets: [{ upstream: spent, cost: { input: "1", output: "1" } }], ${PRICED} }`,
    ``,
  ].join("\n");
  world.core.writeSettings(settings);
  process.kill(world.core.pid, "SIGHUP");
  await world.core.logged("settings reloaded");
});
afterAll(() => world.close());

const ask = (model: string, fake: object = {}, more: object = {}) =>
  postChat(world.front, world.secret, chat(JSON.stringify({ fake }), { model, ...more }));

async function refusal(response: Response): Promise<object> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, retryAfter: Number(response.headers.get("retry-after")) };
}

test("30 streams at once at a server of one place are all answered, and none is sent twice", async () => {
  const before = world.upstream.requests.length;
  const responses = await Promise.all(
    Array.from({ length: 30 }, () => ask("queued", { eventDelayMs: 2 }, { stream: true })),
  );
  const texts = await Promise.all(responses.map(readAll));
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  expect(texts.every((text) => text.includes("[DONE]"))).toBe(true);
  expect(world.upstream.requests.length - before).toBe(30);
});

test("a stream that waits shows its client that it waits", async () => {
  const running = ask("queued", { held: "first" }, { stream: true });
  await world.upstream.waitFor(({ raw }) => raw.includes("first"));
  const waiting = await ask("queued", {}, { stream: true });
  expect(waiting.status).toBe(200);
  world.upstream.release("first");
  expect(await readAll(waiting)).toContain("[DONE]");
  expect(await readAll(await running)).toContain("[DONE]");
});

test("a full upstream without a queue is refused with 429, when to come again and no mark", async () => {
  const running = ask("full", { held: "only" });
  await world.upstream.waitFor(({ raw }) => raw.includes("only"));
  expect(await refusal(await ask("full"))).toEqual({ status: 429, code: "upstream_full", retryAfter: 1 });
  world.upstream.release("only");
  expect((await running).status).toBe(200);
  expect((await ask("full")).status).toBe(200);
});

test("a limit in a minute names the minute, and a fallback answers in its place", async () => {
  expect((await ask("minute")).status).toBe(200);
  const { retryAfter, ...refused } = (await refusal(await ask("minute"))) as { retryAfter: number };
  expect(refused).toEqual({ status: 429, code: "upstream_full" });
  expect(retryAfter).toBeGreaterThan(30);
  expect((await ask("fallen")).headers.get("x-tollgate-upstream")).toBe("queued");
});

test("an upstream whose budget is spent is refused until the period ends", async () => {
  expect((await ask("spent")).status).toBe(200);
  expect(await refusal(await ask("spent"))).toMatchObject({ status: 429, code: "upstream_full" });
});

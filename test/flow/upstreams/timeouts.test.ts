/** An upstream that takes longer than its settings allow is left: for another one, or with an error. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { startWorld, type World } from "../../support/world.js";

const PRICED = "output_tokens_max: 1000, context_tokens: 100000, price: free";
const UPSTREAM = `{ family: openai-compatible, base_url: URL, api_key: "sk-upstream-secret-0123456789"`;

let world: World;
let count = 0;

beforeAll(async () => {
  world = await startWorld();
  const two = (first: string) => `[{ upstream: first${first} }, { upstream: second, priority: 2 }]`;
  const url = JSON.stringify(world.upstream.url);
  const upstream = (more: string): string => `${UPSTREAM.replace("URL", url)}${more} }`;
  const settings = [
    `upstreams:`,
    `  first: ${upstream(", timeouts: { first_output: 1s }")}`,
    `  second: ${upstream("")}`,
    `models:`,
    `  first-output: { targets: ${two("")}, ${PRICED} }`,
    `  of-target: { targets: ${two(", timeouts: { total: 1s }")}, ${PRICED} }`,
    `  idle: { targets: [{ upstream: second }], timeouts: { idle: 1s }, ${PRICED} }`,
    `  total: { targets: [{ upstream: second }], timeouts: { total: 1s }, ${PRICED} }`,
    `  patient: { targets: ${two("")}, timeouts: { first_output: 2m }, ${PRICED} }`,
    ``,
  ].join("\n");
  world.core.writeSettings(settings);
  process.kill(world.core.pid, "SIGHUP");
  await world.core.logged("settings reloaded");
});
afterAll(() => world.close());

/** The first request of it follows the script, and a second one is answered plainly. */
const script = (fake: object): string =>
  JSON.stringify({ fake: { ...fake, times: 1, id: `timeouts-${(count += 1)}` } });
const ask = (model: string, fake: object, more: object = {}, headers: Record<string, string> = {}) =>
  postChat(world.front, world.secret, chat(script(fake), { model, ...more }), { headers });

test("a stream that does not begin in time comes from the next target", async () => {
  const before = world.upstream.requests.length;
  const response = await ask("first-output", { hang: true }, { stream: true });
  expect(response.status).toBe(200);
  expect(await readAll(response)).toContain("[DONE]");
  expect(world.upstream.requests.length - before).toBe(2);
});

test("a model's timeout is over that of its upstream", async () => {
  const before = world.upstream.requests.length;
  const response = await ask("patient", { headDelayMs: 1_500 }, { stream: true });
  expect(await readAll(response)).toContain("[DONE]");
  expect(world.upstream.requests.length - before).toBe(1);
});

test("a whole answer that is not there in its target's time comes from the next target", async () => {
  const before = world.upstream.requests.length;
  const response = await ask("of-target", { hang: true });
  expect(response.status).toBe(200);
  expect(world.upstream.requests.length - before).toBe(2);
});

test("a model's total ends the request, whatever its upstream would still do", async () => {
  const response = await ask("total", { hang: true });
  expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
    504,
    "upstream_timeout",
  ]);
});

test("a stream that stops amid its answer ends with an error", async () => {
  const response = await ask("idle", { stallAfter: 2 }, { stream: true });
  const text = await readAll(response);
  expect(text).toContain("upstream_timeout");
  expect(text).not.toContain("[DONE]");
});

test("a client shortens the time of its request, and cannot lengthen it", async () => {
  const short = await ask("fake-long", { hang: true }, { model: "patient" }, { "x-tollgate-timeout": "700ms" });
  expect(short.status).toBe(504);
  expect(await short.text()).toContain("upstream_timeout");
  const long = await ask("total", { hang: true }, {}, { "x-tollgate-timeout": "5m" });
  expect(long.status).toBe(504);
  const wrong = await ask("total", {}, {}, { "x-tollgate-timeout": "soon" });
  expect(wrong.status).toBe(400);
  expect(((await wrong.json()) as { error: { param: string } }).error.param).toBe("x-tollgate-timeout");
});

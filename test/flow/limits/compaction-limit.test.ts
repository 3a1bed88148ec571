/** What OpenAI compacts is held for and charged by the model's own limit, whatever limit its client says. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ResponsesWorld, startResponsesWorld } from "../../support/responses-world.js";

/** The price of as much output as the world's models can write. */
const MOST_NANOS = 8_000n * 100n;

let world: ResponsesWorld;
beforeAll(async () => {
  world = await startResponsesWorld();
});
afterAll(() => world.close());

function compact(model: string, secret = world.secret): Promise<Response> {
  return fetch(`${world.gateway.url}/v1/responses/compact`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model, input: "x", max_output_tokens: 1 }),
  });
}

async function lastHold(): Promise<bigint> {
  const { body } = await world.management.call("GET", "/requests?page_size=1");
  const [record] = body["requests"] as { hold_nanos: string }[];
  return BigInt(record?.hold_nanos ?? 0);
}

test("a limit that is not sent upstream makes neither the hold nor the charge smaller", async () => {
  const before = (await world.management.balance("acme")).spentNanos;
  expect((await compact("native-1")).status).toBe(200);
  expect(world.openai.requests.at(-1)?.body).not.toHaveProperty("max_output_tokens");
  // The fake tells 10 tokens in at 10, 4 out at 100.
  const spent = async (): Promise<bigint> => (await world.management.balance("acme")).spentNanos - before;
  await expect.poll(spent).toBe(500n);
  expect(await lastHold()).toBeGreaterThan(MOST_NANOS);
});

test("a model that sums up is told the limit, which holds", async () => {
  const before = (await world.management.balance("acme")).spentNanos;
  expect((await compact("fake-1")).status).toBe(200);
  expect(world.openai.requests.at(-1)?.body).toMatchObject({ max_tokens: 1 });
  const spent = async (): Promise<bigint> => (await world.management.balance("acme")).spentNanos - before;
  await expect.poll(spent).toBeGreaterThan(0n);
  expect(await lastHold()).toBeLessThan(MOST_NANOS);
});

test("who cannot pay all that OpenAI may write is refused, since no lower limit could be sent", async () => {
  await world.management.account("short", MOST_NANOS / 2n);
  const { secret } = await world.management.makeKey("short");
  const sent = world.openai.requests.length;
  expect((await compact("native-1", secret)).status).toBe(402);
  expect(world.openai.requests).toHaveLength(sent);
  expect((await compact("fake-1", secret)).status).toBe(200);
});

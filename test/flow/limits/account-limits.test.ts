/** The limits of an account and of keys that make keys, over real HTTP: all keys together keep them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { startWorld, type World } from "../../support/world.js";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

async function statusOf(secret: string): Promise<{ status: number; text: string; head: Headers }> {
  const response = await postChat(world.front, secret, chat("Hello"));
  return { status: response.status, text: await readAll(response), head: response.headers };
}

async function limit(account: string, settings: Readonly<Record<string, unknown>>): Promise<void> {
  const changed = { settings };
  expect((await world.management.call("PATCH", `/accounts/${account}`, changed)).status).toBe(200);
}

test("an account's limit holds for all its keys from the next request on, and ends as soon", async () => {
  await world.management.account("wide", 1_000_000_000n);
  const secrets = await Promise.all([1, 2, 3].map(async () => (await world.management.makeKey("wide")).secret));
  for (const secret of secrets) expect((await statusOf(secret)).status).toBe(200);
  await limit("wide", { requests_per_minute: "2" });
  const answers = await Promise.all([...secrets, ...secrets].map(statusOf));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(4);
  for (const { text, head } of refused) {
    expect(text).toContain("The limit requests_per_minute of account wide is 2; 0 remain.");
    expect(head.get("x-ratelimit-limit-requests")).toBe("2");
  }
  await limit("wide", { requests_per_minute: "0" });
  for (const secret of secrets) expect((await statusOf(secret)).status).toBe(200);
});

test("a model that no settings file can hold is refused", async () => {
  const settings = { model_limits: [{ model: "__proto__", concurrency: "1" }] };
  const { status, body } = await world.management.call("PATCH", "/accounts/narrow", { settings });
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("cannot be __proto__")]);
});

test("a limit of an account with a model names both, and is shown again", async () => {
  await world.management.account("narrow", 1_000_000_000n);
  const { secret } = await world.management.makeKey("narrow");
  await limit("narrow", { model_limits: [{ model: "*", requests_per_minute: "1" }] });
  expect((await statusOf(secret)).status).toBe(200);
  const refused = await statusOf(secret);
  expect([refused.status, refused.text.includes("of account narrow, model * is 1; 0 remain")]).toEqual([429, true]);
  const { body } = await world.management.call("GET", "/accounts/narrow");
  expect(JSON.stringify(body)).toContain('"model":"*"');
  expect((await world.management.verify())["holds"]).toBe(true);
});

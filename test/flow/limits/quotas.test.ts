/** Quotas of keys and accounts, over real HTTP: what counts, what is refused, and what their figures show. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { startWorld, type World } from "../../support/world.js";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

async function ask(secret: string): Promise<{ status: number; text: string; head: Headers }> {
  const response = await postChat(world.front, secret, chat("Hello"));
  return { status: response.status, text: await readAll(response), head: response.headers };
}

test("a key's quota of requests refuses the next one, names itself, and shows how full it is", async () => {
  await world.management.account("counted", 1_000_000_000n);
  const quotas = { limits: [{ period: "five_hours", requests: "2", warn_percent: 80 }] };
  const { secret, id } = await world.management.makeKey("counted", { quotas });
  const first = await ask(secret);
  expect([first.status, first.head.get("x-tollgate-quota")]).toEqual([200, null]);
  const second = await ask(secret);
  expect(second.status).toBe(200);
  expect(second.head.get("x-tollgate-quota")).toContain("quota=requests; period=five_hours; used_percent=100");
  const refused = await ask(secret);
  expect(refused.status).toBe(429);
  expect(refused.text).toContain("The quota of 2 requests (five_hours) of key");
  expect(refused.head.get("x-should-retry")).toBe("false");
  const { body } = await world.management.call("GET", `/keys/${id}`);
  expect(body).toMatchObject({ key: { figures: { quotas: [{ period: "five_hours", requests: "2" }] } } });
});

test("an account's quotas count all its keys, and an operator alone may set them", async () => {
  await world.management.account("shared", 1_000_000_000n);
  const secrets = await Promise.all([1, 2].map(async () => (await world.management.makeKey("shared")).secret));
  const quotas = { limits: [{ period: "day", requests: "3" }], time_zone: "Europe/Berlin", day_start_hour: 6 };
  const set = await world.management.call("PATCH", "/accounts/shared", { settings: { quotas } });
  expect(set.status, JSON.stringify(set.body)).toBe(200);
  const answers = await Promise.all([...secrets, ...secrets, ...secrets].map(ask));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(3);
  const { body } = await world.management.call("GET", "/accounts/shared");
  expect(body).toMatchObject({
    account: { settings: { quotas }, figures: { quotas: [{ period: "day", requests: "3" }] } },
  });
  const none = await world.management.call("PATCH", "/accounts/shared", { settings: { quotas: null } });
  expect(none.status, JSON.stringify(none.body)).toBe(200);
  for (const secret of secrets) expect((await ask(secret)).status).toBe(200);
  expect((await world.management.verify())["holds"]).toBe(true);
});

test.each([
  { name: "a zone that does not exist", quotas: { time_zone: "Mars/Base" }, problem: "must be an IANA time zone" },
  { name: "no period", quotas: { limits: [{ requests: "1" }] }, problem: "must be five_hours, day" },
  {
    name: "nothing limited",
    quotas: { limits: [{ period: "day" }] },
    problem: "must limit requests, tokens or amount",
  },
  {
    name: "the same quota twice",
    quotas: { limits: [1, 2].map(() => ({ period: "day", requests: "1" })) },
    problem: "must differ from the others",
  },
])("$name is refused", async ({ quotas, problem }) => {
  const { status, body } = await world.management.call("PATCH", "/accounts/shared", { settings: { quotas } });
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(problem)]);
});

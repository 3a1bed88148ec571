/** Credit lines over real HTTP: a team without top-ups has money at once, and its statement says why. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { script } from "../../support/fake-upstream.js";
import { startWorld, type World } from "../../support/world.js";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const LINE = { credit_line: { amount: "2.00 USD", period: "month" } };

async function statusOf(secret: string): Promise<number> {
  const response = await postChat(world.front, secret, chat(script({ usageIs: { prompt_tokens: 30 } })));
  await readAll(response);
  return response.status;
}

test("an account with a line and no other credit is served, and an entry says why it has money", async () => {
  const { management } = world;
  await management.account("team", 0n);
  const { secret } = await management.makeKey("team");
  expect(await statusOf(secret)).toBe(402);
  const changed = await management.call("PATCH", "/accounts/team", { settings: LINE });
  expect(changed.body).toMatchObject({ account: { settings: { credit_line: { amount_nanos: "2000000000" } } } });
  expect(await management.balance("team")).toMatchObject({ availableNanos: 2_000_000_000n });
  expect(await statusOf(secret)).toBe(200);
  const { body } = await management.call("GET", "/accounts/team/entries");
  const grant = (body["entries"] as Record<string, string>[]).find(({ actor }) => actor === "credit-line");
  expect(grant?.["reason"]).toMatch(/^credit line of 2\.00 USD, month from \d{4}-\d\d-01$/);
});

test.each([
  { amount: "0.00 USD", period: "month", param: "settings.credit_line.amount_nanos" },
  { amount: "2.00 USD", period: "unspecified", param: "settings.credit_line.period" },
])("a line of $amount and $period is refused", async ({ param, ...line }) => {
  const settings = { credit_line: line };
  const { status, body } = await world.management.call("PATCH", "/accounts/team", { settings });
  expect([status, (body["error"] as Record<string, unknown>)["param"]]).toEqual([400, param]);
});

test("no operator's credit takes the id of a renewal", async () => {
  const credit = { amount_nanos: "1", credit_id: "line:team:2027-01-01" };
  const { status, body } = await world.management.call("POST", "/accounts/team:credit", credit);
  expect([status, (body["error"] as Record<string, unknown>)["param"]]).toEqual([400, "credit_id"]);
});

/** A small balance lowers the output limit, and what only running calls hold is refused for a moment alone. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { script } from "../../support/fake-upstream.js";
import { PRICE, startWorld, type World } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

const REFUSE_CLAMP = { headers: { "x-tollgate-clamp": "0" } };

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

let accounts = 0;
async function openAccount(creditNanos: bigint, settings: Json = {}): Promise<{ id: string; secret: string }> {
  const id = `small-${++accounts}`;
  await world.management.account(id, creditNanos);
  const { secret } = await world.management.makeKey(id, settings);
  return { id, secret };
}

describe("a small balance", () => {
  const content = script({});
  const costOf = (body: object, tokens: bigint): bigint =>
    BigInt(JSON.stringify(body).length) * PRICE.inputNanos + tokens * PRICE.outputNanos;
  const plain = chat(content);
  const limited = chat(content, { max_tokens: 900 });
  const refuse = { "x-tollgate-clamp": "0" };
  const allow = { "x-tollgate-clamp": "1" };

  test.each([
    { name: "that covers all holds all", body: plain, tokens: 1_000n, sent: 1_000 },
    { name: "lowers the limit of a request that has none", body: plain, tokens: 400n, sent: 400, clamped: "400" },
    { name: "lowers a limit that is too dear", body: limited, tokens: 400n, sent: 400, clamped: "400" },
    { name: "leaves a limit that it covers", body: limited, tokens: 900n, sent: 900 },
    { name: "lowers no limit below 256 tokens", body: plain, tokens: 255n },
    { name: "lowers it to 256 tokens", body: plain, tokens: 256n, sent: 256, clamped: "256" },
    { name: "refuses where the request says so", body: plain, tokens: 400n, headers: refuse },
    { name: "refuses where the key says so", body: plain, tokens: 400n, settings: { refuse_unaffordable: true } },
    {
      name: "lowers the limit where the request says so and the key does not",
      body: plain,
      tokens: 400n,
      settings: { refuse_unaffordable: true },
      headers: allow,
      sent: 400,
      clamped: "400",
    },
  ])("$name", async ({ body, tokens, sent, clamped = null, settings, headers = {} }) => {
    const { id, secret } = await openAccount(costOf(body, tokens), settings);
    const before = world.upstream.requests.length;
    const answer = await postChat(world.front, secret, body, { headers });
    expect(answer.status, await answer.text()).toBe(sent === undefined ? 402 : 200);
    expect(answer.headers.get("x-tollgate-clamped")).toBe(clamped);
    const asked = world.upstream.requests.slice(before).map((request) => request.body as Json);
    // The limit goes upstream by whichever of its two names the client used.
    const limits = asked.map((json) => json["max_tokens"] ?? json["max_completion_tokens"]);
    expect(limits).toEqual(sent === undefined ? [] : [sent]);
    const { availableNanos } = await world.management.balance(id);
    expect(availableNanos >= 0n, "available is never below zero").toBe(true);
  });
});

describe("money that only a running call holds", () => {
  const body = chat(script({}), { max_tokens: 50 });
  const holdNanos = BigInt(JSON.stringify(body).length) * PRICE.inputNanos + 50n * PRICE.outputNanos;

  test.each([
    { what: "balance", settings: {}, creditNanos: 2n * holdNanos - 1n },
    { what: "budget", settings: { budget_day_nanos: String(2n * holdNanos - 1n) }, creditNanos: 10_000_000n },
  ])("of a $what is a 429 that passes by itself", async ({ settings, creditNanos }) => {
    const { id, secret } = await openAccount(creditNanos, settings);
    const leaving = new AbortController();
    const marker = `marker of ${id}`;
    const hanging = chat(script({ hang: true }), { max_tokens: 50, user: marker });
    const held = postChat(world.front, secret, hanging, { signal: leaving.signal }).catch(() => undefined);
    await world.upstream.waitFor((request) => request.raw.includes(marker));
    const refused = await postChat(world.front, secret, body);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.headers.get("x-should-retry")).toBe("true");
    const { error } = (await refused.json()) as { error: Json };
    expect(error).toMatchObject({ code: "balance_held", message: expect.stringContaining("Try again") });
    // What no ending call could pay is refused for good.
    const dear = await postChat(world.front, secret, chat(script({}), { max_tokens: 900 }), REFUSE_CLAMP);
    expect(dear.status).toBe(402);
    expect(dear.headers.get("x-should-retry")).toBe("false");
    leaving.abort();
    await held;
    await expect.poll(async () => (await world.management.balance(id)).heldNanos).toBe(0n);
    expect((await postChat(world.front, secret, body)).status).toBe(200);
  });
});

/** What is kept of streams for clients that may come back: a tenant who leaves very many pushes out nobody else's. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ALONE_MAX } from "../../../src/gateway/replay/bounds.js";
import { chat } from "../../support/chat-call.js";
import { startWorld, type World } from "../../support/world.js";

const QUIET = 3;
const AT_ONCE = 8;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

interface Kept {
  readonly id: string;
  readonly text: string;
}

/** A stream that was read to its end, and is kept all the same. */
async function leave(secret: string): Promise<Kept> {
  const response = await fetch(`${world.front.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", "x-tollgate-resumable": "1" },
    body: JSON.stringify(chat("Hello", { stream: true })),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return { id: response.headers.get("x-request-id") ?? "", text };
}

async function again({ id }: Kept, secret: string): Promise<Response> {
  return fetch(`${world.front.url}/v1/streams/${id}`, { headers: { authorization: `Bearer ${secret}` } });
}

test("another tenant's streams are kept beside those of one who leaves more than there is room for", async () => {
  await world.management.account("greedy", 100_000_000_000n);
  const greedy = (await world.management.makeKey("greedy")).secret;
  const quiet: Kept[] = [];
  for (let count = 0; count < QUIET; count += 1) quiet.push(await leave(world.secret));
  const first = await leave(greedy);
  const many: Kept[] = [];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (many.length < ALONE_MAX + QUIET) many.push(await leave(greedy));
    }),
  );
  // There was no room for all of them: the oldest of who has the most went.
  await expect.poll(async () => (await again(first, greedy)).status).toBe(410);
  expect((await again(many.at(-1) ?? first, greedy)).status).toBe(200);
  for (const kept of quiet) {
    const answer = await again(kept, world.secret);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(kept.text);
  }
});

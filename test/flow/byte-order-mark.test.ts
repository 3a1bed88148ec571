/** A byte order mark before a request is no part of it: the upstream gets the body behind it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorld, type World } from "../support/world.js";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

test("a request behind a byte order mark is answered as any other", async () => {
  const body = JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hello" }] });
  const response = await fetch(`${world.front.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.secret}`, "content-type": "application/json" },
    body: `\ufeff${body}`,
  });
  expect(response.status).toBe(200);
  await response.text();
});

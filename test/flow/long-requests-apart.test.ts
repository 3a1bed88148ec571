/** Long requests at a front end whose service is in another process: it keeps no loop of its own busy with them. */
import { expect, test } from "vitest";
import { script } from "../support/fake-upstream.js";
import { startWorld } from "../support/world.js";

const LONG_TEXT = "word ".repeat(400_000);

test("long requests of one wire are answered by a model of another, whole and streamed", async () => {
  const world = await startWorld("front end apart");
  const headers = { "x-api-key": world.secret, "anthropic-version": "2023-06-01", "content-type": "application/json" };
  for (const stream of [false, true]) {
    const messages = [
      { role: "user", content: LONG_TEXT },
      { role: "user", content: script({ text: "from afar" }) },
    ];
    const body = JSON.stringify({ model: "fake-1", max_tokens: 50, stream, messages });
    const answer = await fetch(`${world.front.url}/v1/messages`, { method: "POST", headers, body });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/from[^]*afar/)]);
  }
  const broken = `{"model":"fake-1","messages":[${" ".repeat(400_000)}`;
  const refused = await fetch(`${world.front.url}/v1/messages`, { method: "POST", headers, body: broken });
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("not valid JSON")]);
  await world.close();
});

/** A gateway that is suspended for 40 s amid its streams and a body: nothing is cut, and nobody is blamed. */
import { expect, test } from "vitest";
import { chat, deliveredText, postChat, readAll } from "../../support/chat-call.js";
import { script } from "../../support/fake-upstream.js";
import { allowTimeToFail } from "../../support/pauses.js";
import { RawClient, rawPost } from "../../support/raw-http.js";
import { startWorld } from "../../support/world.js";

const SUSPENDED_MS = 40_000;
const STREAMS = 20;
/** One every 100 ms: they go on for longer than the gateway stands. */
const WORDS = 600;

test("twenty streams, a body and a slow first word outlive a suspension", { timeout: 300_000 }, async () => {
  const world = await startWorld();
  const { front, secret } = world;
  const port = Number(new URL(front.url).port);
  const open = (more: object): Promise<Response> =>
    postChat(front, secret, chat(script({ words: WORDS, eventDelayMs: 100, ...more }), { stream: true }));
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => open({})));
  const reading = streams.map((response) => readAll(response));
  const late = open({ words: 3, headDelayMs: 20_000 });
  const body = JSON.stringify(chat("Hello"));
  const client = await RawClient.open(port);
  const whole = rawPost("/v1/chat/completions", body, { authorization: `Bearer ${secret}` });
  client.write(whole.slice(0, -10));
  await expect.poll(() => world.upstream.requests.length).toBe(STREAMS + 1);

  process.kill(front.pid, "SIGSTOP");
  await allowTimeToFail(1_000);
  client.write(whole.slice(-10));
  await allowTimeToFail(SUSPENDED_MS);
  process.kill(front.pid, "SIGCONT");

  await expect.poll(() => client.text).toContain("HTTP/1.1 200");
  client.socket.destroy();
  const texts = await Promise.all(reading);
  for (const text of texts) {
    expect(text).toContain("data: [DONE]");
    expect(deliveredText(text).split(" ").length).toBeGreaterThanOrEqual(WORDS);
  }
  expect(await readAll(await late)).toContain("data: [DONE]");
  const { body: listed } = await world.management.call("GET", "/upstreams");
  const fake = (listed["upstreams"] as { id: string; health: string }[]).find(({ id }) => id === "fake");
  expect(JSON.stringify(fake)).not.toMatch(/COOLING|cooling_ms":[1-9]/);
  await world.close();
});

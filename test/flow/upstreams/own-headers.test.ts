/** Headers of an upstream: it gets them with each request, and nothing that leaves the gateway shows them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import { startWorld, type World } from "../../support/world.js";

const SECRET = "blue-4f6c2d8a9b1e";

let world: World;

beforeAll(async () => {
  world = await startWorld();
  const address = `base_url: ${JSON.stringify(world.upstream.url)}, api_key: sk-own-0123456789`;
  world.core.writeSettings(
    [
      `upstreams:`,
      `  own: { family: openai-compatible, ${address}, headers: "X-Team: ${SECRET}" }`,
      `models:`,
      `  own: { targets: [{ upstream: own }], output_tokens_max: 1000, context_tokens: 100000, price: free }`,
      ``,
    ].join("\n"),
  );
  process.kill(world.core.pid, "SIGHUP");
  await world.core.logged("settings reloaded");
});
afterAll(() => world.close());

test("the upstream gets them beside the credential", async () => {
  expect((await postChat(world.front, world.secret, chat("Hi", { model: "own" }))).status).toBe(200);
  expect(world.upstream.requests.at(-1)?.headers).toMatchObject({
    authorization: "Bearer sk-own-0123456789",
    "x-team": SECRET,
  });
});

test("no answer of the gateway and no line of its log has them", async () => {
  const read = async (path: string): Promise<string> =>
    (await fetch(`${world.front.url}${path}`, { headers: { authorization: `Bearer ${OPERATOR_KEY}` } })).text();
  const [objects, upstreams] = [await read("/api/v1/settings/objects"), await read("/api/v1/upstreams")];
  expect(objects).toContain('"headers"');
  const echoed = await postChat(
    world.front,
    world.secret,
    chat(JSON.stringify({ fake: { status: 400, body: SECRET } }), { model: "own" }),
  );
  for (const text of [objects, upstreams, await echoed.text(), world.core.log.join("\n")])
    expect(text).not.toContain(SECRET);
});

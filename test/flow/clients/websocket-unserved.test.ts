/** Messages over a WebSocket that ask for what is not served: each is refused at once, by its own event. */
import type { BetaResponsesClientEvent } from "openai/resources/beta/responses/responses";
import type { ResponsesClientEvent } from "openai/resources/responses/responses";
import { afterAll, beforeAll, expect, test } from "vitest";
import { script } from "../../support/fake-upstream.js";
import { type ResponsesWorld, startResponsesWorld } from "../../support/responses-world.js";
import { SocketClient, textOf } from "../../support/websocket-client.js";

let world: ResponsesWorld;
beforeAll(async () => {
  world = await startResponsesWorld();
});
afterAll(() => world.close());

type Unserved = Exclude<(ResponsesClientEvent | BetaResponsesClientEvent)["type"], "response.create">;

/** Every event of the official client's types that is not served: one that the types gain does not compile here. */
const UNSERVED: Readonly<Record<Unserved, { readonly sends: object; readonly failed: object }>> = {
  "response.steer": {
    sends: { previous_response_id: "resp_1", input: "stop" },
    failed: {
      error: { type: "invalid_request_error", code: "steering_not_supported", message: expect.any(String) },
      steer: { previous_response_id: "resp_1", input: "stop" },
    },
  },
  "response.inject": {
    sends: { response_id: "resp_1", input: [{ type: "message", role: "user", content: "stop" }] },
    failed: {
      error: { code: "response_not_found", message: expect.any(String) },
      response_id: "resp_1",
      input: [{ type: "message", role: "user", content: "stop" }],
    },
  },
};

test.each(Object.entries(UNSERVED))(
  "a long %s waits for its turn, and is refused by its own event there",
  async (type, row) => {
    const client = await SocketClient.open(world.gateway.url, world.secret);
    const asked = script({ words: 3, held: `long ${type}` });
    client.webSocket.send(JSON.stringify({ type: "response.create", model: "fake-1", input: asked }));
    const input = "x".repeat(100_000);
    client.webSocket.send(JSON.stringify({ type, ...row.sends, input }));
    world.openai.release(`long ${type}`);
    expect((await client.answer()).at(-1)).toMatchObject({ type: "response.completed" });
    const refused = await client.until((event) => event["type"] === `${type}.failed`);
    expect(JSON.stringify(refused)).toContain(input);
    client.close();
  },
);

test("beyond the pace of their key they are looked at no more than others, and end the connection", async () => {
  const { secret } = await world.management.makeKey("acme");
  const client = await SocketClient.open(world.gateway.url, secret);
  const closed = new Promise<number>((resolve) => client.webSocket.once("close", resolve));
  const message = JSON.stringify({ type: "response.steer", previous_response_id: "resp_1", input: "stop" });
  for (let sent = 0; sent < 2_000; sent++) client.webSocket.send(message);
  expect(await closed).toBe(1008);
});

test.each(Object.entries(UNSERVED))("%s is refused by its own event while a response runs", async (type, row) => {
  const client = await SocketClient.open(world.gateway.url, world.secret);
  const asked = script({ words: 3, held: `unserved ${type}` });
  client.webSocket.send(JSON.stringify({ type: "response.create", model: "fake-1", input: asked }));
  client.webSocket.send(JSON.stringify({ type, ...row.sends }));
  const refused = await client.until((event) => event["type"] === `${type}.failed`);
  expect(refused).toMatchObject({ type: `${type}.failed`, sequence_number: 0, ...row.failed });
  world.openai.release(`unserved ${type}`);
  expect((await client.answer()).at(-1)).toMatchObject({ type: "response.completed" });
  expect(textOf(await client.ask({ model: "fake-1", input: script({ text: "ok" }) }))).toBe("ok");
  client.close();
});

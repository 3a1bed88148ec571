/** A WebSocket at a front end whose core is elsewhere: its key is watched over gRPC, and the core's stop closes it. */
import { expect, test } from "vitest";
import { script } from "../../support/fake-upstream.js";
import { SocketClient, textOf } from "../../support/websocket-client.js";
import { startWorld } from "../../support/world.js";

test("it answers, and closes when its key is revoked, and when the core stops", async () => {
  const world = await startWorld("front end apart");
  const { id, secret } = await world.management.makeKey("acme");
  const [ending, staying] = [
    await SocketClient.open(world.front.url, secret),
    await SocketClient.open(world.front.url, world.secret),
  ];
  expect(textOf(await ending.ask({ model: "fake-1", input: script({ text: "over gRPC" }) }))).toBe("over gRPC");
  await world.management.call("DELETE", `/keys/${id}`);
  expect(await ending.end()).toMatchObject({ code: 1008 });
  expect(ending.events.at(-1)).toMatchObject({ type: "error", status: 401 });
  expect(staying.closed).toBeUndefined();
  await world.core.stop();
  expect(await staying.end()).toMatchObject({ code: 1012 });
  await world.front.stop();
  await world.upstream.close();
});

/** A whole answer is cut where its reader takes nothing of it for too long, as a stream is; a slow reader gets it. */
import { once } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ListModelsResponse, Model, ModelServiceService } from "../../src/api/index.js";
import { startServer, type TestServer, until } from "../support/http-server.js";
import { RawClient, rawPost } from "../support/raw-http.js";

/** A slow reader takes several times the bound in all, which is 30 s, and never as long at once. */
const SECONDS = 75;
/** Far more than two sockets hold. */
const ANSWER = Buffer.alloc(24 * 1024 * 1024, "x");

let server: TestServer;
beforeEach(async () => {
  // Time passes for the server as the test says, and each second it looks for readers that take nothing.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  server = await startServer();
  server.channel.streamScript = (_request, sink) => {
    sink.head({ "tollgate-form": "whole" });
    sink.data({ source: ANSWER, events: [{ kind: { $case: "finish", value: FINISH } }] });
  };
  const id = "x".repeat(1024 * 1024);
  const models = Array.from({ length: 24 }, () => ({ ...Model.decode(new Uint8Array()), id }));
  const list = ListModelsResponse.encode({ models, nextPageToken: "", unpricedModels: [] }).finish();
  server.channel.unaryScripts.set(ModelServiceService.listModels.path, () => list);
});
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

const FINISH = { usage: undefined, usageSource: 0, costNanos: 1n };
const ASKS = [
  { name: "a whole answer of a model", ask: rawPost("/toy/a/say", "{}") },
  { name: "any other long answer", ask: "GET /v1/models HTTP/1.1\r\nhost: a\r\nauthorization: Bearer sk-good\r\n\r\n" },
];

async function ask(text: string): Promise<RawClient> {
  const client = await RawClient.open(server.port);
  client.socket.pause();
  client.write(text);
  return client;
}

test.each(ASKS)("$name that nobody reads is cut", async ({ ask: text }) => {
  const { socket } = await ask(text);
  await until(() => (vi.advanceTimersByTime(1_000), server.samples.length === 1), "the cut");
  socket.resume();
  await once(socket, "close");
  expect(socket.bytesRead).toBeLessThan(ANSWER.length);
});

test.each(ASKS)("$name that is read slowly comes whole", async ({ ask: text }) => {
  const { socket } = await ask(text);
  let due = 0;
  socket.on("data", () => socket.bytesRead >= due && socket.pause());
  for (let second = 1; second <= SECONDS; second++) {
    due = (second / SECONDS) * ANSWER.length;
    socket.resume();
    await until(() => socket.bytesRead >= due || socket.destroyed, "what comes in a second");
    vi.advanceTimersByTime(1_000);
  }
  due = Infinity;
  socket.resume();
  await until(() => socket.bytesRead > ANSWER.length || socket.destroyed, "the end");
  expect(socket.bytesRead).toBeGreaterThan(ANSWER.length);
  socket.destroy();
});

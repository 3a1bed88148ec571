/** A whole answer is cut where its reader takes nothing of it for too long, as a stream is; a slow reader gets it. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ListModelsResponse, Model, ModelServiceService } from "../../src/api/index.js";
import { startServer, type TestServer } from "../support/http-server.js";
import { RawClient, rawPost } from "../support/raw-http.js";

const BLOCKED_MS = 1_000;
/** Far more than two sockets hold. */
const ANSWER = Buffer.alloc(24 * 1024 * 1024, "x");

let server: TestServer;
beforeEach(async () => {
  server = await startServer({ blockedMsMax: BLOCKED_MS });
  server.channel.streamScript = (_request, sink) => {
    sink.head({ "tollgate-form": "whole" });
    sink.data({ source: ANSWER, events: [{ kind: { $case: "finish", value: FINISH } }] });
  };
  const id = "x".repeat(1024 * 1024);
  const models = Array.from({ length: 24 }, () => ({ ...Model.decode(new Uint8Array()), id }));
  const list = ListModelsResponse.encode({ models, nextPageToken: "" }).finish();
  server.channel.unaryScripts.set(ModelServiceService.listModels.path, () => list);
});
afterEach(() => server.close());

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
  await expect.poll(() => server.samples.length).toBe(1);
  socket.resume();
  await once(socket, "close");
  expect(socket.bytesRead).toBeLessThan(ANSWER.length);
});

test.each(ASKS)("$name that is read slowly comes whole", async ({ ask: text }) => {
  const { socket } = await ask(text);
  const startMs = performance.now();
  // Several times the bound in all, and never as long at once.
  const isAhead = (): boolean => socket.bytesRead / ANSWER.length > (performance.now() - startMs) / (2.5 * BLOCKED_MS);
  socket.on("data", () => isAhead() && socket.pause());
  while (socket.bytesRead < ANSWER.length && !socket.destroyed) {
    if (!isAhead()) socket.resume();
    await sleep(5);
  }
  expect(socket.bytesRead).toBeGreaterThan(ANSWER.length);
  socket.destroy();
});

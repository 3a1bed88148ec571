/** What is answered leaves together, once all is read that came in the same turn of the event loop. */
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { UsageSource } from "../../src/api/index.js";
import { writeAtEndOfTurn } from "../../src/http/end-of-turn.js";
import { startServer, until } from "../support/http-server.js";
import { RawClient, rawPost } from "../support/raw-http.js";

let server: Server;
let clients: Socket[];
beforeEach(async () => {
  clients = [];
  server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  for (const client of clients) client.destroy();
  server.close();
});

async function asked(): Promise<ServerResponse> {
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  clients.push(client);
  client.resume();
  client.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  const [, response] = (await once(server, "request")) as [unknown, ServerResponse];
  return response;
}

test("nothing is written in the turn itself, and all of it in order at its end", async () => {
  const responses = [await asked(), await asked(), await asked()];
  const order: number[] = [];
  responses.forEach((response, index) => {
    writeAtEndOfTurn(response, (one) => {
      order.push(index);
      one.end("answer");
    });
  });
  await Promise.resolve();
  expect(order).toEqual([]);
  await nextTurn();
  expect(order).toEqual([0, 1, 2]);
  expect(responses.every(({ writableEnded }) => writableEnded)).toBe(true);
});

test("an answer whose client left is not written, and one that cannot be written holds up no other", async () => {
  const [left, broken, good] = [await asked(), await asked(), await asked()];
  let isLeftWritten = false;
  writeAtEndOfTurn(left, () => (isLeftWritten = true));
  writeAtEndOfTurn(broken, () => {
    throw new Error("it cannot be written");
  });
  writeAtEndOfTurn(good, (one) => one.end("answer"));
  left.destroy();
  await nextTurn();
  expect(isLeftWritten).toBe(false);
  expect(broken.destroyed).toBe(true);
  expect(good.writableEnded).toBe(true);
});

test("answers of models that come in one turn leave at its end", async () => {
  const front = await startServer();
  const responses: ServerResponse[] = [];
  front.server.app.server.on("request", (_message, response: ServerResponse) => responses.push(response));
  const answers: (() => void)[] = [];
  const finish = { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n };
  front.channel.streamScript = (_request, sink) =>
    new Promise((resolve) => {
      answers.push(() => {
        sink.head({ "tollgate-form": "whole" });
        sink.data({ source: Buffer.from("{}"), events: [{ kind: { $case: "finish", value: finish } }] });
        resolve();
      });
    });
  const readers = [await RawClient.open(front.port), await RawClient.open(front.port)];
  for (const reader of readers) reader.write(rawPost("/toy/red/say", "toy-1 hello"));
  await until(() => answers.length === 2, "both calls run");
  for (const answer of answers) answer();
  expect(responses.map(({ headersSent, writableEnded }) => [headersSent, writableEnded])).toEqual([
    [true, false],
    [true, false],
  ]);
  for (const reader of readers) await until(() => reader.text.endsWith("\r\n\r\n{}"), "the answer");
  for (const reader of readers) reader.socket.destroy();
  await front.close();
});

test("events of streams that come in one turn leave at its end", async () => {
  const front = await startServer();
  const sockets: (Socket | null)[] = [];
  front.server.app.server.on("request", (_message, { socket }: ServerResponse) => sockets.push(socket));
  const tellers: ((text: string) => void)[] = [];
  front.channel.streamScript = (_request, sink) =>
    new Promise((resolve) => {
      sink.head({ "tollgate-form": "stream" });
      tellers.push((text) => {
        sink.data({ source: Buffer.from(text), events: [] });
        if (text === "last") resolve();
      });
    });
  const readers = [await RawClient.open(front.port), await RawClient.open(front.port)];
  for (const reader of readers) reader.write(rawPost("/toy/red/say", "toy-1 slowly"));
  await until(() => tellers.length === 2, "both streams run");
  for (const text of ["first ", "second "]) for (const tell of tellers) tell(text);
  expect(sockets.map((socket) => socket?.writableCorked)).toEqual([1, 1]);
  await nextTurn();
  expect(sockets.map((socket) => socket?.writableCorked)).toEqual([0, 0]);
  for (const tell of tellers) tell("last");
  for (const reader of readers) await until(() => reader.text.endsWith("0\r\n\r\n"), "the end");
  for (const reader of readers) expect(reader.text).toMatch(/first [^]*second [^]*last/);
  for (const reader of readers) reader.socket.destroy();
  await front.close();
});

/** What one stream may hold in its buffers: 256 KiB, whatever it is given at once and however slow its reader is. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HeartbeatTimer } from "../../src/http/heartbeat-timer.js";
import { StreamReply } from "../../src/http/stream-reply.js";

const MIB = 1024 * 1024;
const HELD_BYTES_MAX = 256 * 1024;

let server: ReturnType<typeof createServer>;
let client: Socket;
let response: ServerResponse;
let stream: StreamReply;
beforeEach(async () => {
  server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.pause();
  client.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  [, response] = await once(server, "request");
  const timer = new HeartbeatTimer(60_000, () => performance.now());
  stream = new StreamReply({ response, timer, heartbeat: Buffer.from(":\n"), blockedMsMax: 60_000 });
  stream.begin({ "x-request-id": "one" });
});
afterEach(() => {
  client.destroy();
  server.close();
});

/** All that came, without the framing. */
async function readAll(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  client.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    expect(response.writableLength).toBeLessThanOrEqual(HELD_BYTES_MAX);
  });
  client.resume();
  await once(client, "close");
  const all = Buffer.concat(chunks);
  const parts: Buffer[] = [];
  for (let at = all.indexOf("\r\n\r\n") + 4; ;) {
    const lineEnd = all.indexOf("\r\n", at);
    const bytes = Number.parseInt(all.toString("latin1", at, lineEnd), 16);
    if (bytes === 0) return Buffer.concat(parts);
    parts.push(all.subarray(lineEnd + 2, lineEnd + 2 + bytes));
    at = lineEnd + 2 + bytes + 2;
  }
}

function pattern(bytes: number, seed: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: bytes }, (_, index) => (index * 7 + seed * 31) % 251));
}

test.each([
  { name: "one batch of 8 MiB", batches: [8 * MIB] },
  { name: "many batches at once, of all sizes", batches: [10, 20_000, 300_000, 1, 5 * MIB, 128 * 1024, 64 * 1024] },
])("$name: never more than 256 KiB stand in its buffers, and all of it comes in order", async ({ batches }) => {
  const sent = batches.map(pattern);
  for (const batch of sent) {
    stream.write(batch);
    expect(response.writableLength).toBeLessThanOrEqual(HELD_BYTES_MAX);
  }
  const last = pattern(MIB, 99);
  stream.end(last);
  expect(response.writableLength).toBeLessThanOrEqual(HELD_BYTES_MAX);
  expect(Buffer.compare(await readAll(), Buffer.concat([...sent, last]))).toBe(0);
});

test("who pushes is told to wait until all of a long batch is on its way", async () => {
  let drained = 0;
  stream.onDrain(() => (drained += 1));
  expect(stream.write(pattern(8 * MIB, 1))).toBe(false);
  const reading = readAll();
  await expect.poll(() => drained).toBeGreaterThan(0);
  expect(response.writableLength).toBeLessThanOrEqual(HELD_BYTES_MAX);
  stream.end(Buffer.alloc(0));
  expect((await reading).length).toBe(8 * MIB);
});

/** JSON of the management API is compressed where the client takes gzip; short answers and model answers are not. */
import { gunzipSync } from "node:zlib";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ListKeysResponse, Key } from "../../src/api/index.js";
import { KEY, startServer, type TestServer } from "../support/http-server.js";

let it: TestServer;
let keyCount = 0;

beforeAll(async () => {
  it = await startServer();
  it.channel.unaryScripts.set("/tollgate.v1.KeyService/ListKeys", () => {
    const keys = Array.from({ length: keyCount }, (_, index) => ({
      ...Key.decode(new Uint8Array()),
      id: `key_${index}`,
    }));
    return ListKeysResponse.encode({ keys, nextPageToken: "" }).finish();
  });
});
afterAll(() => it.close());

interface Answer {
  readonly coding: unknown;
  readonly vary: unknown;
  readonly bytes: Buffer;
}

async function keysIn(accepted: string): Promise<Answer> {
  const headers = { ...KEY, "accept-encoding": accepted };
  const { statusCode, headers: sent, body } = await request(`${it.url}/api/v1/keys`, { headers });
  expect(statusCode).toBe(200);
  return { coding: sent["content-encoding"], vary: sent["vary"], bytes: Buffer.from(await body.arrayBuffer()) };
}

test("a long list is compressed, and says the same", async () => {
  keyCount = 200;
  const plain = await keysIn("identity");
  const packed = await keysIn("gzip, deflate, br");
  expect([plain.coding, packed.coding]).toEqual([undefined, "gzip"]);
  expect([plain.vary, packed.vary]).toEqual(["accept-encoding", "accept-encoding"]);
  expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
  expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 5);
});

test.each([
  { name: "a client that refuses gzip", count: 200, accepted: "gzip;q=0, identity" },
  { name: "a short answer", count: 1, accepted: "gzip" },
])("$name gets it plain", async ({ count, accepted }) => {
  keyCount = count;
  expect((await keysIn(accepted)).coding).toBeUndefined();
});

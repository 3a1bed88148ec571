/** Live streams end with their key or account, over HTTP, gRPC and the tunnel: in-band, and charged for what came. */
import type { Client, ServiceError } from "@grpc/grpc-js";
import { Metadata, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, deliveredText, postChat } from "../../support/chat-call.js";
import { clientOf, type DynamicStream } from "../../support/dynamic-client.js";
import { script } from "../../support/fake-upstream.js";
import { RawClient, rawPost } from "../../support/raw-http.js";
import { startWorld, type Topology, TOPOLOGIES, type World } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

const WORDS = 400;
const SLOW = { words: WORDS, eventDelayMs: 40 };
let accounts = 0;

interface Stream {
  readonly requestId: string;
  /** All that came until it ended. */
  readonly rest: Promise<string>;
}

interface Case {
  readonly name: string;
  readonly key?: Json;
  readonly act: (world: World, account: string, key: { id: string; secret: string }) => Promise<{ status: number }>;
  readonly ends?: RegExp;
  /** What the next request is refused with. */
  readonly next: number;
  readonly headers?: Record<string, string>;
}

const revoke: Case["act"] = (world, _account, { id }) => world.management.call("DELETE", `/keys/${id}`);
const freeze =
  (endStreams: boolean): Case["act"] =>
  (world, account) =>
    world.management.call("POST", `/accounts/${account}:freeze`, { reason: "chargeback", end_streams: endStreams });
const expire: Case["act"] = (world, _account, { id }) =>
  world.management.call("PATCH", `/keys/${id}`, {
    settings: { expire_time: new Date(Date.now() + 1_000).toISOString() },
    update_mask: "expire_time",
  });

const CASES: readonly Case[] = [
  { name: "end when the key is revoked, by default", act: revoke, ends: /was revoked/, next: 401 },
  {
    name: "end when the key is revoked, though a retry could come back for the answer",
    headers: { "x-stainless-retry-count": "0" },
    act: revoke,
    ends: /was revoked/,
    next: 401,
  },
  {
    name: "end when the key is revoked, though the answer is kept by its Idempotency-Key",
    headers: { "idempotency-key": "kept-for-later" },
    act: revoke,
    ends: /was revoked/,
    next: 401,
  },
  { name: "finish where the key says so", key: { end_streams_on_revoke: false }, act: revoke, next: 401 },
  { name: "end when the account is frozen so", act: freeze(true), ends: /is frozen: chargeback/, next: 403 },
  { name: "finish when the account is frozen otherwise", act: freeze(false), next: 403 },
  {
    name: "end when the key expires and says so",
    key: { end_streams_on_expiry: true },
    act: expire,
    ends: /expired at/,
    next: 401,
  },
];

async function open(world: World, secret: string, words: number, headers: Case["headers"] = {}): Promise<Stream> {
  const body = chat(script({ ...SLOW, words }), { stream: true });
  const response = await postChat(world.front, secret, body, { headers });
  expect(response.status).toBe(200);
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  const { value } = await reader.read();
  let text = decoder.decode(value, { stream: true });
  const rest = (async () => {
    for (;;) {
      const next = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (next.done) return text;
      text += decoder.decode(next.value as Uint8Array, { stream: true });
    }
  })();
  return { requestId: response.headers.get("x-request-id") ?? "", rest };
}

describe.each(TOPOLOGIES.map((topology) => ({ topology })))("live streams, $topology", ({ topology }) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(topology as Topology);
  });
  afterAll(() => world.close());

  test.concurrent.for(CASES)("$name", async ({ key, act, ends, next, headers }, { expect }) => {
    const account = `live${(accounts += 1)}-${topology.length}`;
    await world.management.account(account, 1_000_000_000n);
    const made = await world.management.makeKey(account, { ...key });
    // What may finish is short, and what must end would run for long.
    const words = ends === undefined ? 20 : WORDS;
    const { requestId, rest } = await open(world, made.secret, words, headers);
    expect((await act(world, account, made)).status).toBe(200);
    const text = await rest;
    if (ends === undefined) expect(text).toContain("[DONE]");
    else {
      expect(text).toMatch(ends);
      expect(text).not.toContain("[DONE]");
      expect(deliveredText(text).split(" ").length).toBeLessThan(WORDS);
    }
    expect((await postChat(world.front, made.secret, chat("Hello"))).status).toBe(next);
    const receipt = async (): Promise<Json> =>
      (await world.management.call("GET", `/requests/${requestId}`)).body["request"] as Json;
    await expect.poll(async () => (await receipt())["state"]).toBe("settled");
    const { charged_nanos: charged, hold_nanos: hold } = await receipt();
    expect(BigInt(String(charged))).toBeGreaterThan(0n);
    expect(BigInt(String(charged))).toBeLessThan(BigInt(String(hold)));
    expect(await world.management.balance(account)).toMatchObject({ heldNanos: 0n });
  });

  test("a request whose body comes after the revocation is refused", async () => {
    const account = `late-${topology.length}`;
    await world.management.account(account, 1_000_000_000n);
    const made = await world.management.makeKey(account);
    expect((await postChat(world.front, made.secret, chat("Hello"))).status).toBe(200);
    const client = await RawClient.open(Number(new URL(world.front.url).port));
    const body = JSON.stringify(chat("Hello"));
    const headers = { authorization: `Bearer ${made.secret}`, expect: "100-continue", connection: "close" };
    client.write(rawPost("/v1/chat/completions", body, headers).slice(0, -body.length));
    // The headers were looked at before the client is told to go on.
    await expect.poll(() => client.text).toContain("100 Continue");
    await revoke(world, account, made);
    client.write(body);
    await expect.poll(() => client.closed).toBe(true);
    expect(client.text).toMatch(/HTTP\/1.1 401 [^]*was revoked/);
  });

  test("a key that a key made ends its streams with its maker, where the maker says so", async () => {
    const account = `made-${topology.length}`;
    await world.management.account(account, 1_000_000_000n);
    const scopes = ["chat", "keys"];
    const maker = await world.management.makeKey(account, { scopes, children_end_with_it: true });
    const made = await fetch(`${world.front.url}/api/v1/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${maker.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ settings: { scopes: ["chat"] } }),
    });
    const { secret } = (await made.json()) as { secret: string };
    const { rest } = await open(world, secret, WORDS);
    await revoke(world, account, maker);
    expect(await rest).toMatch(/was revoked/);
    expect((await postChat(world.front, secret, chat("Hello"))).status).toBe(401);
  });

  test("an account that is unfrozen is served again, and the ledger holds", async () => {
    const account = `thaw-${topology.length}`;
    await world.management.account(account, 1_000_000_000n);
    const { secret } = await world.management.makeKey(account);
    await freeze(false)(world, account, { id: "", secret });
    const refused = await postChat(world.front, secret, chat("Hello"));
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([403, "false"]);
    const { body } = await world.management.call("GET", `/accounts/${account}`);
    expect(body["account"]).toMatchObject({ freeze: { reason: "chargeback", end_streams: false } });
    await world.management.verify();
    expect((await world.management.call("POST", `/accounts/${account}:unfreeze`, {})).status).toBe(200);
    expect((await postChat(world.front, secret, chat("Hello"))).status).toBe(200);
    await world.management.verify();
  });

  test("over gRPC a stream ends with its status when its key is revoked", async () => {
    const account = `grpc-${topology.length}`;
    await world.management.account(account, 1_000_000_000n);
    const made = await world.management.makeKey(account);
    const client: Client = clientOf("tollgate.v1.InferenceService", world.core.grpc);
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${made.secret}`);
    const method: (request: object, metadata: Metadata) => DynamicStream = Reflect.get(client, "StreamGenerate");
    const parts = [{ text: { text: script(SLOW) } }];
    const prompt = { messages: [{ role: "ROLE_USER", parts }] };
    const call = method.call(client, { generation: { model: "fake-1", prompt } }, metadata);
    const error = await new Promise<ServiceError>((resolve) => {
      let told = false;
      call.on("data", () => {
        if (!told) void revoke(world, account, made);
        told = true;
      });
      call.on("error", resolve);
    });
    client.close();
    expect([error.code, error.details]).toEqual([status.UNAUTHENTICATED, expect.stringMatching(/was revoked/)]);
  });
});

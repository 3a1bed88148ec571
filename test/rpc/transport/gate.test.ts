/** What stands before a gRPC message: the key comes first, and neither bytes nor time are given to who has none. */
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { once } from "node:events";
import { status } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ByteBudget } from "../../../src/base/bytes/byte-budget.js";
import { InferenceServiceService } from "../../../src/api/index.js";
import { createRemoteChannel } from "../../../src/rpc/transport/remote-channel.js";
import type { GrpcServerOptions } from "../../../src/rpc/transport/server.js";
import { TrustedProxies } from "../../../src/keys/proxies.js";
import { type Running, serve } from "../dynamic-client.js";
import { withKey } from "../edges.js";
import { openCore, type OpenCore } from "../open-core.js";

const MIB = 1024 * 1024;
const PATH = "/tollgate.v1.InferenceService/Generate";
const PREFIX_BYTES = 5;

let core: OpenCore;
let secret = "";
let running: Running;
const sessions: ClientHttp2Session[] = [];
beforeEach(async () => {
  core = await openCore();
  ({ secret } = await core.makeKey("acme"));
});
afterEach(async () => {
  vi.useRealTimers();
  for (const session of sessions.splice(0)) session.destroy();
  await running.drain(0);
  await core.close();
});

/** From now on time passes as the test says. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
}

async function start(options: Partial<GrpcServerOptions> = {}): Promise<void> {
  running = await serve(core, options);
}

function open(): ClientHttp2Session {
  const session = connect(`http://${running.address}`);
  session.on("error", () => undefined);
  sessions.push(session);
  return session;
}

/** Begins a call whose message is said to have so many bytes, and sends some of them. */
function begin(
  session: ClientHttp2Session,
  key: string | undefined,
  saysBytes: number,
  sent: Buffer,
): ClientHttp2Stream {
  const headers = { ":method": "POST", ":path": PATH, "content-type": "application/grpc+proto", te: "trailers" };
  const stream = session.request({ ...headers, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) });
  stream.on("error", () => undefined);
  stream.resume();
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(saysBytes, 1);
  stream.write(prefix);
  if (sent.length > 0) stream.write(sent);
  return stream;
}

async function statusOf(stream: ClientHttp2Stream): Promise<number> {
  const [headers] = await once(stream, "response");
  if (headers["grpc-status"] !== undefined) return Number(headers["grpc-status"]);
  const [trailers] = await once(stream, "trailers");
  return Number(trailers["grpc-status"]);
}

test.each([
  { name: "no key", key: undefined },
  { name: "an unknown key", key: `sk-${"0".repeat(40)}` },
])("with $name a call ends before its message is there, and its connection soon after", async ({ key }) => {
  stopClock();
  await start();
  const session = open();
  expect(await statusOf(begin(session, key, 30 * MIB, Buffer.alloc(1024)))).toBe(status.UNAUTHENTICATED);
  await expect.poll(() => (vi.advanceTimersByTime(1_000), session.destroyed)).toBe(true);
});

test("a connection that says nothing is cut, and one that showed a key is not", async () => {
  stopClock();
  await start();
  const channel = createRemoteChannel({ address: running.address });
  const model = { generation: { model: "echo", input: undefined, outputTokensMax: undefined, clamp: false } };
  const ask = () => channel.unary(InferenceServiceService.generate, { ...model, acceptWire: "" }, withKey(secret));
  await ask();
  const session = open();
  await expect.poll(() => (vi.advanceTimersByTime(1_000), session.destroyed)).toBe(true);
  await ask();
  await channel.close();
});

test("of connections without a key only so many are kept, and the newest is among them", async () => {
  await start({ connections: { unauthenticatedMax: 2 } });
  const [first, second, third] = [open(), open(), open()];
  await once(first!, "close");
  expect([second!.destroyed, third!.destroyed]).toEqual([false, false]);
});

test("a message that does not come is given up, and its connection with it", async () => {
  await start({ connections: { unauthenticatedMs: 2_000 } });
  const session = open();
  const stream = begin(session, secret, MIB, Buffer.alloc(1024));
  expect(await statusOf(stream)).toBe(status.INVALID_ARGUMENT);
  if (!session.destroyed) await once(session, "close");
});

test("messages that are half there count against the key's memory, and are cut above it", async () => {
  const bodies = new ByteBudget(64 * MIB);
  await start({ bodies });
  const halves = Array.from({ length: 7 }, () => begin(open(), secret, 8 * MIB, Buffer.alloc(7 * MIB)));
  const codes = await Promise.race(halves.map(statusOf));
  expect(codes).toBe(status.RESOURCE_EXHAUSTED);
  for (const session of sessions) session.destroy();
  await expect.poll(() => bodies.used).toBe(0);
});

test("a message gives its room back when its call has its answer", async () => {
  const bodies = new ByteBudget(64 * MIB);
  await start({ bodies });
  const channel = createRemoteChannel({ address: running.address });
  const arrived = core.gateway.nextCall();
  const source = { wire: "openai-chat", body: Buffer.alloc(MIB), headers: {} };
  const input = { $case: "source" as const, value: source };
  const generation = { model: "hang", input, outputTokensMax: undefined, clamp: false };
  const gone = new AbortController();
  const options = withKey(secret, { signal: gone.signal });
  const asked = channel
    .unary(InferenceServiceService.generate, { generation, acceptWire: "" }, options)
    .catch(() => undefined);
  await arrived;
  expect(bodies.used).toBeGreaterThanOrEqual(MIB);
  gone.abort();
  await asked;
  await expect.poll(() => bodies.used).toBe(0);
  await channel.close();
});

test("a key is authenticated once a call", async () => {
  const seen: unknown[] = [];
  const { keys } = core.parts;
  const authenticate = keys.authenticate.bind(keys);
  keys.authenticate = (given) => {
    seen.push(given);
    return authenticate(given);
  };
  await start();
  const channel = createRemoteChannel({ address: running.address });
  const generation = { model: "echo", input: undefined, outputTokensMax: undefined, clamp: false };
  await channel.unary(InferenceServiceService.generate, { generation, acceptWire: "" }, withKey(secret));
  expect(seen).toEqual([secret]);
  await channel.close();
});

test.each([
  { name: "behind a trusted proxy", proxies: ["127.0.0.0/8"], code: undefined },
  { name: "without one", proxies: [], code: "ERROR_REASON_ADDRESS_NOT_ALLOWED" },
])("$name an allow-list reads the forwarded address", async ({ proxies, code }) => {
  await core.close();
  core = await openCore({ proxies: proxies.length === 0 ? undefined : new TrustedProxies(proxies) });
  const key = await core.makeKey("acme", { addresses: ["203.0.113.0/24"] });
  await start();
  const channel = createRemoteChannel({ address: running.address });
  const generation = { model: "echo", input: undefined, outputTokensMax: undefined, clamp: false };
  const options = withKey(key.secret, { metadata: { "x-forwarded-for": "198.51.100.1, 203.0.113.9" } });
  const asked = channel.unary(InferenceServiceService.generate, { generation, acceptWire: "" }, options);
  if (code === undefined) await asked;
  else await expect(asked).rejects.toMatchObject({ reason: code });
  await channel.close();
});

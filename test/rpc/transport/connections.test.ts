/** Who may connect to the gRPC port: so many in all and from one address, with TLS and without, and for how long. */
import { once } from "node:events";
import { connect, type ClientHttp2Session, type SecureClientSessionOptions } from "node:http2";
import { connect as connectTcp } from "node:net";
import { status } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ListenerOptions } from "../../../src/rpc/transport/listener.js";
import { makeCertificate } from "../../support/certificate.js";
import { type Running, serve } from "../dynamic-client.js";
import { openCore, type OpenCore } from "../open-core.js";

const PATH = "/tollgate.v1.InferenceService/Generate";
const PREFIX_BYTES = 5;
const tls = makeCertificate("localhost");

let core: OpenCore;
let running: Running;
const sessions: ClientHttp2Session[] = [];
beforeEach(async () => {
  core = await openCore();
});
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await running.drain(0);
  await core.close();
});

async function start(connections: ListenerOptions): Promise<void> {
  running = await serve(core, { connections });
}

/** Opens one, as a client of this port does. */
function open(isSecure = false): ClientHttp2Session {
  const options: SecureClientSessionOptions = { ca: tls.cert, servername: "localhost" };
  const session = connect(`${isSecure ? "https" : "http"}://${running.address}`, options);
  session.on("error", () => undefined);
  sessions.push(session);
  return session;
}

/** True where it is served: the port says what it takes. False where it is closed before that. */
async function isServed(session: ClientHttp2Session): Promise<boolean> {
  const served = new Promise<boolean>((resolve) => session.once("remoteSettings", () => resolve(true)));
  return Promise.race([served, new Promise<boolean>((resolve) => session.once("close", () => resolve(false)))]);
}

/** How many of so many connections, opened at once, are served. */
async function servedOf(count: number, isSecure: boolean): Promise<number> {
  const opened = Array.from({ length: count }, () => open(isSecure));
  const answers = await Promise.all(opened.map(isServed));
  return answers.filter(Boolean).length;
}

describe.each([
  { name: "without TLS", isSecure: false },
  { name: "with TLS", isSecure: true },
])("$name", ({ isSecure }) => {
  const speaks = isSecure ? { tls } : {};

  test("of one address only so many connections are taken, and another when one of them is gone", async () => {
    await start({ ...speaks, connectionsPerAddressMax: 2 });
    expect(await servedOf(3, isSecure)).toBe(2);
    for (const session of sessions) if (!session.destroyed) session.destroy();
    await expect.poll(() => isServed(open(isSecure))).toBe(true);
  });

  test("of a proxy's address any number is taken, and of another's not", async () => {
    await start({ ...speaks, connectionsPerAddressMax: 2, isProxy: (address) => address === "127.0.0.1" });
    expect(await servedOf(4, isSecure)).toBe(4);
    await running.drain(0);
    await start({ ...speaks, connectionsPerAddressMax: 2, isProxy: (address) => address !== "127.0.0.1" });
    expect(await servedOf(4, isSecure)).toBe(2);
  });

  test("in all only so many connections are taken, a proxy's too", async () => {
    await start({ ...speaks, connectionsMax: 2, connectionsPerAddressMax: 100, isProxy: () => true });
    expect(await servedOf(4, isSecure)).toBe(2);
  });
});

test("a connection that begins no TLS counts for its address, and is cut", async () => {
  await start({ tls, unauthenticatedMs: 3_000, connectionsPerAddressMax: 1 });
  const silent = connectTcp(Number(running.address.split(":").at(-1)), "127.0.0.1");
  silent.on("error", () => undefined).resume();
  await once(silent, "connect");
  expect(await isServed(open(true))).toBe(false);
  await once(silent, "close");
  await expect.poll(() => isServed(open(true))).toBe(true);
});

describe("by default", () => {
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
    });
  });
  afterEach(() => void vi.useRealTimers());

  /** True while the port answers on this connection. */
  const lives = (session: ClientHttp2Session): Promise<boolean> =>
    new Promise((resolve) => {
      if (session.destroyed) return resolve(false);
      session.once("close", () => resolve(false));
      session.ping((error) => resolve(error === null));
    });

  test("a connection may show no key for 15 s", async () => {
    await start({});
    const session = open();
    expect(await isServed(session)).toBe(true);
    vi.advanceTimersByTime(14_000);
    expect(await lives(session)).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect(await lives(session)).toBe(false);
  });

  test("a message may stand still for 15 s", async () => {
    const { secret } = await core.makeKey("acme");
    const authenticate = vi.spyOn(core.parts.keys, "authenticate");
    await start({});
    const session = open();
    const headers = { ":method": "POST", ":path": PATH, "content-type": "application/grpc+proto", te: "trailers" };
    const stream = session.request({ ...headers, authorization: `Bearer ${secret}` });
    stream.on("error", () => undefined).resume();
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.writeUInt32BE(1_000, 1);
    stream.write(prefix);
    await expect.poll(() => authenticate.mock.calls.length).toBe(1);
    await authenticate.mock.results[0]?.value;
    expect(await lives(session)).toBe(true);
    const codes: number[] = [];
    stream.on("response", (head) => codes.push(Number(head["grpc-status"])));
    vi.advanceTimersByTime(14_900);
    expect(await lives(session)).toBe(true);
    expect(codes).toEqual([]);
    // With each answer to a ping comes what was told before it.
    for (let waitedMs = 0; codes.length === 0 && waitedMs < 1_000; waitedMs += 20) {
      vi.advanceTimersByTime(20);
      await lives(session);
    }
    expect(codes).toEqual([status.INVALID_ARGUMENT]);
  });
});

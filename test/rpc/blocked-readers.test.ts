/** A reader that takes nothing for too long is cut over gRPC and through tunnels, as over HTTP; a slow one is not. */
import { once } from "node:events";
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StreamGenerateRequest, TunnelFrameKind } from "../../src/api/index.js";
import { BlockedReaders } from "../../src/rpc/blocked-readers.js";
import { type Running, serve } from "./dynamic-client.js";
import { FRONT_TOKEN, openCore, type OpenCore } from "./open-core.js";
import { FLOOD_COUNT } from "./steered-gateway.js";
import { HandTunnel } from "./tunnel-peer.js";

const PATH = "/tollgate.v1.InferenceService/StreamGenerate";
const BLOCKED_MS = 1_500;
const FLOOD = StreamGenerateRequest.encode({
  generation: { model: "flood", input: undefined, outputTokensMax: undefined, clamp: undefined },
  acceptWire: "",
}).finish();

let core: OpenCore;
let running: Running;
let secret = "";
const sessions: ClientHttp2Session[] = [];
beforeEach(async () => {
  core = await openCore();
  ({ secret } = await core.makeKey("acme"));
  running = await serve(core, { blockedMsMax: BLOCKED_MS });
});
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await running.drain(0);
  await core.close();
});

function open(): ClientHttp2Session {
  const session = connect(`http://${running.address}`);
  session.on("error", () => undefined);
  sessions.push(session);
  return session;
}

/** A stream that answers far more than its reader's window, and is not read. */
function flood(session: ClientHttp2Session): ClientHttp2Stream {
  const authorization = `Bearer ${secret}`;
  const headers = { ":method": "POST", ":path": PATH, "content-type": "application/grpc+proto", te: "trailers" };
  const stream = session.request({ ...headers, authorization });
  stream.on("error", () => undefined);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(FLOOD.length, 1);
  stream.end(Buffer.concat([prefix, FLOOD]));
  return stream;
}

test("a gRPC stream that nobody reads ends its call, and its connection where nothing else runs there", async () => {
  const session = open();
  flood(session);
  const { signal } = await core.gateway.nextCall();
  await expect.poll(() => signal.aborted).toBe(true);
  expect(core.gateway.pushedCount).toBeLessThan(20);
  if (!session.destroyed) await once(session, "close");
});

test("a gRPC stream that is read slowly goes on to its end", async () => {
  const stream = flood(open());
  const { signal } = await core.gateway.nextCall();
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += (chunk as Buffer).length;
    // Many times the bound in all, and never as long at once.
    if (bytes < 2 * 1024 * 1024) await sleep(30);
  }
  expect(signal.aborted).toBe(false);
  expect(core.gateway.pushedCount).toBe(FLOOD_COUNT);
});

test("a call through a tunnel whose front end takes nothing is ended, and the tunnel goes on", async () => {
  const hand = new HandTunnel(running.address, FRONT_TOKEN);
  const head = (callId: number, windowBytes: number) => ({
    callId,
    kind: TunnelFrameKind.TUNNEL_FRAME_KIND_HEAD,
    method: PATH,
    headers: `authorization:Bearer ${secret}\n`,
    data: Buffer.from(FLOOD),
    windowBytes,
  });
  hand.send(head(1, 100_000));
  const { signal } = await core.gateway.nextCall();
  await expect.poll(() => signal.aborted).toBe(true);
  const isError = ({ kind }: { kind: TunnelFrameKind }): boolean => kind === TunnelFrameKind.TUNNEL_FRAME_KIND_ERROR;
  await hand.until((frames) => frames.some(isError));
  hand.send(head(2, 100_000));
  expect((await core.gateway.nextCall()).signal.aborted).toBe(false);
  hand.close();
});

test("only those are cut that took nothing for the whole time, the longest first", async () => {
  const readers = new BlockedReaders(200);
  const cut: string[] = [];
  const reader = (name: string) => ({ cut: () => void cut.push(name) });
  const [stuck, slow, later] = [reader("stuck"), reader("slow"), reader("later")];
  readers.behind(stuck);
  readers.behind(slow);
  const steps = setInterval(() => {
    readers.moved(slow);
    readers.behind(slow);
  }, 20);
  await sleep(100);
  readers.behind(later);
  await expect.poll(() => cut).toEqual(["stuck", "later"]);
  clearInterval(steps);
  readers.moved(slow);
  expect(readers.size).toBe(0);
});

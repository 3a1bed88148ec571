/** A reader that takes nothing for too long is cut over gRPC and through tunnels, as over HTTP; a slow one is not. */
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StreamGenerateRequest, TunnelFrameKind } from "../../../src/api/index.js";
import { BlockedReaders } from "../../../src/rpc/transport/blocked-readers.js";
import { type Running, serve } from "../dynamic-client.js";
import { FRONT_TOKEN, openCore, type OpenCore } from "../open-core.js";
import { FLOOD_COUNT } from "../steered-gateway.js";
import { HandTunnel } from "../tunnel-peer.js";

const PATH = "/tollgate.v1.InferenceService/StreamGenerate";
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
  // Time passes as the tests say: a reader may take nothing for 30 s.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  running = await serve(core);
});
afterEach(async () => {
  vi.useRealTimers();
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
  await expect.poll(() => (vi.advanceTimersByTime(5_000), signal.aborted)).toBe(true);
  expect(core.gateway.pushedCount).toBeLessThan(20);
  await expect.poll(() => (vi.advanceTimersByTime(5_000), session.destroyed)).toBe(true);
});

test("a gRPC stream that is read slowly goes on to its end", async () => {
  const stream = flood(open());
  const { signal } = await core.gateway.nextCall();
  const begunMs = performance.now();
  // Many times the bound in all, and never as long at once.
  for await (const _ of stream) vi.advanceTimersByTime(250);
  expect(performance.now() - begunMs).toBeGreaterThan(300_000);
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
  await expect.poll(() => (vi.advanceTimersByTime(5_000), signal.aborted)).toBe(true);
  const isError = ({ kind }: { kind: TunnelFrameKind }): boolean => kind === TunnelFrameKind.TUNNEL_FRAME_KIND_ERROR;
  await hand.until((frames) => frames.some(isError));
  hand.send(head(2, 100_000));
  expect((await core.gateway.nextCall()).signal.aborted).toBe(false);
  hand.close();
});

test("only those are cut that took nothing for the whole time, the longest first", () => {
  const readers = new BlockedReaders(200);
  const cut: string[] = [];
  const reader = (name: string) => ({ cut: () => void cut.push(name) });
  const [stuck, slow, later] = [reader("stuck"), reader("slow"), reader("later")];
  const pass = (ms: number): void => {
    for (let passedMs = 0; passedMs < ms; passedMs += 20) {
      readers.moved(slow);
      readers.behind(slow);
      vi.advanceTimersByTime(20);
    }
  };
  readers.behind(stuck);
  pass(100);
  readers.behind(later);
  pass(80);
  expect(cut).toEqual([]);
  pass(40);
  expect(cut).toEqual(["stuck"]);
  pass(200);
  expect(cut).toEqual(["stuck", "later"]);
  readers.moved(slow);
  expect(readers.size).toBe(0);
});

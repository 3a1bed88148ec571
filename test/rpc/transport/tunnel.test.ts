/** The tunnel beyond what every channel must hold: many calls over one connection, its loss, its refusal, its rules. */
import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { Server, type ServerDuplexStream, ServerCredentials, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Channel } from "../../../src/api/channel.js";
import {
  InferenceServiceService,
  KeyServiceService,
  type StreamGenerateResponse,
  type TunnelFrame,
  TunnelFrameKind,
  type TunnelRequest,
  type TunnelResponse,
  TunnelServiceService,
} from "../../../src/api/index.js";
import type { GatewayError } from "../../../src/base/errors.js";
import type { ServerCall } from "../../../src/rpc/call/server-call.js";
import { createRemoteChannel, type RemoteChannelOptions } from "../../../src/rpc/transport/remote-channel.js";
import { createGrpcServer, type GrpcServer } from "../../../src/rpc/transport/server.js";
import { KeepingSink, withKey } from "../edges.js";
import { FRONT_TOKEN, openCore, type OpenCore } from "../open-core.js";
import { FLOOD_COUNT } from "../steered-gateway.js";
import { frameWith, HandTunnel, opening, untilTunnelled, watched, Wire } from "../tunnel-peer.js";
import { bySweep } from "../../support/sweep.js";

const { generate, streamGenerate } = InferenceServiceService;
const KIND = TunnelFrameKind;
const UNREACHABLE = { reason: "ERROR_REASON_OVERLOADED", metadata: { problem: "the core cannot be reached" } };

function asking(model: string, body = Buffer.alloc(0)) {
  const source = { wire: "openai-chat", body, headers: {} };
  const input = { $case: "source" as const, value: source };
  return { generation: { model, input, outputTokensMax: undefined, clamp: false }, acceptWire: "" };
}

const refusalOf = (work: Promise<unknown>): Promise<GatewayError> =>
  work.then(
    () => undefined,
    (error) => error,
  );

let core: OpenCore;
let secret = "";
let server: GrpcServer;
let port = 0;
const calls: ServerCall[] = [];
const channels: Channel[] = [];

beforeAll(async () => {
  core = await openCore();
  ({ secret } = await core.makeKey("acme"));
  // Thousands of calls begin at once in one process: none is too slow here.
  const connections = { unauthenticatedMs: 600_000 };
  server = createGrpcServer({ dispatcher: watched(core.dispatcher, calls), connections });
  ({ port } = await server.listen("127.0.0.1:0"));
});
afterAll(async () => {
  for (const channel of channels) await channel.close();
  await server.drain(0);
  await core.close();
});

function open(options: Partial<RemoteChannelOptions> = {}): Channel {
  const channel = createRemoteChannel({ address: `127.0.0.1:${port}`, frontToken: FRONT_TOKEN, ...options });
  channels.push(channel);
  return channel;
}

const ROUNDS = bySweep({ short: 5, long: 20, all: 20 });
/** More than one connection takes, or two. */
const MANY = bySweep({ short: 1_200, long: 2_500, all: 2_500 });

describe("many calls over one tunnel", () => {
  test("1,000 that run at once, whole and streamed, each get their own answer", async () => {
    const channel = open({ tunnelsMax: 1 });
    await untilTunnelled(channel, calls, secret);
    const before = calls.length;
    const answers = Array.from({ length: 1_000 }, async (_, i) => {
      const body = randomBytes((i * 37) % 3_000);
      if (i % 2 === 0) {
        const { message } = await channel.unary(generate, asking("echo", body), withKey(secret));
        return Buffer.compare(message.source, body);
      }
      const sink = new KeepingSink<StreamGenerateResponse>();
      await channel.stream(streamGenerate, asking("echo", body), withKey(secret), sink);
      return Buffer.compare(sink.messages[0]?.source ?? Buffer.from("none"), body);
    });
    expect(new Set(await Promise.all(answers))).toEqual(new Set([0]));
    expect(calls.length - before).toBe(1_000);
    // Only what comes through a tunnel has metadata that is believed.
    expect(calls.slice(before).every(({ local }) => local)).toBe(true);
  });

  test("a reader that takes nothing holds up neither the others nor the memory", async () => {
    const channel = open({ tunnelsMax: 1 });
    await untilTunnelled(channel, calls, secret);
    const slow = new KeepingSink<StreamGenerateResponse>(1);
    const ended = channel.stream(streamGenerate, asking("flood"), withKey(secret), slow);
    await slow.reached(1);
    const body = randomBytes(2 * 1024 * 1024);
    for (let i = 0; i < ROUNDS; i++) {
      const { message } = await channel.unary(generate, asking("echo", body), withKey(secret));
      expect(Buffer.compare(message.source, body)).toBe(0);
    }
    expect(slow.messages).toHaveLength(1);
    expect(core.gateway.pushedCount).toBeLessThan(20);
    slow.drain(Number.POSITIVE_INFINITY);
    await ended;
    expect(slow.messages).toHaveLength(FLOOD_COUNT);
  });

  test.each([
    { name: "over tunnels", frontToken: FRONT_TOKEN },
    { name: "each by itself", frontToken: undefined },
  ])(
    "more than the 1,000 that one connection takes run at once, $name",
    { timeout: 600_000 },
    async ({ frontToken }) => {
      const channel = open({ frontToken });
      const gone = new AbortController();
      setMaxListeners(0, gone.signal);
      const before = core.gateway.calls.length;
      const sinks = Array.from({ length: MANY }, () => new KeepingSink<StreamGenerateResponse>());
      const options = withKey(secret, { signal: gone.signal });
      const ended = sinks.map((sink) =>
        refusalOf(channel.stream(streamGenerate, asking("hang-after-one"), options, sink)),
      );
      const begun = Promise.all(sinks.map((sink) => sink.reached(1)));
      expect(await Promise.race([begun.then(() => "all run"), ...ended])).toBe("all run");
      const running = core.gateway.calls.slice(before);
      expect(running.filter(({ signal }) => !signal.aborted)).toHaveLength(MANY);
      gone.abort();
      const reasons = (await Promise.all(ended)).map(({ reason }) => reason);
      expect(new Set(reasons)).toEqual(new Set(["ERROR_REASON_CANCELLED"]));
      // The handlers hear of it too.
      await expect.poll(() => running.filter(({ signal }) => !signal.aborted).length).toBe(0);
    },
  );

  test("a front end's word on the client's address is believed, and its token goes over the wire once", async () => {
    const addressed = await core.makeKey("acme", { addresses: ["198.51.100.0/24"] });
    const channel = open();
    await untilTunnelled(channel, calls, secret);
    const ask = (address: string) =>
      channel.unary(
        KeyServiceService.getCaller,
        {},
        withKey(addressed.secret, {
          metadata: { "x-tollgate-client-address": address, "x-tollgate-front": FRONT_TOKEN },
        }),
      );
    await expect(ask("198.51.100.9")).resolves.toBeDefined();
    expect(calls.at(-1)?.metadata).toEqual({
      authorization: `Bearer ${addressed.secret}`,
      "x-tollgate-client-address": "198.51.100.9",
    });
    await expect(ask("203.0.113.9")).rejects.toMatchObject({ reason: "ERROR_REASON_ADDRESS_NOT_ALLOWED" });
  });
});

describe("where there is no tunnel", () => {
  test("a front end with another token is served, each call by itself", async () => {
    const channel = open({ frontToken: "another secret's" });
    const { message } = await channel.unary(generate, asking("echo", Buffer.from("x")), withKey(secret));
    expect(Buffer.from(message.source).toString()).toBe("x");
    expect(calls.at(-1)?.local).toBe(false);
  });

  test("the core tells who may not open one", async () => {
    const hand = new HandTunnel(`127.0.0.1:${port}`, "another secret's");
    expect(await hand.ended).toMatchObject({ code: status.PERMISSION_DENIED });
    hand.close();
  });

  test("a lost connection fails what runs, tells the handlers, and is opened again", async () => {
    const wire = new Wire(port);
    await wire.mend();
    const channel = open({ address: wire.address });
    const sink = new KeepingSink<StreamGenerateResponse>();
    const ended = refusalOf(channel.stream(streamGenerate, asking("hang-after-one"), withKey(secret), sink));
    const whole = refusalOf(channel.unary(generate, asking("hang"), withKey(secret)));
    await sink.reached(1);
    await expect.poll(() => core.gateway.calls.slice(-2).every(({ signal }) => !signal.aborted)).toBe(true);
    const running = core.gateway.calls.slice(-2);
    await wire.cut();
    expect(await ended).toMatchObject(UNREACHABLE);
    expect(await whole).toMatchObject(UNREACHABLE);
    await expect.poll(() => running.every(({ signal }) => signal.aborted)).toBe(true);
    expect(await refusalOf(channel.unary(generate, asking("echo"), withKey(secret)))).toMatchObject(UNREACHABLE);
    await wire.mend();
    const isBack = (): Promise<unknown> => refusalOf(channel.unary(generate, asking("echo"), withKey(secret)));
    await expect.poll(isBack).toBeUndefined();
    await untilTunnelled(channel, calls, secret);
    await channel.close();
    await wire.cut();
  });
});

describe("the core's end", () => {
  const request = (model: string) => Buffer.from(streamGenerate.requestSerialize(asking(model)));
  const head = (callId: number, model: string, more: Partial<TunnelFrame> = {}): Partial<TunnelFrame> => ({
    ...opening(callId, streamGenerate.path, secret, request(model)),
    ...more,
  });
  const connect = (): HandTunnel => new HandTunnel(`127.0.0.1:${port}`, FRONT_TOKEN);
  const data = (callId: number, bytes: Buffer, more = false) => ({
    callId,
    kind: KIND.TUNNEL_FRAME_KIND_DATA,
    data: bytes,
    more,
  });

  test.each<{ name: string; frames: Partial<TunnelFrame>[] }>([
    { name: "no call", frames: [head(0, "echo")] },
    { name: "no kind", frames: [{ callId: 2 }] },
    { name: "an unknown kind", frames: [{ callId: 2, kind: 99 as TunnelFrameKind }] },
    { name: "a kind of the core's", frames: [{ callId: 1, kind: KIND.TUNNEL_FRAME_KIND_END }] },
    { name: "a call that is open", frames: [head(1, "echo")] },
    { name: "a piece after the whole request", frames: [data(1, Buffer.from("x"))] },
    { name: "a piece that is too long", frames: [head(2, "echo", { data: Buffer.alloc(256 * 1024 + 1) })] },
    { name: "a window that is too wide", frames: [head(2, "echo", { windowBytes: 16 * 1024 * 1024 + 1 })] },
    {
      name: "a window opened too far",
      frames: [{ callId: 1, kind: KIND.TUNNEL_FRAME_KIND_WINDOW, windowBytes: 16 * 1024 * 1024 }],
    },
    { name: "headers that are none", frames: [head(2, "echo", { headers: "no colon\n" })] },
    { name: "headers that do not end", frames: [head(2, "echo", { headers: "a:b" })] },
    { name: "headers that are too long", frames: [head(2, "echo", { headers: `a:${"b".repeat(70_000)}\n` })] },
  ])("$name ends the tunnel and its calls, and nothing else", async ({ frames }) => {
    const channel = open();
    const hand = connect();
    hand.send(head(1, "hang-after-one"));
    await hand.until((came) => came.length >= 2);
    const running = core.gateway.calls.at(-1);
    expect(running?.signal.aborted).toBe(false);
    hand.send(...frames);
    expect(await hand.ended).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(running?.signal.reason).toMatchObject({ reason: "ERROR_REASON_CANCELLED" });
    await expect(channel.unary(generate, asking("echo"), withKey(secret))).resolves.toBeDefined();
    hand.close();
  });

  test("frames for calls that are over are nobody's fault", async () => {
    const hand = connect();
    hand.send(
      data(7, Buffer.from("late")),
      { callId: 7, kind: KIND.TUNNEL_FRAME_KIND_WINDOW, windowBytes: 1 },
      { callId: 7, kind: KIND.TUNNEL_FRAME_KIND_CANCEL },
      head(7, "silent"),
    );
    await hand.until((frames) => frames.some(({ kind }) => kind === KIND.TUNNEL_FRAME_KIND_END));
    hand.close();
  });

  test("what many calls say in one turn goes out together", async () => {
    const hand = connect();
    hand.send(...Array.from({ length: 300 }, (_, i) => head(i + 1, "echo")));
    const ends = (frames: readonly TunnelFrame[]) => frames.filter(({ kind }) => kind === KIND.TUNNEL_FRAME_KIND_END);
    await hand.until((frames) => ends(frames).length === 300);
    expect(new Set(ends(hand.frames).map(({ callId }) => callId)).size).toBe(300);
    expect(hand.messages.length).toBeLessThan(60);
    hand.close();
  });

  test("a window that is used up holds the pieces, and goes on where it was opened", async () => {
    const hand = connect();
    hand.send(head(1, "flood", { windowBytes: 100_000 }));
    const bytesOf = (frames: readonly TunnelFrame[]): number =>
      frames.reduce((sum, frame) => sum + frame.data.length, 0);
    await hand.until((frames) => bytesOf(frames) === 100_000);
    expect(core.gateway.pushedCount).toBe(2);
    hand.send({ callId: 1, kind: KIND.TUNNEL_FRAME_KIND_WINDOW, windowBytes: 50_000 });
    await hand.until((frames) => bytesOf(frames) === 150_000);
    hand.send({ callId: 1, kind: KIND.TUNNEL_FRAME_KIND_CANCEL });
    await expect.poll(() => core.gateway.calls.at(-1)?.signal.aborted).toBe(true);
    expect(bytesOf(hand.frames)).toBe(150_000);
    hand.close();
  });

  test.each([
    { name: "a path that does not exist", frame: { method: "/tollgate.v1.Dream/Dream" }, code: status.NOT_FOUND },
    { name: "the tunnel itself", frame: { method: TunnelServiceService.tunnel.path }, code: status.NOT_FOUND },
    { name: "bytes that are no request", frame: { data: Buffer.from([0xff]) }, code: status.INVALID_ARGUMENT },
    { name: "no key", frame: { headers: "" }, code: status.UNAUTHENTICATED },
    { name: "a key without the scope", frame: { method: KeyServiceService.listKeys.path }, code: 7 },
  ])("$name refuses that call alone", async ({ frame, code }) => {
    const hand = connect();
    hand.send(head(1, "echo", frame), head(2, "silent"));
    await hand.until((frames) => new Set(frames.map(({ callId }) => callId)).size === 2);
    const told = hand.frames.find(({ kind }) => kind === KIND.TUNNEL_FRAME_KIND_ERROR);
    expect(told?.callId).toBe(1);
    // The first field of google.rpc.Status is its code.
    expect([...(told?.data.subarray(0, 2) ?? [])]).toEqual([8, code]);
    hand.close();
  });

  test("a request in too many pieces is refused as too large, and that call alone", async () => {
    const hand = connect();
    hand.send(head(1, "echo", { more: true }), head(2, "hang"));
    const piece = Buffer.alloc(256 * 1024);
    for (let i = 0; i < 161; i++) hand.send(data(1, piece, true));
    await hand.until((frames) => frames.some(({ kind }) => kind === KIND.TUNNEL_FRAME_KIND_ERROR));
    const opened = hand.frames.filter(({ kind }) => kind === KIND.TUNNEL_FRAME_KIND_WINDOW);
    expect(opened.length).toBeGreaterThan(30);
    const told = hand.frames.find(({ kind }) => kind === KIND.TUNNEL_FRAME_KIND_ERROR);
    expect(told?.callId).toBe(1);
    expect(told?.data.toString()).toContain("BODY_TOO_LARGE");
    hand.close();
  });

  test("more calls than a tunnel takes are refused as overload", async () => {
    const small = createGrpcServer({ dispatcher: core.dispatcher, tunnelCallsMax: 20 });
    const bound = await small.listen("127.0.0.1:0");
    const hand = new HandTunnel(`127.0.0.1:${bound.port}`, FRONT_TOKEN);
    hand.send(...Array.from({ length: 21 }, (_, i) => head(i + 1, "hang")));
    await hand.until((frames) => frames.length > 0);
    expect(hand.frames).toMatchObject([{ callId: 21, kind: KIND.TUNNEL_FRAME_KIND_ERROR }]);
    expect([...hand.frames[0]!.data.subarray(0, 2)]).toEqual([8, status.UNAVAILABLE]);
    hand.send({ callId: 1, kind: KIND.TUNNEL_FRAME_KIND_CANCEL }, head(22, "silent"));
    await hand.until((frames) => frames.some(({ callId }) => callId === 22));
    expect(hand.frames.at(-1)?.kind).toBe(KIND.TUNNEL_FRAME_KIND_END);
    hand.close();
    await small.closePort();
  });

  test("an orderly end lets calls finish, and then the tunnel", async () => {
    const own = await openCore();
    const key = await own.makeKey("acme");
    const ending = createGrpcServer({ dispatcher: own.dispatcher });
    const bound = await ending.listen("127.0.0.1:0");
    const hand = new HandTunnel(`127.0.0.1:${bound.port}`, FRONT_TOKEN);
    hand.send({ ...head(1, "hang-after-one"), headers: `x-api-key:${key.secret}\n` });
    await hand.until((frames) => frames.length >= 2);
    await ending.drain(50);
    expect(await hand.ended).toBeUndefined();
    const last = hand.frames.at(-1);
    expect(last?.kind).toBe(KIND.TUNNEL_FRAME_KIND_ERROR);
    expect(last?.data.toString()).toContain("stopping");
    hand.close();
    await own.close();
  });
});

describe("the front end's end", () => {
  const source = Buffer.alloc(100_000);
  test.each<{ name: string; frame: Partial<TunnelFrame>; count?: number }>([
    { name: "no kind", frame: {} },
    { name: "a kind of a front end's", frame: { kind: KIND.TUNNEL_FRAME_KIND_CANCEL } },
    { name: "a piece that is too long", frame: { kind: KIND.TUNNEL_FRAME_KIND_DATA, data: Buffer.alloc(300_000) } },
    { name: "headers that are none", frame: { kind: KIND.TUNNEL_FRAME_KIND_HEAD, headers: "x" } },
    {
      name: "more than a slow reader's window takes",
      frame: { kind: KIND.TUNNEL_FRAME_KIND_DATA, data: streamGenerate.responseSerialize({ events: [], source }) },
      count: 4,
    },
  ])("$name from the core ends the tunnel and fails its calls", async ({ frame, count = 1 }) => {
    const strange = new Server();
    let begun = (): void => undefined;
    const isOpen = new Promise<void>((resolve) => (begun = resolve));
    const isCancelled = new Promise((resolve) => {
      strange.addService(TunnelServiceService, {
        tunnel: (stream: ServerDuplexStream<TunnelRequest, TunnelResponse>) => {
          stream.on("cancelled", resolve);
          stream.on("data", ({ frames }: TunnelRequest) => {
            const callId = frames[0]?.callId ?? 0;
            stream.write({ frames: Array.from({ length: count }, () => frameWith({ callId, ...frame })) });
          });
          stream.sendMetadata(stream.metadata);
          begun();
        },
      });
    });
    const at = await new Promise<number>((resolve) => {
      strange.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_, bound) => resolve(bound));
    });
    const channel = open({ address: `127.0.0.1:${at}` });
    await isOpen;
    const sink = new KeepingSink<StreamGenerateResponse>(1);
    const ended = refusalOf(channel.stream(streamGenerate, asking("echo"), withKey(secret), sink));
    await isCancelled;
    sink.drain(Number.POSITIVE_INFINITY);
    expect(await ended).toMatchObject(UNREACHABLE);
    await channel.close();
    strange.forceShutdown();
  });
});

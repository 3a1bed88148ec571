/** The contract of a channel: one suite, every channel. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallOptions } from "../../../src/api/channel.js";
import {
  type GenerateRequest,
  InferenceServiceService,
  KeyServiceService,
  type StreamGenerateRequest,
  type StreamGenerateResponse,
} from "../../../src/api/index.js";
import { GatewayError } from "../../../src/base/errors.js";
import { allowTimeToFail } from "../../support/pauses.js";
import { EDGES, type Edge, KeepingSink, openEdge, withKey } from "../edges.js";
import { FLOOD_COUNT, LIMIT_FACTS } from "../steered-gateway.js";

const { generate, streamGenerate } = InferenceServiceService;
const MIB = 1024 * 1024;

function asking(model: string, body?: Buffer): GenerateRequest & StreamGenerateRequest {
  const source = { wire: "openai-chat", body: body ?? Buffer.alloc(0), headers: { "anthropic-beta": "x" } };
  return {
    generation: { model, input: { $case: "source", value: source }, outputTokensMax: undefined, clamp: false },
    acceptWire: "",
  };
}

async function refusal(work: Promise<unknown>): Promise<GatewayError> {
  const thrown: unknown = await work.then(
    () => "no refusal",
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(GatewayError);
  return thrown as GatewayError;
}

describe.each(EDGES)("a channel %s", (name) => {
  let edge: Edge;
  let secret = "";

  beforeAll(async () => {
    edge = await openEdge(name);
    ({ secret } = await edge.core.makeKey("acme"));
  });
  afterAll(() => edge.close());

  const options = (more: Partial<CallOptions> = {}): CallOptions => withKey(secret, more);
  /** The same call in both forms, so that a table covers both. */
  const unary = (model: string, more?: Partial<CallOptions>): Promise<unknown> =>
    edge.channel.unary(generate, asking(model), options(more));
  const stream = (model: string, more?: Partial<CallOptions>): Promise<unknown> =>
    edge.channel.stream(streamGenerate, asking(model), options(more), new KeepingSink());
  const forms = [
    { form: "unary", call: unary },
    { form: "streaming", call: stream },
  ];

  test("a whole answer comes with its head, its id and exact numbers", async () => {
    const reply = await edge.channel.unary(generate, asking("echo", Buffer.from("body")), options());
    expect(reply.message.answer?.costNanos).toBe(9_007_199_254_740_993n);
    expect(reply.message.answer?.createTime).toEqual(new Date(1_700_000_000_000));
    expect(Buffer.from(reply.message.source).toString()).toBe("body");
    expect(reply.head["x-tollgate-upstream"]).toBe("steered");
    expect(reply.head["x-request-id"]).toMatch(/^req_[0-9a-f]{32}$/);
    expect(reply.head["x-request-id"]).toBe(edge.core.gateway.calls.at(-1)?.requestId);
  });

  test("a stream tells its head before its first message", async () => {
    const sink = new KeepingSink<StreamGenerateResponse>();
    await edge.channel.stream(streamGenerate, asking("echo"), options(), sink);
    expect(sink.steps).toEqual(["head", "data", "data"]);
    expect(sink.headMetadata).toMatchObject({ "x-tollgate-upstream": "steered" });
    expect(sink.headMetadata?.["x-request-id"]).toBe(edge.core.gateway.calls.at(-1)?.requestId);
    expect(sink.messages[1]?.events[0]?.kind).toMatchObject({ $case: "finish", value: { costNanos: 12n } });
  });

  test("a stream without a message still has a head", async () => {
    const sink = new KeepingSink<StreamGenerateResponse>();
    await edge.channel.stream(streamGenerate, asking("silent"), options(), sink);
    expect(sink.steps).toEqual(["head"]);
    expect(sink.headMetadata?.["x-request-id"]).toMatch(/^req_/);
  });

  test("a head that the handler did not write comes with the first message", async () => {
    const sink = new KeepingSink<StreamGenerateResponse>();
    const error = await refusal(edge.channel.stream(streamGenerate, asking("cut"), options(), sink));
    expect(sink.steps).toEqual(["head", "data", "data", "data"]);
    expect(sink.headMetadata?.["x-request-id"]).toBe(error.metadata["request_id"]);
  });

  test.each(forms)("$form: a refusal keeps its reason and every fact, and names the request", async ({ call }) => {
    const error = await refusal(call("refuse"));
    const requestId = edge.core.gateway.calls.at(-1)?.requestId;
    expect(error.reason).toBe("ERROR_REASON_RATE_LIMITED");
    expect(error.metadata).toEqual({ ...LIMIT_FACTS, request_id: requestId });
    expect(error.message).toBe(new GatewayError("ERROR_REASON_RATE_LIMITED", LIMIT_FACTS).message);
    expect(error.retryAfterMs).toBe(1_500);
  });

  test.each(forms)("$form: an upstream's endless words are cut the same on every channel", async ({ call }) => {
    const error = await refusal(call("long-refusal"));
    expect(error.reason).toBe("ERROR_REASON_UPSTREAM_REJECTED");
    expect(error.param).toBe("messages");
    expect(error.message).toMatch(/^(ä%#\n){10}/);
    expect(Buffer.byteLength(error.message)).toBe(768);
    expect(error.message.endsWith("…")).toBe(true);
  });

  test.each(forms)("$form: a broken handler is our fault, and its cause stays with us", async ({ call }) => {
    const error = await refusal(call("break"));
    expect(error.reason).toBe("ERROR_REASON_INTERNAL");
    expect(error.message).not.toContain("nobody");
    expect(Object.keys(error.metadata)).toEqual(["request_id"]);
    const line = edge.core.log.at(-1);
    expect(line).toMatchObject({ level: "error", fields: { request_id: error.metadata["request_id"] } });
    expect(String(line?.fields["err"])).toContain("the cause nobody may see");
  });

  test("an error after messages leaves them delivered", async () => {
    const sink = new KeepingSink<StreamGenerateResponse>();
    const error = await refusal(edge.channel.stream(streamGenerate, asking("cut"), options(), sink));
    expect(error.reason).toBe("ERROR_REASON_UPSTREAM_FAILED");
    const texts = sink.messages.map(({ events }) => events[0]?.kind?.value);
    expect(texts).toMatchObject([{ text: "a" }, { text: "b" }, { text: "c" }]);
  });

  test("an error behind a slow reader waits until the reader has what came before", async () => {
    const sink = new KeepingSink<StreamGenerateResponse>(1);
    const ended = refusal(edge.channel.stream(streamGenerate, asking("cut"), options(), sink));
    await sink.reached(1);
    sink.drain(Number.POSITIVE_INFINITY);
    expect((await ended).reason).toBe("ERROR_REASON_UPSTREAM_FAILED");
    expect(sink.messages).toHaveLength(3);
  });

  test.each(forms)("$form: a caller that leaves ends the handler's signal", async ({ call }) => {
    const gone = new AbortController();
    const arrived = edge.core.gateway.nextCall();
    const ended = refusal(call("hang", { signal: gone.signal }));
    const { signal } = await arrived;
    const told = new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
    expect(signal.aborted).toBe(false);
    gone.abort();
    expect((await ended).reason).toBe("ERROR_REASON_CANCELLED");
    await told;
    expect(signal.reason).toMatchObject({ reason: "ERROR_REASON_CANCELLED" });
  });

  test("a caller that leaves within the stream ends it at once, and nothing reaches the sink after", async () => {
    const gone = new AbortController();
    const sink = new KeepingSink<StreamGenerateResponse>();
    const ended = refusal(
      edge.channel.stream(streamGenerate, asking("hang-after-one"), options({ signal: gone.signal }), sink),
    );
    await sink.reached(1);
    gone.abort();
    expect((await ended).reason).toBe("ERROR_REASON_CANCELLED");
    expect(sink.messages).toHaveLength(1);
  });

  test.each(forms)("$form: a caller that left before never reaches the handler", async ({ call }) => {
    const before = edge.core.gateway.calls.length;
    expect((await refusal(call("echo", { signal: AbortSignal.abort() }))).reason).toBe("ERROR_REASON_CANCELLED");
    expect(edge.core.gateway.calls).toHaveLength(before);
  });

  test.each(forms)("$form: a deadline ends the call and the handler's signal", async ({ call }) => {
    const arrived = edge.core.gateway.nextCall();
    // Long enough for the call to come to the handler first.
    const ended = refusal(call("hang", { timeoutMs: 1_000 }));
    const { signal } = await arrived;
    const told = new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
    const error = await ended;
    expect(error.reason).toBe("ERROR_REASON_UPSTREAM_TIMEOUT");
    expect(error.metadata["phase"]).toBe("deadline");
    expect(error.http).toBe(504);
    await told;
  });

  test.each(forms)(
    "$form: a handler that hears nothing does not hold the caller past its deadline",
    async ({ call }) => {
      expect((await refusal(call("deaf", { timeoutMs: 100 }))).reason).toBe("ERROR_REASON_UPSTREAM_TIMEOUT");
    },
  );

  test.each(forms)("$form: a deadline that has passed refuses at once", async ({ call }) => {
    expect((await refusal(call("echo", { timeoutMs: 0 }))).reason).toBe("ERROR_REASON_UPSTREAM_TIMEOUT");
  });

  test("a slow reader holds the handler back, and then gets everything in order", async () => {
    const sink = new KeepingSink<StreamGenerateResponse>(2);
    const ended = edge.channel.stream(streamGenerate, asking("flood"), options(), sink);
    await sink.reached(2);
    await settled(() => edge.core.gateway.pushedCount);
    expect(sink.messages.length).toBeLessThan(60);
    expect(edge.core.gateway.pushedCount).toBeLessThan(FLOOD_COUNT / 2);
    for (let isOpen = true; isOpen;) {
      const next = sink.messages.length + 50;
      sink.drain(50);
      isOpen = await Promise.race([ended.then(() => false), sink.reached(next).then(() => true)]);
    }
    await ended;
    expect(sink.messages.map(({ source }) => source[0])).toEqual(
      Array.from({ length: FLOOD_COUNT }, (_, i) => i % 251),
    );
  });

  // A message that comes by itself is joined in one go, and so is bounded below what a body may be.
  const messageBytesMax = name === "over gRPC" ? 8 * MIB : undefined;
  const bodyBytesMax = 32 * MIB;

  test("a body as long as it may be goes through both ways; a byte more is refused", async () => {
    const body = Buffer.alloc(messageBytesMax === undefined ? bodyBytesMax : messageBytesMax - 1024, 7);
    const reply = await edge.channel.unary(generate, asking("echo", body), options());
    expect(reply.message.source.length).toBe(body.length);
    expect(Buffer.compare(reply.message.source, body)).toBe(0);
    const error = await refusal(
      edge.channel.unary(generate, asking("echo", Buffer.alloc(bodyBytesMax + 1)), options()),
    );
    expect(error.reason).toBe("ERROR_REASON_BODY_TOO_LARGE");
    expect(error.metadata["limit_bytes"]).toBe(String(messageBytesMax ?? bodyBytesMax));
  });

  test("a message above the cap of the transport is refused as a body that is too large", async () => {
    const error = await refusal(edge.channel.unary(generate, asking("echo", Buffer.alloc(41 * MIB)), options()));
    expect(error.reason).toBe("ERROR_REASON_BODY_TOO_LARGE");
    expect(error.metadata["limit_bytes"]).toBe(String(messageBytesMax ?? bodyBytesMax));
  });

  test.each([
    { name: "no key", metadata: {}, reason: "ERROR_REASON_KEY_MISSING" },
    { name: "a wrong key", metadata: { "x-api-key": "sk-none-that-exists-here" }, reason: "ERROR_REASON_KEY_INVALID" },
  ])("$name is refused", async ({ metadata, reason }) => {
    const call = edge.channel.unary(KeyServiceService.getCaller, {}, { ...options(), metadata });
    expect((await refusal(call)).reason).toBe(reason);
  });

  test("requests wait in the queue of their account, once its key was let in", async () => {
    const { secret: other } = await edge.core.makeKey("other");
    const of = (key: string) => withKey(key).metadata;
    expect(edge.channel.queueOf(of(other))).toBe("");
    for (const key of [secret, other]) await edge.channel.admit({ scope: "", isLong: false }, of(key));
    expect([secret, other, "sk-nobody"].map((key) => edge.channel.queueOf(of(key)))).toEqual(["acme", "other", ""]);
  });

  test("the key comes by x-api-key as well", async () => {
    const metadata = { "x-api-key": secret };
    const reply = await edge.channel.unary(KeyServiceService.getCaller, {}, { ...options(), metadata });
    expect(reply.message.key?.accountId).toBe("acme");
  });
});

/** Resolves once a count has stopped growing. */
async function settled(count: () => number): Promise<void> {
  for (let before = -1; before !== count();) {
    before = count();
    await allowTimeToFail(100);
  }
}

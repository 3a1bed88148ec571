/** The gRPC server as strangers see it: dynamic clients, health, unknown methods, and its end. */
import { fileURLToPath } from "node:url";
import { Client, credentials, loadPackageDefinition, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { load, type PackageDefinition } from "@grpc/proto-loader";
import {
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../../gen/grpc/health/v1/health.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InferenceServiceService } from "../../../src/api/index.js";
import type { GatewayError } from "../../../src/base/errors.js";
import { createRemoteChannel } from "../../../src/rpc/transport/remote-channel.js";
import { createGrpcServer } from "../../../src/rpc/transport/server.js";
import { HealthClient } from "../../support/grpc-clients.js";
import { call, type Running, serve, serveAdmin, SERVICES } from "../dynamic-client.js";
import { callWhileBlocked } from "../../support/waiting-crowd.js";
import { KeepingSink, withKey } from "../edges.js";
import { openCore, type OpenCore } from "../open-core.js";

const PROTO = fileURLToPath(new URL("../../../proto", import.meta.url));
const HEALTH_PROTO = fileURLToPath(new URL("../../../proto/grpc/health/v1/health.proto", import.meta.url));
let core: OpenCore;
let secret = "";

beforeAll(async () => {
  core = await openCore();
  ({ secret } = await core.makeKey("acme"));
});
afterAll(() => core.close());

describe("a server", () => {
  let running: Running;
  let client: Client;

  beforeAll(async () => {
    running = await serve(core);
    client = new Client(running.address, credentials.createInsecure());
  });
  afterAll(async () => {
    client.close();
    await running.drain(0);
  });

  test("a client that loads proto/ as it is makes whole and streamed calls", async () => {
    const files = ["inference_service", "key_service"].map((name) => `tollgate/v1/${name}.proto`);
    const definition = await load(files, { includeDirs: [PROTO], keepCase: true, longs: String, oneofs: true });
    const generation = { model: "echo", source: { wire: "openai-chat", body: Buffer.from("hello") } };
    const whole = await call(client, "/tollgate.v1.InferenceService/Generate", definition, { generation }, secret);
    expect(whole).toMatchObject({ answer: { model: "echo", cost_nanos: "9007199254740993" } });
    expect(await streamed(definition, { generation })).toMatchObject([
      { source: Buffer.from("hello") },
      { events: [{ finish: { cost_nanos: "12" } }] },
    ]);
  });

  async function streamed(definition: PackageDefinition, request: object): Promise<unknown[]> {
    const constructors = loadPackageDefinition(definition) as unknown as Record<
      string,
      Record<string, Record<string, never>>
    >;
    const Inference = constructors["tollgate"]!["v1"]!["InferenceService"] as unknown as new (
      ...args: unknown[]
    ) => { StreamGenerate(request: object, metadata: Metadata): AsyncIterable<unknown> } & Client;
    const dynamic = new Inference(running.address, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set("x-api-key", secret);
    const messages: unknown[] = [];
    for await (const message of dynamic.StreamGenerate(request, metadata)) messages.push(message);
    dynamic.close();
    return messages;
  }

  test("a refusal of a stranger's client carries the status, the words and the request's id", async () => {
    const definition = await load("tollgate/v1/key_service.proto", { includeDirs: [PROTO] });
    const path = "/tollgate.v1.KeyService/GetCaller";
    const error: unknown = await call(client, path, definition, {}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: status.UNAUTHENTICATED, details: expect.stringContaining("No API key") });
    const { metadata } = error as ServiceError;
    expect(metadata.get("x-request-id")[0]).toMatch(/^req_[0-9a-f]{32}$/);
  });

  test("a method that does not exist is unimplemented", async () => {
    const unknown = { ...InferenceServiceService.generate, path: "/tollgate.v1.InferenceService/Dream" };
    const error: unknown = await new Promise((resolve) => {
      const { path, requestSerialize, responseDeserialize } = unknown;
      const request = { generation: undefined, acceptWire: "" };
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error) => resolve(error));
    });
    expect(error).toMatchObject({ code: status.UNIMPLEMENTED });
  });

  test("health tells of each service and of all", async () => {
    const { address, admin } = await serveAdmin();
    const asker = new Client(address, credentials.createInsecure());
    const definition = await load(HEALTH_PROTO, { enums: String });
    const check = (service: string) => call(asker, "/grpc.health.v1.Health/Check", definition, { service });
    for (const service of ["", ...SERVICES]) expect(await check(service)).toMatchObject({ status: "SERVING" });
    await expect(check("tollgate.v1.NoService")).rejects.toMatchObject({ code: status.NOT_FOUND });
    const all = await call(asker, "/grpc.health.v1.Health/List", definition, {});
    const expected = ["", ...SERVICES].map((service) => [service, { status: "SERVING" }]);
    expect(all).toMatchObject({ statuses: Object.fromEntries(expected) });
    asker.close();
    await admin.close();
  });

  test("health and reflection are not on the port that clients call", async () => {
    const definition = await load(HEALTH_PROTO, { enums: String });
    const checked = call(client, "/grpc.health.v1.Health/Check", definition, { service: "" });
    await expect(checked).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
  });

  test("who watches a service is told how it stands, and again when the server stops", async () => {
    const { address, admin } = await serveAdmin();
    const watcher = new HealthClient(address, credentials.createInsecure());
    const told: [string, ServingStatus][] = [];
    for (const service of ["", "tollgate.v1.NoService"]) {
      const watch = watcher.watch({ service });
      watch.on("data", ({ status }: HealthCheckResponse) => told.push([service, status]));
      // The server's end cuts it.
      watch.on("error", () => undefined);
    }
    await expect.poll(() => told).toHaveLength(2);
    admin.notServing();
    await expect.poll(() => told).toHaveLength(3);
    expect(told).toContainEqual(["", ServingStatus.SERVING]);
    expect(told).toContainEqual(["tollgate.v1.NoService", ServingStatus.SERVICE_UNKNOWN]);
    expect(told[2]).toEqual(["", ServingStatus.NOT_SERVING]);
    watcher.close();
    await admin.close();
  });
});

describe("the end of a server", () => {
  const asking = (model: string) => ({
    generation: { model, input: undefined, outputTokensMax: undefined, clamp: false },
    acceptWire: "",
  });

  test("tells clients to ask elsewhere before it refuses anybody, and what runs comes to its end", async () => {
    const own = await openCore();
    const key = await own.makeKey("acme");
    const { dispatcher } = own;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    // They share a core, which goes on.
    const leaves = {
      unary: dispatcher.unary.bind(dispatcher),
      stream: dispatcher.stream.bind(dispatcher),
      isFront: dispatcher.isFront.bind(dispatcher),
      admit: dispatcher.admit.bind(dispatcher),
      permissionOf: dispatcher.permissionOf.bind(dispatcher),
      queueOf: dispatcher.queueOf.bind(dispatcher),
      refusedAtEdge: dispatcher.refusedAtEdge.bind(dispatcher),
      drain: () => released,
    };
    const [leaving, staying] = [await serve(own, { dispatcher: leaves }), await serve(own)];
    // As a client has it that knows all addresses of a service.
    const client = new Client(`ipv4:${leaving.address},${staying.address}`, credentials.createInsecure(), {
      "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    });
    const definition = await load("tollgate/v1/inference_service.proto", { includeDirs: [PROTO] });
    const generation = { model: "echo", source: { wire: "openai-chat", body: Buffer.from("hello") } };
    const ask = (): Promise<unknown> =>
      call(client, "/tollgate.v1.InferenceService/Generate", definition, { generation }, key.secret);
    for (let count = 0; count < 20; count++) await ask();
    const channel = createRemoteChannel({ address: leaving.address });
    const gone = new AbortController();
    const sink = new KeepingSink();
    const options = withKey(key.secret, { signal: gone.signal });
    const lasting = channel.stream(InferenceServiceService.streamGenerate, asking("hang-after-one"), options, sink);
    await sink.reached(1);

    const before = Array.from({ length: 50 }, ask);
    const open = await leaving.closePort();
    for (let count = 0; count < 20; count++) await ask();
    const meanwhile = Array.from({ length: 50 }, ask);
    const drained = leaving.drain(60_000);
    const after = Array.from({ length: 50 }, ask);
    await Promise.all([...before, ...meanwhile, ...after]);
    // The stream's connection alone is left.
    await expect.poll(() => open.size, { timeout: 60_000 }).toBe(1);
    for (let count = 0; count < 20; count++) await ask();
    gone.abort();
    await expect(lasting).rejects.toMatchObject({ reason: "ERROR_REASON_CANCELLED" });
    release();
    await drained;
    expect(open.size).toBe(0);
    client.close();
    await channel.close();
    await staying.drain(0);
    await own.close();
  });

  test("answers calls whose connections the kernel had accepted as the port closed", async () => {
    const own = await openCore();
    const key = await own.makeKey("acme");
    const leaving = await serve(own);
    const crowd = callWhileBlocked({
      port: leaving.port,
      count: 20,
      path: "/tollgate.v1.KeyService/GetCaller",
      headers: { authorization: `Bearer ${key.secret}` },
    });
    await leaving.closePort();
    expect(await crowd.answers()).toEqual(Array.from({ length: 20 }, () => "0"));
    await leaving.drain(60_000);
    await own.close();
  });

  test("finishes what runs, and refuses what is new", async () => {
    const own = await openCore();
    const key = await own.makeKey("acme");
    const running = await serve(own);
    const channel = createRemoteChannel({ address: running.address });
    const gone = new AbortController();
    const sink = new KeepingSink();
    const options = withKey(key.secret, { signal: gone.signal });
    const lasting = channel.stream(InferenceServiceService.streamGenerate, asking("hang-after-one"), options, sink);
    await sink.reached(1);
    const drained = running.drain(60_000);
    const late = async (): Promise<string> => {
      const made = channel.unary(InferenceServiceService.generate, asking("echo"), withKey(key.secret));
      return made.then(
        () => "served",
        (error: GatewayError) => error.reason,
      );
    };
    await expect.poll(late, { timeout: 60_000 }).toBe("ERROR_REASON_OVERLOADED");
    gone.abort();
    await expect(lasting).rejects.toMatchObject({ reason: "ERROR_REASON_CANCELLED" });
    await drained;
    await channel.close();
    await own.close();
  });

  test("what still runs when the time is over ends with OVERLOADED, and its handler is told", async () => {
    const own = await openCore();
    const key = await own.makeKey("acme");
    const running = await serve(own);
    const channel = createRemoteChannel({ address: running.address });
    const arrived = own.gateway.nextCall();
    const sink = new KeepingSink();
    const lasting = channel.stream(
      InferenceServiceService.streamGenerate,
      asking("hang-after-one"),
      withKey(key.secret),
      sink,
    );
    const ended = lasting.catch((error: GatewayError) => error);
    const { signal } = await arrived;
    await sink.reached(1);
    await running.drain(10);
    expect(await ended).toMatchObject({ reason: "ERROR_REASON_OVERLOADED", metadata: { problem: "it is stopping" } });
    expect(signal.reason).toMatchObject({ reason: "ERROR_REASON_OVERLOADED" });
    await channel.close();
    await own.close();
  });

  test("a core that is not there is told as one that cannot be reached", async () => {
    const own = await openCore();
    const running = await serve(own);
    await running.drain(0);
    const channel = createRemoteChannel({ address: running.address });
    const late = channel.unary(InferenceServiceService.generate, asking("echo"), withKey(secret));
    await expect(late).rejects.toMatchObject({
      reason: "ERROR_REASON_OVERLOADED",
      metadata: { problem: "the core cannot be reached" },
    });
    await channel.close();
    await own.close();
  });

  test("an address that is taken is an error", async () => {
    const running = await serve(core);
    const second = createGrpcServer({ dispatcher: core.dispatcher });
    await expect(second.listen(running.address)).rejects.toThrow(/address|bind/i);
    await running.closePort();
  });
});

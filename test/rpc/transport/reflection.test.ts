/** Reflection: generic clients learn the whole protocol from it. */
import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { create, createFileRegistry, fromBinary, getOption, hasOption, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ServerReflectionClient,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
  ServerReflectionService as V1,
} from "../../../gen/grpc/reflection/v1/reflection.js";
import { ServerReflectionService as V1Alpha } from "../../../gen/grpc/reflection/v1alpha/reflection.js";
import { descriptorSetBytes } from "../../../src/api/descriptors.js";
import { clientOf } from "../../support/grpc-clients.js";
import { call, type Running, serve, serveAdmin, SERVICES } from "../dynamic-client.js";
import { openCore, type OpenCore } from "../open-core.js";

const OPEN_SERVICES = [
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
];

const VERSIONS = {
  v1: clientOf<ServerReflectionClient>(V1, "ServerReflection"),
  v1alpha: clientOf<ServerReflectionClient>(V1Alpha, "ServerReflection"),
};
const METHOD_OPTIONS = "google.protobuf.MethodOptions";
type Question = ServerReflectionRequest["messageRequest"];

let core: OpenCore;
let running: Running;
/** Where reflection is asked for beside the services. */
let keyed: Running;
let asked: Awaited<ReturnType<typeof serveAdmin>>;
let client: Client;
let secret = "";

beforeAll(async () => {
  core = await openCore();
  ({ secret } = await core.makeKey("acme"));
  running = await serve(core);
  keyed = await serve(core, { reflection: true });
  asked = await serveAdmin();
  client = new Client(running.address, credentials.createInsecure());
});
afterAll(async () => {
  client.close();
  await Promise.all([running.drain(0), keyed.drain(0)]);
  await asked.admin.close();
  await core.close();
});

describe.each(["v1", "v1alpha"] as const)("reflection %s", (version) => {
  const ask = (...questions: Question[]): Promise<ServerReflectionResponse[]> => reflect(version, questions);
  const symbol = (value: string): Question => ({ $case: "fileContainingSymbol", value });

  test("lists every service", async () => {
    const [answer] = await ask({ $case: "listServices", value: "*" });
    const service = [...SERVICES, ...OPEN_SERVICES].map((name) => ({ name }));
    expect(answer?.messageResponse).toEqual({ $case: "listServicesResponse", value: { service } });
  });

  test("every listed service and every import resolves, with the options that we read", async () => {
    const answers = await ask(...[...SERVICES, ...OPEN_SERVICES].map(symbol));
    const files = new Map(answers.flatMap(filesOf).map((file) => [file.name, file]));
    for (const { dependency } of files.values())
      for (const name of dependency) expect([...files.keys()]).toContain(name);
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: inOrder([...files.values()]) }));
    for (const service of [...SERVICES, ...OPEN_SERVICES]) expect(registry.getService(service), service).toBeDefined();
    const permission = registry.getExtension("tollgate.v1.permission")!;
    const method = registry.getService("tollgate.v1.KeyService")!.method["createKey"]!;
    expect(hasOption(method, permission)).toBe(true);
    expect(getOption(method, permission)).toMatchObject({ scope: "keys" });
  });

  test("every file of the public protocol is found by its name, with what it imports", async () => {
    const all = fromBinary(FileDescriptorSetSchema, descriptorSetBytes()).file.map(({ name }) => name);
    const names = all.filter((name) => !name.startsWith("tollgate/internal/"));
    expect(names.length).toBeLessThan(all.length);
    const answers = await ask(...names.map((value): Question => ({ $case: "fileByFilename", value })));
    expect(answers.map((answer) => filesOf(answer)[0]?.name)).toEqual(names);
    for (const answer of answers) {
      const file = inOrder(filesOf(answer));
      expect(() => createFileRegistry(create(FileDescriptorSetSchema, { file }))).not.toThrow();
    }
  });

  test("a client that has nothing but reflection makes a call", async () => {
    const [answer] = await ask(symbol("tollgate.v1.KeyService.GetCaller"));
    const set = create(FileDescriptorSetSchema, { file: inOrder(filesOf(answer)) });
    const bytes = Buffer.from(toBinary(FileDescriptorSetSchema, set));
    const definition = loadFileDescriptorSetFromBuffer(bytes, { keepCase: true });
    const told = await call(client, "/tollgate.v1.KeyService/GetCaller", definition, {}, secret);
    expect(told).toMatchObject({ key: { account_id: "acme" } });
  });

  test.each([
    { name: "a service", asked: symbol("tollgate.v1.InferenceService"), want: "tollgate/v1/inference_service.proto" },
    { name: "a method", asked: symbol("tollgate.v1.KeyService.GetKey"), want: "tollgate/v1/key_service.proto" },
    { name: "a nested type", asked: symbol("tollgate.v1.ToolChoice.Mode"), want: "tollgate/v1/generation.proto" },
    { name: "an enum's value", asked: symbol("tollgate.v1.ROLE_USER"), want: "tollgate/v1/content.proto" },
    { name: "a field", asked: symbol("tollgate.v1.Key.hint"), want: "tollgate/v1/key_service.proto" },
    { name: "an extension", asked: symbol("tollgate.v1.permission"), want: "tollgate/v1/permission.proto" },
    { name: "an extension's number", asked: extension(METHOD_OPTIONS, 51_234), want: "tollgate/v1/permission.proto" },
    { name: "another's extension", asked: extension(METHOD_OPTIONS, 72_295_728), want: "google/api/annotations.proto" },
  ])("finds the file of $name", async ({ asked, want }) => {
    const [answer] = await ask(asked);
    expect(filesOf(answer)[0]?.name).toBe(want);
  });

  test("tells the numbers of all extensions of a type", async () => {
    const [options, none] = await ask(
      { $case: "allExtensionNumbersOfType", value: METHOD_OPTIONS },
      { $case: "allExtensionNumbersOfType", value: "tollgate.v1.Key" },
    );
    expect(options?.messageResponse?.value).toEqual({
      baseTypeName: METHOD_OPTIONS,
      extensionNumber: [51_234, 72_295_728],
    });
    expect(none?.messageResponse?.value).toEqual({ baseTypeName: "tollgate.v1.Key", extensionNumber: [] });
  });

  test.each<{ name: string; asked: Question; code: status }>([
    {
      name: "a file of our own front ends",
      asked: { $case: "fileByFilename", value: "tollgate/internal/v1/tunnel_service.proto" },
      code: status.NOT_FOUND,
    },
    {
      name: "a service of our own front ends",
      asked: symbol("tollgate.internal.v1.TunnelService"),
      code: status.NOT_FOUND,
    },
    { name: "an unknown file", asked: { $case: "fileByFilename", value: "no.proto" }, code: status.NOT_FOUND },
    { name: "an unknown symbol", asked: symbol("no.Symbol"), code: status.NOT_FOUND },
    { name: "an unknown extension", asked: extension("tollgate.v1.Key", 9), code: status.NOT_FOUND },
    {
      name: "an unknown type",
      asked: { $case: "allExtensionNumbersOfType", value: "no.Type" },
      code: status.NOT_FOUND,
    },
    { name: "nothing", asked: undefined, code: status.INVALID_ARGUMENT },
  ])("a question for $name gets an error, and the talk goes on", async ({ asked, code }) => {
    const [refused, next] = await reflect(version, [asked, { $case: "listServices", value: "" }], "h");
    expect(refused).toMatchObject({ validHost: "h", originalRequest: { host: "h", messageRequest: asked } });
    expect(refused?.messageResponse).toMatchObject({ $case: "errorResponse", value: { errorCode: code } });
    expect(next?.messageResponse?.$case).toBe("listServicesResponse");
  });
});

describe.each(["v1", "v1alpha"] as const)("reflection %s at the address of the services", (version) => {
  const list: Question = { $case: "listServices", value: "*" };
  const open = (key: string | undefined): ReturnType<ServerReflectionClient["serverReflectionInfo"]> => {
    const metadata = new Metadata();
    if (key !== undefined) metadata.set("authorization", `Bearer ${key}`);
    const client = new VERSIONS[version](keyed.address, credentials.createInsecure());
    const stream = client.serverReflectionInfo(metadata);
    return stream.on("close", () => client.close());
  };
  /** The answer to one question; undefined where the talk ended without one. The talk stays open. */
  const answerOf = (
    stream: ReturnType<typeof open>,
    messageRequest: Question = list,
  ): Promise<ServerReflectionResponse> =>
    new Promise((resolve, reject) => {
      stream.once("data", resolve);
      stream.once("error", reject);
      stream.write({ host: "", messageRequest });
    });

  test("is not there where nothing says so", async () => {
    const stream = new VERSIONS[version](running.address, credentials.createInsecure()).serverReflectionInfo(
      new Metadata(),
    );
    await expect(answerOf(stream)).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
  });

  test.each([undefined, "sk-wrong"])("refuses the key %s as every method does", async (key) => {
    await expect(answerOf(open(key))).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
  });

  test("tells a caller with any key of what is served there, and of nothing internal", async () => {
    const stream = open(secret);
    const { messageResponse } = await answerOf(stream);
    const own = OPEN_SERVICES.filter((name) => name.startsWith("grpc.reflection"));
    const service = [...SERVICES, ...own].map((name) => ({ name }));
    expect(messageResponse).toEqual({ $case: "listServicesResponse", value: { service } });
    const internal = await answerOf(stream, {
      $case: "fileContainingSymbol",
      value: "tollgate.internal.v1.FrontService",
    });
    expect(internal.messageResponse).toMatchObject({ $case: "errorResponse", value: { errorCode: status.NOT_FOUND } });
    stream.end();
  });

  test("refuses a question that is longer than any name", async () => {
    const long = answerOf(open(secret), { $case: "fileContainingSymbol", value: "a".repeat(1_100) });
    await expect(long).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
  });

  test("holds few conversations of one key, and others once those are over", async () => {
    const { secret: other } = await core.makeKey("acme");
    const held = Array.from({ length: 4 }, () => open(other));
    for (const stream of held) await answerOf(stream);
    await expect(answerOf(open(other))).rejects.toMatchObject({ code: status.UNAVAILABLE });
    const ended = held.map((stream) => new Promise((resolve) => stream.once("end", resolve)));
    for (const stream of held) stream.end();
    await Promise.all(ended);
    const next = open(other);
    expect((await answerOf(next)).messageResponse?.$case).toBe("listServicesResponse");
    next.cancel();
  });
});

function extension(containingType: string, extensionNumber: number): Question {
  return { $case: "fileContainingExtension", value: { containingType, extensionNumber } };
}

/** Asks the questions in one talk and collects the answers. */
function reflect(
  version: keyof typeof VERSIONS,
  questions: readonly Question[],
  host = "",
): Promise<ServerReflectionResponse[]> {
  const talk = new VERSIONS[version](asked.address, credentials.createInsecure());
  const stream = talk.serverReflectionInfo();
  const answers: ServerReflectionResponse[] = [];
  return new Promise<ServerReflectionResponse[]>((resolve, reject) => {
    stream.on("data", (answer: ServerReflectionResponse) => answers.push(answer));
    stream.on("error", reject);
    stream.on("end", () => resolve(answers));
    for (const messageRequest of questions) stream.write({ host, messageRequest });
    stream.end();
  }).finally(() => talk.close());
}

function filesOf(answer: ServerReflectionResponse | undefined): FileProto[] {
  const { messageResponse } = answer ?? {};
  if (messageResponse?.$case !== "fileDescriptorResponse") throw new Error(JSON.stringify(messageResponse));
  return messageResponse.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
}

type FileProto = ReturnType<typeof fromBinary<typeof FileDescriptorProtoSchema>>;

/** Imports before those that import them. */
function inOrder(files: readonly FileProto[]): FileProto[] {
  const sorted: FileProto[] = [];
  const add = (file: FileProto): void => {
    if (sorted.includes(file)) return;
    for (const name of file.dependency) {
      const imported = files.find((one) => one.name === name);
      if (imported !== undefined) add(imported);
    }
    sorted.push(file);
  };
  for (const file of files) add(file);
  return sorted;
}

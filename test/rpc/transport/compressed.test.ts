/** A compressed message is refused: what it would become is nothing that a budget could hold. */
import { compressionAlgorithms, Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { InferenceServiceService } from "../../../src/api/index.js";
import { type Running, serve } from "../dynamic-client.js";
import { openCore, type OpenCore } from "../open-core.js";

/** Of Node: it tells of streams before their server does. */
const [MAJOR = 0, MINOR = 0] = process.versions.node.split(".").map(Number);
const tells = MAJOR > 24 || (MAJOR === 24 && MINOR >= 2) || (MAJOR === 22 && MINOR >= 17);

let core: OpenCore;
let running: Running;
let secret = "";
beforeAll(async () => {
  core = await openCore();
  ({ secret } = await core.makeKey("acme"));
  running = await serve(core);
});
afterAll(async () => {
  await running.drain(0);
  await core.close();
});

function ask(bytes: number, options: Readonly<Record<string, number>>): Promise<ServiceError | undefined> {
  const client = new Client(running.address, credentials.createInsecure(), options);
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${secret}`);
  const source = { wire: "openai-chat", body: Buffer.alloc(bytes, "a"), headers: {} };
  const { path, requestSerialize, responseDeserialize } = InferenceServiceService.generate;
  const request = {
    generation: { model: "echo", input: { $case: "source" as const, value: source } },
    acceptWire: "openai-chat",
  };
  const fromPartial = request as Parameters<typeof requestSerialize>[0];
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, fromPartial, metadata, (error) => {
      client.close();
      resolve(error ?? undefined);
    });
  });
}

const COMPRESSED = ["gzip", "deflate"] as const;

test.skipIf(!tells)("whatever compressed it, and the connection goes on for others", async () => {
  expect(await ask(3_000_000, {})).toBeUndefined();
  for (const algorithm of COMPRESSED) {
    const error = await ask(3_000_000, { "grpc.default_compression_algorithm": compressionAlgorithms[algorithm] });
    expect(error).toMatchObject({
      code: status.UNIMPLEMENTED,
      details: `Received message compressed with unsupported encoding "${algorithm}; send it uncompressed"`,
    });
  }
  expect(
    await ask(3_000_000, { "grpc.default_compression_algorithm": compressionAlgorithms.identity }),
  ).toBeUndefined();
});

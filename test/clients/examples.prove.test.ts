/** Each program of examples/ calls a gateway with stubs made of proto/ alone: whole, streamed, refused, managed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../support/gateway-process.js";
import { missingTools, runExample, TOOLCHAINS } from "./toolchains.js";

// Compilers are slow where they are new, and slower where others work beside.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 });

let gateway: GatewayProcess;
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-examples-"));
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

test.for(TOOLCHAINS)("stubs in $language compile without a warning and make every call", async (chain, { skip }) => {
  const missing = missingTools(chain);
  skip(missing !== "", missing);
  const told = await runExample(chain, folder, [gateway.grpc, OPERATOR_KEY, "sim-1"]);
  expect(told).toEqual({
    whole: expect.stringContaining("Say hello."),
    streamed: told["whole"],
    finished: true,
    refused: "MODEL_UNKNOWN",
    account: expect.stringMatching(/./),
  });
});

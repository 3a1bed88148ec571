/** A Python service with stubs of its own making calls the gRPC server. */
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGrpcServer } from "../../src/rpc/transport/server.js";
import { openCore, type OpenCore } from "../rpc/open-core.js";
import { OPERATOR_KEY, startGateway } from "../support/gateway-process.js";
import { makePythonStubs, runPythonClient } from "./python-client.js";

let core: OpenCore;
let stubs = "";

beforeAll(async () => {
  core = await openCore();
  stubs = await makePythonStubs();
});
afterAll(async () => {
  await rm(stubs, { recursive: true, force: true });
  await core.close();
});

test("stubs made from proto/ alone make a whole call and a streamed one, and read a refusal", async () => {
  const server = createGrpcServer({ dispatcher: core.dispatcher });
  const { port } = await server.listen("127.0.0.1:0");
  const { secret } = await core.makeKey("acme");
  const report = await runPythonClient(stubs, { address: `127.0.0.1:${port}`, key: secret, model: "talk" });
  const [whole, streamed, refused] = core.gateway.calls.map(({ requestId }) => requestId);
  expect(report).toEqual({
    whole: { text: "Say hello.", cost_nanos: "12", request_id: whole },
    streamed: { text: "Say hello.", last: "finish", batches: 2, request_id: streamed },
    refusal: {
      code: "NOT_FOUND",
      reason: "MODEL_UNKNOWN",
      domain: "tollgate",
      message: "The model 'no-such-model' does not exist. GET /v1/models lists those that do.",
      request_id: refused,
    },
  });
  await server.drain(0);
});

test("the same client reaches the real gateway, and pays nothing for its own model", async () => {
  const gateway = await startGateway();
  const report = await runPythonClient(stubs, { address: gateway.grpc, key: OPERATOR_KEY, model: "sim-1" });
  expect(report.whole.text).toContain("Say hello.");
  expect(report.streamed).toMatchObject({ text: report.whole.text, last: "finish" });
  expect(report.whole.cost_nanos).toBe("0");
  expect(report.refusal).toMatchObject({ code: "NOT_FOUND", reason: "MODEL_UNKNOWN", domain: "tollgate" });
  await gateway.stop();
});

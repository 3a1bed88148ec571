/** What asks for no key is on the operator's address alone: metrics, gRPC health and reflection. */
import { credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ServerReflectionService as V1,
  type ServerReflectionClient,
} from "../../../gen/grpc/reflection/v1/reflection.js";
import { ServerReflectionService as V1Alpha } from "../../../gen/grpc/reflection/v1alpha/reflection.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { clientOf, HealthClient } from "../../support/grpc-clients.js";

const REFLECTIONS = {
  v1: clientOf<ServerReflectionClient>(V1, "ServerReflection"),
  v1alpha: clientOf<ServerReflectionClient>(V1Alpha, "ServerReflection"),
};
let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

/** What asking says: the code of a refusal, or OK. */
function health(address: string, key?: string): Promise<string> {
  const client = new HealthClient(address, credentials.createInsecure());
  return new Promise<string>((resolve) => {
    client.check({ service: "" }, metadataOf(key), (error) => resolve(codeOf(error)));
  }).finally(() => client.close());
}

function reflection(version: keyof typeof REFLECTIONS, address: string, key?: string): Promise<string> {
  const client = new REFLECTIONS[version](address, credentials.createInsecure());
  return new Promise<string>((resolve) => {
    const call = client.serverReflectionInfo(metadataOf(key));
    call.on("data", () => resolve("OK"));
    call.on("error", (error: ServiceError) => resolve(codeOf(error)));
    call.write({ host: "", messageRequest: { $case: "listServices", value: "*" } });
    call.end();
  }).finally(() => client.close());
}

function metadataOf(key: string | undefined): Metadata {
  const metadata = new Metadata();
  if (key !== undefined) metadata.set("authorization", `Bearer ${key}`);
  return metadata;
}

function codeOf(error: ServiceError | null): string {
  return error === null ? "OK" : (status[error.code] ?? "");
}

describe.each([
  { who: "nobody", key: undefined },
  { who: "an operator", key: OPERATOR_KEY },
])("asked by $who", ({ key }) => {
  const headers = (): Record<string, string> => (key === undefined ? {} : { authorization: `Bearer ${key}` });

  test.each(["/metrics", "/metrics/", "/Metrics", "//metrics", "/v1/metrics", "/api/v1/metrics", "/debug", "/healthz"])(
    "the public HTTP port has no %s",
    async (path) => {
      const response = await fetch(gateway.url + path, { headers: headers() });
      const text = await response.text();
      expect(response.status).toBe(404);
      expect(text).not.toContain("tollgate_");
    },
  );

  test("the public gRPC port has neither health nor reflection", async () => {
    const said = [
      await health(gateway.grpc, key),
      await reflection("v1", gateway.grpc, key),
      await reflection("v1alpha", gateway.grpc, key),
    ];
    expect(said).toEqual(["UNIMPLEMENTED", "UNIMPLEMENTED", "UNIMPLEMENTED"]);
  });

  test("the operator's address has all of them, and nothing else", async () => {
    const get = async (path: string): Promise<[number, string]> => {
      const response = await fetch(`http://${gateway.admin}${path}`, { headers: headers() });
      return [response.status, await response.text()];
    };
    const [code, text] = await get("/metrics");
    expect([code, text.includes("# TYPE tollgate_generations_total counter")]).toEqual([200, true]);
    expect((await get("/livez"))[0]).toBe(200);
    expect((await get("/readyz"))[0]).toBe(200);
    for (const path of ["/api/v1/accounts", "/", "/openapi.json"]) expect((await get(path))[0]).toBe(404);
    expect(await health(gateway.admin, key)).toBe("OK");
    expect(await reflection("v1", gateway.admin, key)).toBe("OK");
    expect(await reflection("v1alpha", gateway.admin, key)).toBe("OK");
  });
});

test("what the public port tells of health is one word", async () => {
  for (const path of ["/livez", "/readyz"]) {
    const response = await fetch(gateway.url + path);
    expect(await response.json()).toEqual({ status: expect.stringMatching(/^[a-z]+$/) });
  }
});

test("where the operator's address is off, nothing of it is anywhere", async () => {
  const closed = await startGateway({ env: { TOLLGATE_ADMIN: "off" } });
  expect(closed.admin).toBe("");
  expect((await fetch(`${closed.url}/metrics`)).status).toBe(404);
  expect(await health(closed.grpc)).toBe("UNIMPLEMENTED");
  expect(await reflection("v1", closed.grpc)).toBe("UNIMPLEMENTED");
  await closed.stop();
});

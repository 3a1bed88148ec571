/** The operator's own address: one port that speaks HTTP/1 to probes and scrapers, and gRPC to health checks. */
import { Client, credentials } from "@grpc/grpc-js";
import { HealthCheckResponse_ServingStatus as ServingStatus } from "../../gen/grpc/health/v1/health.js";
import { afterEach, expect, test } from "vitest";
import { type Admin, listenAdmin } from "../../src/serve/admin.js";
import { pace } from "../support/pauses.js";
import { RawClient } from "../support/raw-http.js";
import { HealthClient } from "../support/grpc-clients.js";
import { until } from "../support/http-server.js";

let admin: Admin;
let url = "";
const state = { ready: true, draining: false };
afterEach(() => admin.close());

async function start(): Promise<void> {
  const metricsText = (): Promise<string> => Promise.resolve("tollgate_up 1\n");
  admin = await listenAdmin(
    { host: "127.0.0.1", port: 0 },
    { ready: () => state.ready, isDraining: () => state.draining, metricsText },
  );
  url = `http://127.0.0.1:${admin.port}`;
}

test("metrics and probes over HTTP, health over gRPC, on one port and without a key", async () => {
  await start();
  expect(await (await fetch(`${url}/metrics`)).text()).toBe("tollgate_up 1\n");
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await fetch(`${url}/v1/models`)).status).toBe(404);
  state.draining = true;
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  state.draining = false;
  const health = new HealthClient(`127.0.0.1:${admin.port}`, credentials.createInsecure());
  const check = (): Promise<ServingStatus | undefined> =>
    new Promise((resolve, reject) => {
      health.check({ service: "" }, (error, told) => (error === null ? resolve(told?.status) : reject(error)));
    });
  expect(await check()).toBe(ServingStatus.SERVING);
  admin.notServing();
  expect(await check()).toBe(ServingStatus.NOT_SERVING);
  expect(health).toBeInstanceOf(Client);
  health.close();
});

test("a preface that comes in pieces is still read whole", async () => {
  await start();
  const client = await RawClient.open(admin.port);
  client.write("G");
  await pace(20);
  client.write("ET /livez HTTP/1.1\r\nhost: x\r\n\r\n");
  await until(() => client.text.includes("live"), "the answer");
  client.socket.destroy();
});

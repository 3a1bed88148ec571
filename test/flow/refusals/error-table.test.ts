/** Every row of the error table is reached over HTTP, over gRPC, and by the official client. */
import { credentials, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import OpenAI from "openai";
import { script } from "../../support/fake-upstream.js";
import { generateOverGrpc } from "../../support/grpc-refusal.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { openCallers, resetUpstreams, useUp } from "./error-callers.js";
import { chat, NO_HEALTHY_UPSTREAM, type Row, ROWS } from "./error-rows.js";
import { settingsFor, startWorld, type World } from "../../support/world.js";
import { InferenceServiceClient } from "../../support/grpc-clients.js";

let world: World;
let grpc: InferenceServiceClient;
const keys: Record<string, string> = {};

beforeAll(async () => {
  world = await startWorld();
  await openCallers(world, keys);
  grpc = new InferenceServiceClient(world.core.grpc, credentials.createInsecure());
});
afterAll(async () => {
  grpc.close();
  await world.close();
});

const secretOf = (row: Row): string => keys[row.key ?? ""] ?? row.key ?? world.secret;

describe.each(ROWS)("$name", (row) => {
  beforeEach(async () => {
    // Every row meets a healthy upstream, but for the one that is about an unhealthy one.
    await resetUpstreams(world);
    await useUp(world, keys, row.key);
    if (row.name !== NO_HEALTHY_UPSTREAM) return;
    // It fails until it is ejected, and is probed once; for a second or two nobody asks it then.
    const ask = async (): Promise<number> => (await post(row.body, world.secret)).status;
    await expect.poll(ask, { interval: 5, timeout: 60_000 }).toBe(503);
  });

  test(`is ${row.http} over HTTP`, async () => {
    const response = await post(row.body, secretOf(row));
    const text = await response.text();
    const { error } = JSON.parse(text) as { error: Record<string, unknown> };
    expect({ status: response.status, ...error, message: "" }, text).toEqual({
      status: row.http,
      message: "",
      type: row.type,
      code: row.code,
      param: row.param ?? null,
    });
    expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
    expect(response.headers.get("x-should-retry")).toBe(String(row.retry));
    expect(response.headers.get("x-tollgate-reason")).toBe(row.reason);
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    if (row.reason === "RATE_LIMITED" || row.reason === "LEDGER_UNAVAILABLE") {
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Number(response.headers.get("retry-after-ms"))).toBeGreaterThan(0);
    }
    for (const leak of ["sk-upstream", "127.0.0.1:9", "<html", "undefined"]) expect(text).not.toContain(leak);
  });

  test(`is thrown as its class by the official client, streamed as well`, async () => {
    for (const stream of [false, true]) {
      if (row.name !== NO_HEALTHY_UPSTREAM) await resetUpstreams(world);
      const client = world.client({ apiKey: secretOf(row) || "sk-" });
      const asked = client.chat.completions.create({
        ...(row.body as OpenAI.ChatCompletionCreateParamsStreaming),
        stream: stream as true,
      });
      const error: unknown = await asked.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(row.thrown);
      expect(error).toMatchObject({ status: row.http, code: row.code, type: row.type });
    }
  });

  test(`is ${status[row.grpc]} over gRPC`, async () => {
    const failure = await generateOverGrpc(grpc, Buffer.from(JSON.stringify(row.body)), secretOf(row));
    expect(failure).toMatchObject({ code: row.grpc, reason: row.reason, domain: "tollgate" });
    if (row.param !== undefined && row.param !== "model") expect(failure.facts["param"]).toBe(row.param);
    if (row.reason === "RATE_LIMITED") expect(failure.retryInfo).toBe(true);
  });
});

describe("rows that stand apart", () => {
  test("a path that does not exist is 404 unknown_url with a hint", async () => {
    const response = await fetch(`${world.front.url}/v1/v1/chat/completions`, { method: "POST", body: "{}" });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", code: "unknown_url", param: null },
    });
  });

  test("a body over 32 MiB is 413, and RESOURCE_EXHAUSTED over gRPC", async () => {
    const large = JSON.stringify(chat("x".repeat(33 * 1024 * 1024)));
    const response = await post(JSON.parse(large), world.secret);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      error: { code: "request_too_large", type: "invalid_request_error" },
    });
    const failure = await generateOverGrpc(grpc, Buffer.from(large), world.secret);
    // The transport itself refuses it, before anything of ours reads it.
    expect(failure.code).toBe(status.RESOURCE_EXHAUSTED);
  });

  test("a fault of ours is 500 and INTERNAL, tells no cause, and leaves no hold", async () => {
    const env = { TOLLGATE_FAILPOINTS: "before_hold=throw" };
    const faulty = await startGateway({ settings: settingsFor(world.upstream.url), env });
    const client = new InferenceServiceClient(faulty.grpc, credentials.createInsecure());
    const response = await fetch(`${faulty.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" },
      body: JSON.stringify(chat("x")),
    });
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ error: { type: "server_error", code: "internal_error", param: null } });
    expect(text).not.toContain("failpoint");
    expect(response.headers.get("x-should-retry")).toBe("true");
    const failure = await generateOverGrpc(client, Buffer.from(JSON.stringify(chat("x"))), OPERATOR_KEY);
    expect(failure).toMatchObject({ code: status.INTERNAL, reason: "INTERNAL" });
    client.close();
    await faulty.stop();
  });

  test("a ledger that cannot be written is 503 ledger_unavailable", async () => {
    const env = { TOLLGATE_FAILPOINTS: "before_commit=throw:20" };
    const away = await startGateway({ settings: settingsFor(world.upstream.url), env });
    const client = new InferenceServiceClient(away.grpc, credentials.createInsecure());
    const ask = (): Promise<Response> =>
      fetch(`${away.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" },
        body: JSON.stringify(chat("x", { model: "other-1" })),
      });
    await expect.poll(async () => (await ask()).status).toBe(503);
    const response = await ask();
    expect(await response.json()).toMatchObject({ error: { type: "server_error", code: "ledger_unavailable" } });
    const free = Buffer.from(JSON.stringify(chat("x", { model: "other-1" })));
    const failure = await generateOverGrpc(client, free, OPERATOR_KEY);
    expect(failure).toMatchObject({ code: status.UNAVAILABLE, reason: "LEDGER_UNAVAILABLE" });
    client.close();
    await away.kill();
  });

  test("a key at its concurrency is 429 while the other call runs", async () => {
    const { secret } = await world.management.makeKey("acme", { concurrency: "1" });
    await world.management.call("POST", "/upstreams/fake:reset", {});
    const running = post(chat(script({ held: "slow" })), secret);
    await world.upstream.waitFor((request) => request.raw.includes("slow"));
    const refused = await post(chat("x"), secret);
    world.upstream.release("slow");
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { type: "requests", code: "rate_limit_exceeded" } });
    expect((await running).status).toBe(200);
    expect((await post(chat("x"), secret)).status).toBe(200);
  });

  test("an upstream error after the first byte ends the stream without [DONE]", async () => {
    const response = await post(chat(script({ words: 5, errorAfter: 3 }), { stream: true }), world.secret);
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toContain('"error":{"message":');
    expect(text).not.toContain("[DONE]");
    expect(text).not.toContain("fake upstream failed");
  });

  test("a cut upstream never looks complete", async () => {
    const response = await post(chat(script({ words: 9, cutAfter: 4 }), { stream: true }), world.secret);
    const text = await response.text();
    expect(text).toContain("upstream_error");
    expect(text).not.toContain("[DONE]");
  });

  test("a gateway that stops answers 503 to what comes, and finishes what runs", async () => {
    const apart: GatewayProcess = await startGateway({ settings: settingsFor(world.upstream.url) });
    const headers = { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" };
    const slow = JSON.stringify(chat(script({ words: 10, eventDelayMs: 100 }), { model: "other-1", stream: true }));
    const running = await fetch(`${apart.url}/v1/chat/completions`, { method: "POST", headers, body: slow });
    const stopped = apart.stop();
    const text = await running.text();
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
    expect(await stopped).toBe(0);
  });
});

function post(body: unknown, secret: string): Promise<Response> {
  return fetch(`${world.front.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(secret === "" ? {} : { authorization: `Bearer ${secret}` }) },
    body: JSON.stringify(body),
  });
}

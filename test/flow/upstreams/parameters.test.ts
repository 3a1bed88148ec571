/** Parameters that settings fill in, set and drop reach the upstream, whichever format the client speaks. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { says } from "../../support/world.js";

const BOUNDS = "output_tokens_max: 1000, context_tokens: 1000000";
const PRICE = `price: { input: "0.01", output: "0.1", service_tiers: { flex: { multiplier: "0.5" } } }`;
const PARAMETERS =
  "{ default: { temperature: 0.2, stop: [END] }, set: { output_tokens_max: 50, seed: 7 }, drop: [top_p, service_tier] }";

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  const own = "{ set: { temperature: 0.9, output_tokens_max: 20 }, drop: [seed] }";
  gateway = await startGateway({
    settings: [
      "upstreams:",
      `  one: { family: openai-compatible, base_url: "${upstream.url}" }`,
      "models:",
      `  steered: { targets: [{ upstream: one }], parameters: ${PARAMETERS}, ${BOUNDS}, ${PRICE} }`,
      `  natural: { targets: [{ upstream: one }], ${BOUNDS}, ${PRICE} }`,
      `  of-target: { targets: [{ upstream: one, parameters: ${own} }], parameters: ${PARAMETERS}, ${BOUNDS}, ${PRICE} }`,
      `  reasoning: { targets: [{ upstream: one }], parameters: { set: { reasoning_effort: low } }, ${BOUNDS}, ${PRICE} }`,
      "",
    ].join("\n"),
  });
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const PATHS = { chat: "/v1/chat/completions", messages: "/v1/messages" } as const;

async function ask(path: keyof typeof PATHS, body: object) {
  const response = await fetch(gateway.url + PATHS[path], {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ messages: says("Hello"), ...body }),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  const id = String(response.headers.get("x-request-id"));
  const shown = await management.call("GET", `/requests/${id}`);
  const request = shown.body["request"] as Record<string, unknown> & { detail: Record<string, unknown> };
  return { sent: upstream.requests.at(-1)?.body as Record<string, unknown>, request };
}

test("a body of the upstream's own format keeps what is not changed, to the letter", async () => {
  const { sent, request } = await ask("chat", {
    model: "steered",
    top_p: 0.5,
    service_tier: "flex",
    max_tokens: 400,
    logprobs: false,
    metadata: { a: "b" },
  });
  expect(sent).toMatchObject({ temperature: 0.2, stop: ["END"], seed: 7, max_tokens: 50, metadata: { a: "b" } });
  expect(Object.keys(sent)).not.toContain("top_p");
  expect(Object.keys(sent)).not.toContain("service_tier");
  expect(sent["logprobs"]).toBe(false);
  expect(request.detail["parameters"]).toEqual({
    defaulted: ["temperature", "stop"],
    set: ["output_tokens_max", "seed"],
    dropped: ["top_p", "service_tier"],
  });
});

test("a default gives way to what the client says", async () => {
  const { sent, request } = await ask("chat", { model: "steered", temperature: 1.5, stop: "STOP" });
  expect([sent["temperature"], sent["stop"]]).toEqual([1.5, "STOP"]);
  expect(request.detail["parameters"]).toMatchObject({ defaulted: [], dropped: [] });
});

test("another format is steered alike", async () => {
  const { sent, request } = await ask("messages", { model: "steered", max_tokens: 400, top_p: 0.5 });
  expect(sent).toMatchObject({ temperature: 0.2, stop: ["END"], seed: 7, max_tokens: 50 });
  expect(Object.keys(sent)).not.toContain("top_p");
  expect(request.detail["parameters"]).toMatchObject({ dropped: ["top_p"] });
});

test("a limit that is set lowers the hold", async () => {
  const holdOf = async (model: string): Promise<number> => {
    const { request } = await ask("chat", { model, max_tokens: 900 });
    return Number(request["hold_nanos"]);
  };
  const [steered, natural] = [await holdOf("steered"), await holdOf("natural")];
  expect(natural - steered).toBe((900 - 50) * 100);
});

test("a target's own are over those of its model, and its limit only lowers", async () => {
  const { sent, request } = await ask("chat", { model: "of-target", temperature: 0.1, seed: 3 });
  expect(sent).toMatchObject({ temperature: 0.9, max_tokens: 20, stop: ["END"] });
  expect(Object.keys(sent)).not.toContain("seed");
  expect(request.detail["parameters"]).toEqual({
    defaulted: ["stop"],
    set: ["temperature", "output_tokens_max"],
    dropped: ["seed"],
  });
});

test("how much a model reasons has one place, whatever names a client gives it", async () => {
  const { sent } = await ask("chat", { model: "reasoning", thinking: { type: "enabled" }, reasoning_effort: "high" });
  expect([sent["reasoning_effort"], sent["thinking"]]).toEqual(["low", undefined]);
  const messages = await ask("messages", {
    model: "reasoning",
    max_tokens: 400,
    thinking: { type: "enabled", budget_tokens: 200 },
  });
  expect(messages.request.detail["parameters"]).toEqual({ defaulted: [], set: ["reasoning_effort"], dropped: [] });
});

test("a long body is steered by the thread that writes it", async () => {
  const { sent, request } = await ask("chat", { model: "steered", messages: says("word ".repeat(60_000)), top_p: 0.5 });
  expect(sent).toMatchObject({ temperature: 0.2, seed: 7, max_tokens: 50 });
  expect(Object.keys(sent)).not.toContain("top_p");
  expect(request.detail["parameters"]).toMatchObject({ defaulted: ["temperature", "stop"], dropped: ["top_p"] });
});

test("without parameters nothing is changed, and the record says nothing of them", async () => {
  const { request } = await ask("chat", { model: "natural", top_p: 0.5 });
  expect(request.detail["parameters"]).toBeUndefined();
});

test("the estimate counts with the limit that is set", async () => {
  const body = { model: "steered", messages: says("Hello"), max_tokens: 900 };
  const response = await fetch(`${gateway.url}/api/v1/estimate`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(await response.json()).toMatchObject({ admitted: true, output_tokens_max: "50" });
});

/** Servers of one's own that report about themselves: queues by their slots, load, and facts of their models. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { llamaReports, type OwnServer, startOwnServer, vllmReports } from "../../support/own-servers.js";

const STREAMS = 30;

let gateway: GatewayProcess;
let management: Management;
let secret: string;
let llama: OwnServer;
let busy: OwnServer;
let free: OwnServer;
beforeAll(async () => {
  llama = await startOwnServer(llamaReports(1, 4_096), 1);
  busy = await startOwnServer(vllmReports(8, 3, 32_768));
  free = await startOwnServer(vllmReports(0, 0, 32_768));
  gateway = await startGateway({
    settings: `
upstreams:
  llama:
    family: llamacpp
    base_url: "${llama.url}/v1"
    machine_hour: "3600"
    limits: { queue: { length: ${STREAMS}, wait: 60s } }
  busy: { family: vllm, base_url: "${busy.url}/v1" }
  free: { family: vllm, base_url: "${free.url}/v1" }
models:
  local: { targets: [{ upstream: llama, model: m }], price: free }
  promised: { targets: [{ upstream: llama, model: m }], context_tokens: 32768, price: free }
  pair:
    targets: [{ upstream: busy, model: m }, { upstream: free, model: m }]
    balance: load
    affinity: off
    price: free
`,
  });
  management = new Management(gateway);
  await management.account("acme", 0n);
  ({ secret } = await management.makeKey("acme"));
  // The reports are read every few seconds.
  await vi.waitFor(async () => expect(Object.keys(await reports())).toHaveLength(3), { timeout: 60_000 });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([llama, busy, free].map((server) => server.close()));
});

interface Shown {
  readonly id: string;
  readonly server?: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
}

async function upstreams(): Promise<readonly Shown[]> {
  return (await management.call("GET", "/upstreams")).body["upstreams"] as readonly Shown[];
}

async function reports(): Promise<Readonly<Record<string, unknown>>> {
  const shown = (await upstreams()).filter(({ server }) => server !== undefined);
  return Object.fromEntries(shown.map(({ id, server }) => [id, server]));
}

/** Streams at once, each with a prompt of its own. */
function streams(model: string, count: number, topic: string): Promise<string[]> {
  const ask = async (number: number): Promise<string> => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: `${topic} ${number}` }] }),
    });
    const text = await response.text();
    const isWhole = text.includes('"content":"Hi"') && text.endsWith("data: [DONE]\n\n");
    return `${response.status} ${isWhole ? "whole" : text}`;
  };
  return Promise.all(Array.from({ length: count }, (_, number) => ask(number)));
}

const ALL_WHOLE = Array.from({ length: STREAMS }, () => "200 whole");

test("a server of one slot answers 30 streams at once, and gets none of them twice", async () => {
  expect(await streams("local", STREAMS, "slot")).toEqual(ALL_WHOLE);
  expect([...llama.bodies.values()]).toEqual(ALL_WHOLE.map(() => 1));
  expect(llama.mostRunning).toBe(1);
});

test("the hour of its machine is spread over these streams, and is their cost to the operator", async () => {
  const usage = async (): Promise<Readonly<Record<string, string>>> => {
    const { body } = await management.call("GET", "/usage:query?group_by=upstream&upstream=llama");
    return (body["sums"] as Readonly<Record<string, string>>[])[0] ?? {};
  };
  await expect.poll(async () => (await usage())["request_count"]).toBe(String(STREAMS));
  const sum = await usage();
  // An hour is 3,600 USD, and each stream took the server's only slot for 5 ms or more.
  const usd = Number(sum["operator_cost_nanos"]) / 1e9;
  expect(usd).toBeGreaterThan(STREAMS * 0.004);
  expect(usd).toBeLessThan(60);
  expect(sum["margin_nanos"]).toBe(`-${sum["operator_cost_nanos"]}`);
});

test("of two equal servers one is busy with others: the free one gets 30 streams, once each", async () => {
  expect(await streams("pair", STREAMS, "load")).toEqual(ALL_WHOLE);
  expect([...free.bodies.values()]).toEqual(ALL_WHOLE.map(() => 1));
  expect(busy.bodies.size).toBe(0);
});

test("the server's context fills in what settings do not say, and a longer one of theirs is shown", async () => {
  const { models } = (await management.call("GET", "/models")).body as {
    models: { id: string; context_tokens: string }[];
  };
  const contexts = Object.fromEntries(models.map((model) => [model.id, model.context_tokens]));
  expect(contexts).toMatchObject({ local: "4096", pair: "32768", promised: "32768" });
  const [, , shown] = await upstreams();
  expect(shown).toMatchObject({
    id: "llama",
    concurrency: "1",
    server: { slots: "1", context_tokens: "4096", images: false, tools: true },
    warnings: ["The settings give promised a context of 32768 tokens; the server has 4096."],
  });
});

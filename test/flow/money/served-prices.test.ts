/** Whatever passed, the answer decides: another model, another tier and tools are charged at their own price. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { credentials, Metadata } from "@grpc/grpc-js";
import type { GetRequestResponse } from "../../../src/api/index.js";
import { postChat, readAll } from "../../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { says } from "../../support/world.js";
import { UsageServiceClient } from "../../support/grpc-clients.js";

type Json = Readonly<Record<string, unknown>>;

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  const target = "targets: [{ upstream: fake, cost: { input: 0.5, output: 0.5 } }]";
  const limits = "context_tokens: 100000, output_tokens_max: 1000";
  gateway = await startGateway({
    settings: `
upstreams: { fake: { family: openai-compatible, base_url: "${upstream.url}" } }
models:
  cheap:
    ${target.replace(", cost", ", model: cheap, cost")}
    context_tokens: 100000
    output_tokens_max: 1000
    price:
      input: 1
      output: 1
      tiers: [{ above_input_tokens: 50000, input: 2, output: 3 }]
      service_tiers: { priority: { multiplier: 4 } }
      tools: { web_search: 10 }
  dear: { ${target}, ${limits}, price: { input: 9, output: 9 } }
`,
  });
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

/** The members of a request's record that these tests read. */
const shownCost = (request: Json): unknown[] => [request["operator_cost_nanos"], request["margin_nanos"]];

/** One USD per million tokens. */
const TOKEN_NANOS = 1_000n;

const usage = (input: number): Json => ({ prompt_tokens: input, completion_tokens: 10, total_tokens: undefined });
const CASES = [
  { name: "as it was asked", input: 100, members: {}, cost: 110n, doubt: undefined },
  {
    name: "by a version of the model",
    input: 100,
    members: { model: "cheap-2026-01-01" },
    cost: 110n,
    doubt: undefined,
  },
  { name: "a short input, at its tier", input: 50_000, members: {}, cost: 50_010n, doubt: undefined },
  { name: "a long input, all of it at its tier", input: 50_001, members: {}, cost: 100_032n, doubt: undefined },
  { name: "by another model", input: 100, members: { model: "dear" }, cost: 990n, doubt: "other_model" },
  { name: "by a model that nobody knows", input: 100, members: { model: "x" }, cost: 110n, doubt: "other_model" },
  {
    name: "in a service tier that nobody asked",
    input: 100,
    members: { service_tier: "priority" },
    cost: 440n,
    doubt: "other_tier",
  },
] as const;

describe.each([false, true])("an answer is charged, streamed: %s,", (stream) => {
  test.each(CASES)("$name", async ({ input, members, cost, doubt }) => {
    // Long enough that its bytes could be as many tokens as are reported.
    const messages = [...says("word ".repeat(12_000)), ...says(script({ usageIs: usage(input), members }))];
    const response = await postChat(gateway, secret, { model: "cheap", messages, max_tokens: 100, stream });
    await readAll(response);
    const id = String(response.headers.get("x-request-id"));
    const request = async (): Promise<Json> =>
      (await management.call("GET", `/requests/${id}`)).body["request"] as Json;
    await expect.poll(async () => (await request())["state"]).toBe("settled");
    const ended = await request();
    expect(ended["cost_nanos"]).toBe(String(cost * TOKEN_NANOS));
    const operatorCost = (BigInt(input + 10) * TOKEN_NANOS) / 2n;
    expect(shownCost(ended)).toEqual([String(operatorCost), String(cost * TOKEN_NANOS - operatorCost)]);
    await expect.poll(() => doubtOf(id)).toBe(doubt);
    const { model = "fake", service_tier: tier = "" } = members as { model?: string; service_tier?: string };
    const served = ended["served"] as Json;
    expect([served["service_tier"], served["tool_uses"]]).toEqual([tier, []]);
    if (model !== "fake") expect(served["model"]).toBe(model);
  });
});

test("what the operator pays is shown to operators alone", async () => {
  const reader = await management.makeKey("acme", { scopes: ["usage"] });
  const tenant = new Management(gateway, reader.secret);
  const { requests } = (await management.call("GET", "/requests")).body as { requests: Json[] };
  const lists = ["/requests", "/requests?start_time=2020-01-01T00:00:00Z&model=cheap", "/requests?state=settled"];
  const sums = [
    "/usage",
    "/usage:query",
    "/usage:query?group_by=model&group_by=upstream",
    "/usage:query?upstream=fake",
  ];
  for (const path of [...lists, ...sums, `/requests/${String(requests[0]!["id"])}`]) {
    const [own, all] = [await tenant.call("GET", path), await management.call("GET", path)];
    expect([own.status, all.status]).toEqual([200, 200]);
    expect(JSON.stringify(own.body)).not.toMatch(/operator_cost|margin/);
    expect(JSON.stringify(all.body)).toMatch(/"operator_cost_nanos":"\d+",.*"margin_nanos":"\d+"/);
  }
});

test("searches that nobody asked for are told, named and not charged", async () => {
  const usageIs = { ...usage(100), num_search_queries: 2 };
  const response = await postChat(gateway, secret, {
    model: "cheap",
    messages: says(script({ usageIs })),
    max_tokens: 10,
  });
  await readAll(response);
  expect(response.headers.get("x-tollgate-cost-nanos")).toBe(String(110n * TOKEN_NANOS));
  const id = String(response.headers.get("x-request-id"));
  await expect.poll(() => doubtOf(id)).toBe("other_tool");
  const { request } = (await management.call("GET", `/requests/${id}`)).body as { request: Json };
  expect(request["served"]).toEqual({
    model: "cheap",
    service_tier: "",
    tool_uses: [{ name: "web_search", calls: "2" }],
  });
  const service = new UsageServiceClient(gateway.grpc, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${OPERATOR_KEY}`);
  const told = await new Promise<GetRequestResponse>((resolve, reject) => {
    service.getRequest({ id }, metadata, (error, answer) => (error === null ? resolve(answer) : reject(error)));
  });
  service.close();
  expect(told.request?.served).toEqual({
    model: "cheap",
    serviceTier: "",
    toolUses: [{ name: "web_search", calls: 2n }],
  });
});

function doubtOf(id: string): unknown {
  const line = gateway.log.find((text) => text.includes(id) && text.includes('"generation"'));
  return line === undefined ? "no line yet" : (JSON.parse(line) as Json)["usage_doubt"];
}

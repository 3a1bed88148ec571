/**
 * Models that the settings name no price for are sold at the published list, part by part and tier by tier; and what
 * the operator pays is that of the target that answered, beside one price to the client.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { jsonAnswer, type MarkedUpstream, startMarkedUpstream } from "../../support/marked-upstream.js";

type Json = Readonly<Record<string, unknown>>;

let first: MarkedUpstream;
let second: MarkedUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;
beforeAll(async () => {
  [first, second] = [await startMarkedUpstream(), await startMarkedUpstream()];
  gateway = await startGateway({
    settings: `
upstreams:
  anthropic: { family: anthropic, base_url: "${first.url}", api_key: sk-of-this-upstream }
  openai: { family: openai, base_url: "${first.url}/v1", api_key: sk-of-this-upstream }
  near: { family: openai-compatible, base_url: "${first.url}/v1" }
  far: { family: openai-compatible, base_url: "${second.url}/v1" }
models:
  claude-sonnet-4-5: { targets: [{ upstream: anthropic }], context_tokens: 1000000 }
  gpt-5.4-mini: { targets: [{ upstream: openai }] }
  two-ways:
    targets:
      - { upstream: near, priority: 1, cost: { input: 1, output: 2 } }
      - { upstream: far, priority: 2, cost: { input: 5, cache_read: 3, output: 7 } }
    context_tokens: 100000
    output_tokens_max: 1000
    price: { input: 9, output: 9 }
`,
  });
  gateway.expectOddAnswers();
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  first.close();
  second.close();
});

/** What the ledger settled for one request. */
async function settledOf(path: string, body: Json): Promise<Json> {
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const response = await fetch(gateway.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const path2 = `/requests/${String(response.headers.get("x-request-id"))}`;
  const request = async (): Promise<Json> => (await management.call("GET", path2)).body["request"] as Json;
  await expect.poll(async () => (await request())["state"], { timeout: 60_000 }).toBe("settled");
  return request();
}

/** Of a text that is as long as what is reported of it. */
const says = (mark: string, tokens: number): Json[] => [
  { role: "user", content: `${mark} ${"word ".repeat(Math.ceil(tokens * 1.2))}` },
];

interface Told {
  readonly input: number;
  readonly read: number;
  readonly written: number;
  readonly writtenHour: number;
  readonly output: number;
  readonly searches?: number;
}

// The list of claude-sonnet-4-5 by its vendor, in USD per million: 3 and 15, above 200,000 tokens 6 and 22.50; what is
// read from a cache costs a tenth of the input, written to it 1.25 times, for an hour twice as much.
const CLAUDE: readonly { readonly name: string; readonly told: Told; readonly nanos: number }[] = [
  {
    name: "all parts of a short prompt",
    told: { input: 1_000, read: 2_000, written: 300, writtenHour: 400, output: 500 },
    nanos: 1_000 * 3_000 + 2_000 * 300 + 300 * 3_750 + 400 * 6_000 + 500 * 15_000,
  },
  {
    name: "the longest prompt of the short tier",
    told: { input: 150_000, read: 49_000, written: 600, writtenHour: 400, output: 500 },
    nanos: 150_000 * 3_000 + 49_000 * 300 + 600 * 3_750 + 400 * 6_000 + 500 * 15_000,
  },
  {
    name: "a prompt one token longer",
    told: { input: 150_001, read: 49_000, written: 600, writtenHour: 400, output: 500 },
    nanos: 150_001 * 6_000 + 49_000 * 600 + 600 * 7_500 + 400 * 12_000 + 500 * 22_500,
  },
  {
    name: "searches, by the thousand",
    told: { input: 1_000, read: 0, written: 0, writtenHour: 0, output: 500, searches: 2 },
    nanos: 1_000 * 3_000 + 500 * 15_000 + 2 * 10_000_000,
  },
];

describe("claude-sonnet-4-5 is charged", () => {
  test.each(CLAUDE)("$name", async ({ told, nanos }) => {
    const mark = `mark-${nanos}.`;
    const { input, read, written, writtenHour, output, searches = 0 } = told;
    const usage = {
      input_tokens: input,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written + writtenHour,
      cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: writtenHour },
      output_tokens: output,
      ...(searches > 0 ? { server_tool_use: { web_search_requests: searches } } : {}),
    };
    const head = { id: "m", type: "message", role: "assistant", model: "claude-sonnet-4-5", stop_sequence: null };
    const content = [{ type: "text", text: "Hi." }];
    first.answers.set(mark, jsonAnswer({ ...head, content, stop_reason: "end_turn", usage }));
    const tools = [{ type: "web_search_20250305", name: "web_search", max_uses: searches }];
    const settled = await settledOf("/v1/messages", {
      model: "claude-sonnet-4-5",
      max_tokens: 1_000,
      messages: says(mark, input + read + written + writtenHour),
      ...(searches > 0 ? { tools } : {}),
    });
    expect([settled["cost_nanos"], settled["charged_nanos"]]).toEqual([String(nanos), String(nanos)]);
  });
});

function chatAnswer(model: string, usage: Json): Json {
  const choices = [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }];
  return { id: "x", object: "chat.completion", created: 1, model, choices, usage };
}

test("gpt-5.4-mini is charged as its vendor lists it: 0.75, cached 0.075, and 4.50", async () => {
  const prompt = { prompt_tokens: 1_000, prompt_tokens_details: { cached_tokens: 400 } };
  const completion = { completion_tokens: 300, completion_tokens_details: { reasoning_tokens: 200 } };
  first.answers.set(
    "mark-mini.",
    jsonAnswer(chatAnswer("gpt-5.4-mini", { ...prompt, ...completion, total_tokens: 1_300 })),
  );
  const asked = { model: "gpt-5.4-mini", max_completion_tokens: 500, messages: says("mark-mini.", 1_000) };
  const settled = await settledOf("/v1/chat/completions", asked);
  expect(settled["cost_nanos"]).toBe(String(600 * 750 + 400 * 75 + 300 * 4_500));
});

test("one price to the client, and of each request the cost and the margin of the target that answered", async () => {
  const usage = { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 40 }, completion_tokens: 50 };
  const answer = jsonAnswer(chatAnswer("two-ways", { ...usage, total_tokens: 150 }));
  first.answers.set("mark-near.", answer);
  // Who has no answer refuses with 500, so that the next target is asked.
  second.answers.set("mark-far.", answer);
  const figures: unknown[] = [];
  for (const mark of ["mark-near.", "mark-far."]) {
    const asked = { model: "two-ways", max_tokens: 100, messages: says(mark, 200) };
    const settled = await settledOf("/v1/chat/completions", asked);
    figures.push([settled["cost_nanos"], settled["operator_cost_nanos"], settled["margin_nanos"]]);
  }
  const price = 150 * 9_000;
  const [near, far] = [100 * 1_000 + 50 * 2_000, 60 * 5_000 + 40 * 3_000 + 50 * 7_000];
  expect(figures).toEqual([near, far].map((cost) => [price, cost, price - cost].map(String)));
});

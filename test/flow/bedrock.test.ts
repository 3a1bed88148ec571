/** Amazon's Bedrock, end to end: signed requests, binary streams, and the clients of two other wires. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  AWS_ID,
  AWS_REGION,
  AWS_SECRET,
  AWS_TOKEN,
  BEARER,
  type BedrockScript,
  type FakeBedrock,
  startFakeBedrock,
  steer,
} from "../support/fake-bedrock.js";
import { type GatewayProcess, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";

const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

let aws: FakeBedrock;
let gateway: GatewayProcess;
let chat: OpenAI;
let claude: Anthropic;

beforeAll(async () => {
  aws = await startFakeBedrock();
  const limits = 'context_tokens: 100000, output_tokens_max: 5000, price: { input: "0.01", output: "0.1" }';
  const model = (upstream: string): string => `{ targets: [{ upstream: ${upstream}, model: "${CLAUDE}" }], ${limits} }`;
  const keys: Readonly<Record<string, string>> = {
    // Refusals are remembered, so those that are asked for come from upstreams of their own.
    ...Object.fromEntries(REFUSED.map((_, place) => [`refusing-${place}`, `${AWS_ID}:${AWS_SECRET}`])),
    cloud: `${AWS_ID}:${AWS_SECRET}:${AWS_TOKEN}`,
    bearer: BEARER,
    stranger: `${AWS_ID}:another-secret`,
  };
  gateway = await startGateway({
    settings: [
      "upstreams:",
      ...Object.entries(keys).map(
        ([id, key]) => `  ${id}: { family: bedrock, base_url: "${aws.url}", api_key: "${key}" }`,
      ),
      `  environment: { family: bedrock, base_url: "${aws.url}" }`,
      "models:",
      ...[...Object.keys(keys), "environment"].map((id) => `  ${id}-1: ${model(id)}`),
      "",
    ].join("\n"),
    env: { AWS_ACCESS_KEY_ID: AWS_ID, AWS_SECRET_ACCESS_KEY: AWS_SECRET, AWS_REGION },
  });
  const management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  const { secret } = await management.makeKey("acme");
  chat = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 });
  claude = new Anthropic({ baseURL: gateway.url, apiKey: secret, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await aws.close();
});

/** How each refusal is told: what the upstream says, and what each client hears. */
const REFUSED: readonly (BedrockScript & { readonly name: string; readonly hears: object })[] = [
  {
    name: "a validation",
    status: 400,
    errorType: "ValidationException",
    body: { message: "topP is out of range" },
    hears: { status: 400, message: expect.stringContaining("topP is out of range") },
  },
];

function ask(script: BedrockScript | string, model = "cloud-1"): Promise<OpenAI.ChatCompletion> {
  const content = typeof script === "string" ? script : steer(script);
  return chat.chat.completions.create({ model, messages: [{ role: "user", content }] });
}

/** The same as a stream: what the client's own helper makes of it, with the usage of the last chunk. */
async function streamed(
  script: BedrockScript,
  more: Pick<Partial<Asked>, "tools" | "reasoning_effort" | "stop"> = {},
): Promise<Told> {
  const messages: Asked["messages"] = [{ role: "user", content: steer(script) }];
  const stream = chat.chat.completions.stream({
    model: "cloud-1",
    messages,
    stream_options: { include_usage: true },
    ...more,
  });
  let usage: OpenAI.CompletionUsage | undefined;
  stream.on("chunk", (chunk) => (usage = chunk.usage ?? usage));
  return Object.assign(await stream.finalChatCompletion(), { usage });
}

type Told = Pick<OpenAI.ChatCompletion, "choices"> & { readonly usage?: OpenAI.CompletionUsage | undefined };
type Asked = OpenAI.ChatCompletionCreateParamsNonStreaming;

describe("who asks", () => {
  test.each(["cloud", "bearer", "environment"])("%s is known by its signature, or its key", async (upstream) => {
    const answer = await ask("hi", `${upstream}-1`);
    expect(answer.choices[0]?.message.content).toBe("Hello from Bedrock.");
    expect(aws.requests.at(-1)?.url).toBe(`/model/${encodeURIComponent(CLAUDE)}/converse`);
  });

  test("a wrong secret is the operator's trouble, never the client's", async () => {
    const refusal = await ask("hi", "stranger-1").catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 502 });
    expect(String(refusal) + gateway.log.join("")).not.toContain("another-secret");
  });
});

describe("text", () => {
  test("whole and streamed, byte by byte, with the same usage", async () => {
    const answer = await ask({ byByte: true });
    const stream = await streamed({ byByte: true });
    expect(aws.requests.at(-1)?.url).toBe(`/model/${encodeURIComponent(CLAUDE)}/converse-stream`);
    for (const { choices, usage } of [answer, stream]) {
      expect(choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "Hello from Bedrock." } });
      expect(usage).toMatchObject({
        prompt_tokens: 117,
        completion_tokens: 4,
        prompt_tokens_details: { cached_tokens: 100 },
      });
    }
  });

  test("Anthropic's client, whole and streamed", async () => {
    const body = { model: "cloud-1", max_tokens: 100, messages: [{ role: "user" as const, content: "hi" }] };
    const answers = [await claude.messages.create(body), await claude.messages.stream(body).finalMessage()];
    for (const answer of answers) {
      expect(answer.content.map((block) => (block.type === "text" ? block.text : "")).join("")).toBe(
        "Hello from Bedrock.",
      );
      expect(answer).toMatchObject({
        stop_reason: "end_turn",
        usage: { input_tokens: 10, output_tokens: 4, cache_read_input_tokens: 100, cache_creation_input_tokens: 7 },
      });
    }
  });
});

test.each(REFUSED)("$name is told as what it is", async ({ name: _, hears, ...script }) => {
  await expect(
    ask(script, `refusing-${REFUSED.findIndex(({ body }) => body === script.body)}-1`),
  ).rejects.toMatchObject(hears);
});

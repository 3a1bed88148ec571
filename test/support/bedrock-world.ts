/** A gateway over a fake Bedrock, with the official clients of two other wires. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
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
} from "./fake-bedrock.js";
import { type GatewayProcess, startGateway } from "./gateway-process.js";
import { Management } from "./management.js";

/** The model behind all models of this gateway, which are named as their upstreams with -1 behind. */
export const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

const LIMITS = 'context_tokens: 100000, output_tokens_max: 5000, price: { input: "0.01", output: "0.1" }';

export type Told = Pick<OpenAI.ChatCompletion, "choices"> & { readonly usage?: OpenAI.CompletionUsage | undefined };
type Asked = OpenAI.ChatCompletionCreateParamsNonStreaming;

export interface BedrockWorld {
  readonly aws: FakeBedrock;
  readonly gateway: GatewayProcess;
  readonly chat: OpenAI;
  readonly claude: Anthropic;
  ask(script: BedrockScript | string, model?: string): Promise<OpenAI.ChatCompletion>;
  /** The same as a stream: what the client's own helper makes of it, with the usage of the last chunk. */
  streamed(script: BedrockScript, more?: Pick<Partial<Asked>, "tools" | "stop" | "model">): Promise<Told>;
  close(): Promise<void>;
}

/** `more` upstreams stand beside those that differ in who they are: what one refuses is remembered of it. */
export async function startBedrockWorld(more: readonly string[] = []): Promise<BedrockWorld> {
  const aws = await startFakeBedrock();
  const keys: Readonly<Record<string, string>> = {
    ...Object.fromEntries(more.map((name) => [name, `${AWS_ID}:${AWS_SECRET}`])),
    cloud: `${AWS_ID}:${AWS_SECRET}:${AWS_TOKEN}`,
    bearer: BEARER,
    stranger: `${AWS_ID}:another-secret`,
  };
  const model = (upstream: string): string => `{ targets: [{ upstream: ${upstream}, model: "${CLAUDE}" }], ${LIMITS} }`;
  const gateway = await startGateway({
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
  const chat = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 });
  return {
    aws,
    gateway,
    chat,
    claude: new Anthropic({ baseURL: gateway.url, apiKey: secret, maxRetries: 0 }),
    ask: (script, asked = "cloud-1") => {
      const content = typeof script === "string" ? script : steer(script);
      return chat.chat.completions.create({ model: asked, messages: [{ role: "user", content }] });
    },
    streamed: async (script, others = {}) => {
      const messages: Asked["messages"] = [{ role: "user", content: steer(script) }];
      const options = { stream_options: { include_usage: true } };
      const stream = chat.chat.completions.stream({ model: "cloud-1", messages, ...options, ...others });
      let usage: OpenAI.CompletionUsage | undefined;
      stream.on("chunk", (chunk) => (usage = chunk.usage ?? usage));
      return Object.assign(await stream.finalChatCompletion(), { usage });
    },
    close: async () => {
      await gateway.stop();
      await aws.close();
    },
  };
}

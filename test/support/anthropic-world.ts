/** A gateway over a fake Anthropic and a fake OpenAI-compatible upstream, with the official clients of both. */
import Anthropic from "@anthropic-ai/sdk";
import OldAnthropic from "anthropic-sdk-0";
import OpenAI from "openai";
import { type FakeAnthropic, startFakeAnthropic } from "./fake-anthropic.js";
import { type FakeUpstream, startFakeUpstream } from "./fake-upstream.js";
import { type GatewayProcess, startGateway } from "./gateway-process.js";
import { Management } from "./management.js";

/** The secret of the gateway at Anthropic; no client may ever see it. */
export const ANTHROPIC_SECRET = "sk-ant-upstream-secret-of-this-test";

const LIMITS = "context_tokens: 100000, output_tokens_max: 8000";

export interface AnthropicWorld {
  readonly upstream: FakeAnthropic;
  readonly openai: FakeUpstream;
  readonly gateway: GatewayProcess;
  readonly management: Management;
  readonly secret: string;
  /** The client of today, which sends its key as everybody does, and the one before. */
  readonly anthropic: Anthropic;
  readonly older: OldAnthropic;
  readonly chat: OpenAI;
  /** Posts to the gateway as Anthropic's clients do. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  close(): Promise<void>;
}

export async function startAnthropicWorld(): Promise<AnthropicWorld> {
  const upstream = await startFakeAnthropic();
  const openai = await startFakeUpstream();
  const model = (target: string): string =>
    `{ targets: [${target}], ${LIMITS}, price: { input: "0.01", output: "0.1" } }`;
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const settings = [
    "upstreams:",
    `  claude: { family: anthropic, base_url: "${upstream.url}", api_key: "${ANTHROPIC_SECRET}" }`,
    `  fake: { family: openai-compatible, base_url: "${openai.url}", api_key: "sk-upstream-secret-0123456789"`,
    "    , media_addresses: pass }",
    // Refusals are remembered, so those that are asked for come from upstreams of their own.
    ...names.flatMap((name) => [
      `  claude-${name}: { family: anthropic, base_url: "${upstream.url}", api_key: "${ANTHROPIC_SECRET}" }`,
      `  fake-${name}: { family: openai-compatible, base_url: "${openai.url}" }`,
    ]),
    "models:",
    ...names.flatMap((name) => [
      `  refusing-claude-${name}: ${model(`{ upstream: claude-${name}, model: claude-opus-5 }`)}`,
      `  refusing-fake-${name}: ${model(`{ upstream: fake-${name} }`)}`,
    ]),
    ...["claude-opus-5", "claude-opus-5-5", "claude-sonnet-4-5"].map(
      (id) => `  ${id}: ${model("{ upstream: claude }")}`,
    ),
    `  org/renamed: ${model("{ upstream: claude, model: claude-opus-5 }")}`,
    `  fake-1: ${model("{ upstream: fake }")}`,
    "",
  ].join("\n");
  const gateway = await startGateway({ settings });
  const management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  const { secret } = await management.makeKey("acme");
  const options = { baseURL: gateway.url, apiKey: secret, maxRetries: 0 };
  return {
    upstream,
    openai,
    gateway,
    management,
    secret,
    anthropic: new Anthropic(options),
    older: new OldAnthropic(options),
    chat: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 }),
    post: (path, body, headers = { "x-api-key": secret, "anthropic-version": "2023-06-01" }) =>
      fetch(gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    close: async () => {
      await gateway.stop();
      await upstream.close();
      await openai.close();
    },
  };
}

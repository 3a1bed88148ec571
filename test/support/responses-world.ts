/** A gateway over fake upstreams of every family, with the clients that speak OpenAI's responses. */
import { createOpenAI } from "@ai-sdk/openai";
import OpenAI from "openai";
import { type FakeAnthropic, startFakeAnthropic } from "./fake-anthropic.js";
import { type FakeGemini, startFakeGemini } from "./fake-gemini.js";
import { type FakeUpstream, startFakeUpstream } from "./fake-upstream.js";
import { type GatewayProcess, startGateway } from "./gateway-process.js";
import { Management } from "./management.js";

const LIMITS = "context_tokens: 100000, output_tokens_max: 8000";

export interface ResponsesWorld {
  readonly openai: FakeUpstream;
  readonly claude: FakeAnthropic;
  readonly google: FakeGemini;
  readonly gateway: GatewayProcess;
  readonly management: Management;
  readonly secret: string;
  readonly client: OpenAI;
  readonly ai: ReturnType<typeof createOpenAI>;
  /** Posts a body as it is. */
  post(body: unknown): Promise<Response>;
  close(): Promise<void>;
}

/** `fake-1` is behind chat completions, `native-1` behind OpenAI itself, the others behind their own families. */
export async function startResponsesWorld(): Promise<ResponsesWorld> {
  const openai = await startFakeUpstream();
  const claude = await startFakeAnthropic();
  const google = await startFakeGemini();
  const model = (upstream: string, tools = "{ web_search: 10 }"): string =>
    `{ targets: [{ upstream: ${upstream} }], ${LIMITS}, price: { input: "0.01", output: "0.1", tools: ${tools} } }`;
  const settings = [
    "upstreams:",
    `  fake: { family: openai-compatible, base_url: "${openai.url}", api_key: "sk-upstream-secret-0123456789" }`,
    `  native: { family: openai, base_url: "${openai.url}", api_key: "sk-upstream-secret-0123456789" }`,
    `  claude: { family: anthropic, base_url: "${claude.url}", api_key: "sk-ant-upstream-secret" }`,
    `  google: { family: gemini, base_url: "${google.url}", api_key: "AIza-upstream-secret" }`,
    "models:",
    `  fake-1: ${model("fake")}`,
    `  native-1: ${model("native")}`,
    `  unsearched-1: ${model("native", "{}")}`,
    `  org/renamed: { targets: [{ upstream: native, model: native-1 }], ${LIMITS}, price: free }`,
    `  claude-sonnet-4-5: ${model("claude")}`,
    `  gemini-3-flash: ${model("google")}`,
    "",
  ].join("\n");
  const gateway = await startGateway({ settings });
  const management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  const { secret } = await management.makeKey("acme");
  const baseURL = `${gateway.url}/v1`;
  return {
    openai,
    claude,
    google,
    gateway,
    management,
    secret,
    client: new OpenAI({ baseURL, apiKey: secret, maxRetries: 0 }),
    ai: createOpenAI({ baseURL, apiKey: secret }),
    post: (body) =>
      fetch(`${baseURL}/responses`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    close: async () => {
      await gateway.stop();
      await Promise.all([openai.close(), claude.close(), google.close()]);
    },
  };
}

/** A gateway over a fake upstream of each wire and one of vectors, which answer what a framework's own examples ask. */
import { startFakeAnthropic } from "../support/fake-anthropic.js";
import { startFakeGemini } from "../support/fake-gemini.js";
import { startFakeUpstream } from "../support/fake-upstream.js";
import { startFakeVectors } from "../support/fake-vectors.js";
import { type GatewayProcess, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { forAnthropic, forGoogle, forOpenAi } from "../agents/scenario.js";
import { sayingFor } from "./saying.js";

/** Models by the wire of their upstream. */
export const MODELS = {
  openai: "gpt-5.4",
  anthropic: "claude-sonnet-4-5",
  gemini: "gemini-2.5-flash",
  "openai-compatible": "qwen3-coder",
} as const;
export const VECTORS = "text-embedding-3-small";
export type UpstreamWire = keyof typeof MODELS;

const LIMITS = 'context_tokens: 400000, output_tokens_max: 64000, price: { input: "0.01", output: "0.1" }';

export interface FrameworkWorld {
  readonly gateway: GatewayProcess;
  readonly secret: string;
  close(): Promise<void>;
}

export async function startFrameworkWorld(): Promise<FrameworkWorld> {
  const vectors = await startFakeVectors();
  const [openai, claude, google] = await Promise.all([startFakeUpstream(), startFakeAnthropic(), startFakeGemini()]);
  openai.decide = (body) => forOpenAi(sayingFor(body));
  claude.decide = (body) => forAnthropic(sayingFor(body));
  google.decide = (body) => forGoogle(sayingFor(body));
  const wires = Object.keys(MODELS) as UpstreamWire[];
  const settings = [
    "upstreams:",
    `  openai: { family: openai, base_url: "${openai.url}", api_key: "sk-upstream-secret-0123456789" }`,
    `  anthropic: { family: anthropic, base_url: "${claude.url}", api_key: "sk-ant-upstream-secret" }`,
    `  gemini: { family: gemini, base_url: "${google.url}", api_key: "AIza-upstream-secret" }`,
    `  openai-compatible: { family: openai-compatible, base_url: "${openai.url}", api_key: "sk-upstream-secret-0123" }`,
    `  vectors: { family: openai-compatible, base_url: "${vectors.url}/v1" }`,
    "models:",
    ...wires.map((wire) => `  ${MODELS[wire]}: { targets: [{ upstream: ${wire} }], ${LIMITS} }`),
    `  ${VECTORS}: { kind: embedding, targets: [{ upstream: vectors }], context_tokens: 8000, price: { input: "0.02", output: "0" } }`,
    "",
  ].join("\n");
  const gateway = await startGateway({ settings });
  const management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  const { secret } = await management.makeKey("acme");
  return {
    gateway,
    secret,
    close: async () => {
      await gateway.stop();
      await Promise.all([openai.close(), claude.close(), google.close(), vectors.close()]);
    },
  };
}

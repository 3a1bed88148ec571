/** A gateway over a fake upstream of each wire, all of which follow the scenario of the run. */
import { startFakeAnthropic } from "../support/fake-anthropic.js";
import { startFakeGemini } from "../support/fake-gemini.js";
import { startFakeUpstream } from "../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { forAnthropic, forGoogle, forOpenAi, Scenario } from "./scenario.js";

/** Models by the wire of their upstream. */
export const MODELS = {
  openai: "gpt-5.4",
  anthropic: "claude-sonnet-4-5",
  gemini: "gemini-2.5-flash",
  "openai-compatible": "qwen3-coder",
} as const;
export type UpstreamWire = keyof typeof MODELS;

const LIMITS = 'context_tokens: 400000, output_tokens_max: 64000, price: { input: "0.01", output: "0.1" }';

export interface AgentWorld {
  readonly gateway: GatewayProcess;
  readonly secret: string;
  /** From now on all upstreams follow it. */
  follow(scenario: Scenario): void;
  /** What the gateway refused since it was last asked, as the record of its answers tells it. */
  refusals(): string[];
  close(): Promise<void>;
}

export async function startAgentWorld(): Promise<AgentWorld> {
  const [openai, claude, google] = await Promise.all([startFakeUpstream(), startFakeAnthropic(), startFakeGemini()]);
  let scenario = new Scenario("answer");
  openai.decide = (body) => forOpenAi(scenario.say(body));
  claude.decide = (body) => forAnthropic(scenario.say(body));
  google.decide = (body) => forGoogle(scenario.say(body));
  const model = (wire: UpstreamWire): string => `  ${MODELS[wire]}: { targets: [{ upstream: ${wire} }], ${LIMITS} }`;
  const settings = [
    "upstreams:",
    `  openai: { family: openai, base_url: "${openai.url}", api_key: "sk-upstream-secret-0123456789" }`,
    `  anthropic: { family: anthropic, base_url: "${claude.url}", api_key: "sk-ant-upstream-secret" }`,
    `  gemini: { family: gemini, base_url: "${google.url}", api_key: "AIza-upstream-secret" }`,
    `  openai-compatible: { family: openai-compatible, base_url: "${openai.url}", api_key: "sk-upstream-secret-0123456789" }`,
    "models:",
    ...(Object.keys(MODELS) as UpstreamWire[]).map(model),
    "",
  ].join("\n");
  const gateway = await startGateway({ settings });
  const management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  const { secret } = await management.makeKey("acme");
  let read = 0;
  return {
    gateway,
    secret,
    follow: (next) => {
      scenario = next;
    },
    refusals: () => {
      const statuses = gateway.statuses().slice(read);
      read += statuses.length;
      return statuses.filter((status) => / 4\d\d$/.test(status));
    },
    close: async () => {
      await gateway.stop();
      await Promise.all([openai.close(), claude.close(), google.close()]);
    },
  };
}

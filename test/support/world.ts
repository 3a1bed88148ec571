/** A whole world for flow tests: a fake upstream, a real gateway over it, and an account with a key. */
import OpenAI from "openai";
import { type FakeUpstream, startFakeUpstream } from "./fake-upstream.js";
import { type GatewayProcess, startGateway } from "./gateway-process.js";
import { Management } from "./management.js";

/** How the HTTP side reaches the core: in its own process, or over gRPC in another. */
export type Topology = "one process" | "front end apart";
export const TOPOLOGIES: readonly Topology[] = ["one process", "front end apart"];

const SECRET = "a root secret of this test, long enough";

/** Ten nano-USD a token read and a hundred a token answered, so that sums are easy to follow. */
export const PRICE = { inputNanos: 10n, outputNanos: 100n };

export interface World {
  readonly upstream: FakeUpstream;
  /** The process that clients talk HTTP with. */
  readonly front: GatewayProcess;
  /** The process that holds the core. */
  readonly core: GatewayProcess;
  readonly management: Management;
  /** The secret of a key of the account `acme`, which has 100 USD. */
  readonly secret: string;
  /** The official client, without retries unless asked. */
  client(options?: { apiKey?: string; maxRetries?: number }): OpenAI;
  close(): Promise<void>;
}

/** `outputTokensMax` is that of `fake-1`. */
export function settingsFor(upstreamUrl: string, outputTokensMax = 1_000): string {
  const contextTokens = Math.max(100_000, outputTokensMax);
  return [
    "upstreams:",
    `  fake: { family: openai-compatible, base_url: "${upstreamUrl}", api_key: "sk-upstream-secret-0123456789" }`,
    `  gone: { family: openai-compatible, base_url: "http://127.0.0.1:9/v1" }`,
    "models:",
    `  fake-1: { targets: [{ upstream: fake }], context_tokens: ${contextTokens}, output_tokens_max: ${outputTokensMax}, price: { input: "0.01", output: "0.1" } }`,
    `  other-1: { targets: [{ upstream: fake, model: renamed }], context_tokens: 100000, output_tokens_max: 1000, price: free }`,
    `  org/deep-1: { targets: [{ upstream: fake }], context_tokens: 100000, output_tokens_max: 1000, price: free }`,
    `  gone-1: { targets: [{ upstream: gone }], context_tokens: 100000, output_tokens_max: 1000, price: free }`,
    "",
  ].join("\n");
}

/** A line of the settings: the model `searching-1`, which searches for nothing but the tokens of each round. */
export function searchingModel(contextTokens: number): string {
  const bounds = `context_tokens: ${contextTokens}, output_tokens_max: 1000`;
  const price = `{ input: "0.01", output: "0.1", tools: { web_search: 0 } }`;
  return `  searching-1: { targets: [{ upstream: fake }], ${bounds}, price: ${price} }\n`;
}

/** `moreModels` are lines of the settings file below `models:`. */
export async function startWorld(
  topology: Topology = "one process",
  outputTokensMax?: number,
  moreModels = "",
): Promise<World> {
  const upstream = await startFakeUpstream();
  const core = await startGateway({
    settings: settingsFor(upstream.url, outputTokensMax) + moreModels,
    env: { TOLLGATE_SECRET: SECRET },
  });
  const front =
    topology === "one process"
      ? core
      : await startGateway({ env: { TOLLGATE_CORE: core.grpc, TOLLGATE_SECRET: SECRET } });
  const management = new Management(front);
  await management.account("acme", 100_000_000_000n);
  const { secret } = await management.makeKey("acme");
  return {
    upstream,
    front,
    core,
    management,
    secret,
    client: (options = {}) =>
      new OpenAI({
        baseURL: `${front.url}/v1`,
        apiKey: options.apiKey ?? secret,
        maxRetries: options.maxRetries ?? 0,
      }),
    close: async () => {
      if (front !== core) await front.stop();
      await core.stop();
      await upstream.close();
    },
  };
}

/** One user message that steers the fake upstream, or just says something. */
export function says(content: string): { role: "user"; content: string }[] {
  return [{ role: "user", content }];
}

/** A gateway over a fake Gemini and a fake OpenAI-compatible upstream, with the official clients of both. */
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { type FakeGemini, startFakeGemini } from "./fake-gemini.js";
import { type FakeUpstream, startFakeUpstream } from "./fake-upstream.js";
import { type GatewayProcess, startGateway } from "./gateway-process.js";
import { Management } from "./management.js";

/** The secret of the gateway at Google; no client may ever see it. */
export const GOOGLE_SECRET = "AIza-upstream-secret-of-this-test";

const LIMITS = "context_tokens: 100000, output_tokens_max: 1000";

export interface GeminiWorld {
  readonly google: FakeGemini;
  readonly openai: FakeUpstream;
  readonly gateway: GatewayProcess;
  readonly management: Management;
  readonly secret: string;
  readonly genai: GoogleGenAI;
  readonly chat: OpenAI;
  /** Posts to the gateway as Google's clients do. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  close(): Promise<void>;
}

export async function startGeminiWorld(): Promise<GeminiWorld> {
  const google = await startFakeGemini();
  const openai = await startFakeUpstream();
  const model = (target: string): string =>
    `{ targets: [${target}], ${LIMITS}, price: { input: "0.01", output: "0.1" } }`;
  const settings = [
    "upstreams:",
    `  google: { family: gemini, base_url: "${google.url}", api_key: "${GOOGLE_SECRET}" }`,
    `  fake: { family: openai-compatible, base_url: "${openai.url}", api_key: "sk-upstream-secret-0123456789" }`,
    // Refusals are remembered, so those that are asked for come from upstreams of their own.
    ...["a", "b", "c", "d"].flatMap((name) => [
      `  google-${name}: { family: gemini, base_url: "${google.url}", api_key: "${GOOGLE_SECRET}" }`,
      `  fake-${name}: { family: openai-compatible, base_url: "${openai.url}" }`,
    ]),
    "models:",
    ...["a", "b", "c", "d"].flatMap((name) => [
      `  refusing-google-${name}: ${model(`{ upstream: google-${name} }`)}`,
      `  refusing-fake-${name}: ${model(`{ upstream: fake-${name} }`)}`,
    ]),
    `  gemini-3-flash: ${model("{ upstream: google }")}`,
    `  gemini-2.5-flash: ${model("{ upstream: google }")}`,
    `  org/deep-1: ${model("{ upstream: google, model: gemini-3-renamed }")}`,
    `  fake-1: ${model("{ upstream: fake }")}`,
    "",
  ].join("\n");
  const gateway = await startGateway({ settings });
  const management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  const { secret } = await management.makeKey("acme");
  return {
    google,
    openai,
    gateway,
    management,
    secret,
    genai: new GoogleGenAI({ apiKey: secret, httpOptions: { baseUrl: gateway.url } }),
    chat: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 }),
    post: (path, body, headers = { "x-goog-api-key": secret }) =>
      fetch(gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    close: async () => {
      await gateway.stop();
      await google.close();
      await openai.close();
    },
  };
}

/** One request of every client format, so that a test can hold a rule against all of them. */
import type { GatewayProcess } from "./gateway-process.js";

interface FormatCall {
  readonly name: string;
  readonly path: (model: string) => string;
  /** Undefined: it is a GET. */
  readonly body: ((model: string) => object) | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

const messages = [{ role: "user", content: "hi" }];
const contents = [{ role: "user", parts: [{ text: "hi" }] }];
const ANTHROPIC = { "anthropic-version": "2023-06-01" };
const fixed = (path: string) => (): string => path;

export const FORMAT_CALLS: readonly FormatCall[] = [
  { name: "chat", path: fixed("/v1/chat/completions"), body: (model) => ({ model, messages }) },
  { name: "completions", path: fixed("/v1/completions"), body: (model) => ({ model, prompt: "hi" }) },
  { name: "responses", path: fixed("/v1/responses"), body: (model) => ({ model, input: "hi", store: false }) },
  { name: "embeddings", path: fixed("/v1/embeddings"), body: (model) => ({ model, input: "hi" }) },
  {
    name: "messages",
    path: fixed("/v1/messages"),
    body: (model) => ({ model, messages, max_tokens: 10 }),
    headers: ANTHROPIC,
  },
  {
    name: "count_tokens",
    path: fixed("/v1/messages/count_tokens"),
    body: (model) => ({ model, messages }),
    headers: ANTHROPIC,
  },
  { name: "gemini", path: (model) => `/v1beta/models/${model}:generateContent`, body: () => ({ contents }) },
  { name: "gemini count", path: (model) => `/v1beta/models/${model}:countTokens`, body: () => ({ contents }) },
  { name: "rerank", path: fixed("/v1/rerank"), body: (model) => ({ model, query: "a", documents: ["b"] }) },
  { name: "moderations", path: fixed("/v1/moderations"), body: (model) => ({ model, input: "hi" }) },
  { name: "speech", path: fixed("/v1/audio/speech"), body: (model) => ({ model, input: "hi", voice: "alloy" }) },
  { name: "one model", path: (model) => `/v1/models/${model}`, body: undefined },
  {
    name: "one model of Anthropic",
    path: (model) => `/v1/models/${model}`,
    body: undefined,
    headers: ANTHROPIC,
  },
  { name: "one model of Gemini", path: (model) => `/v1beta/models/${model}`, body: undefined },
];

/** Sends one request of a format. */
export function callFormat(
  gateway: Pick<GatewayProcess, "url">,
  secret: string,
  { path, body, headers }: FormatCall,
  model: string,
): Promise<Response> {
  const sent = { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers };
  const init =
    body === undefined ? { headers: sent } : { method: "POST", headers: sent, body: JSON.stringify(body(model)) };
  return fetch(`${gateway.url}${path(model)}`, init);
}

/** The names in the list of models. */
export async function listedNames(gateway: Pick<GatewayProcess, "url">, secret: string): Promise<readonly string[]> {
  const response = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
  return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
}

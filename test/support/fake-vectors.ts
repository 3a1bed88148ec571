/**
 * A real HTTP server that makes vectors as OpenAI (`/v1/embeddings`) and as Google (`:batchEmbedContents`) do, apart
 * from the program's own code. The vector of an input is its length and its place; each input counts five tokens.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface VectorRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface VectorScript {
  readonly status?: number;
  /** The raw body, in place of vectors. */
  readonly body?: string;
  readonly contentType?: string;
  /** How long each vector is; three numbers where it is not said. */
  readonly dimensions?: number;
  /** Write vectors so, whatever was asked. */
  readonly encoding?: "float" | "base64";
  /** Tell no usage. */
  readonly silent?: boolean;
  /** Wait before the answer. */
  readonly delayMs?: number;
}

export interface FakeVectors {
  /** The origin; OpenAI's base address is under `/v1`. */
  readonly url: string;
  readonly requests: VectorRequest[];
  /** What every request gets; an upstream whose key is `failing` has its own. */
  override: VectorScript;
  close(): Promise<void>;
}

export const TOKENS_EACH = 5;

export async function startFakeVectors(): Promise<FakeVectors> {
  const server: Server = createServer((request, response) => {
    serve(request, response, fake).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeVectors = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    override: {},
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

/** The vector of an input at a place, as this server makes it. */
export function vectorOf(input: unknown, place: number, dimensions = 3): number[] {
  const vector = [(typeof input === "string" ? input.length : (input as number[]).length) / 8, place + 0.1, -1.5];
  while (vector.length < dimensions) vector.push(place - vector.length / 8);
  return vector;
}

async function serve(request: IncomingMessage, response: ServerResponse, fake: FakeVectors): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks).toString();
  const { url = "", headers } = request;
  if (request.method === "GET") return send(response, 404, "{}");
  const body = JSON.parse(raw) as VectorRequest["body"];
  fake.requests.push({ url, headers, raw, body });
  const isFailing = headers.authorization === "Bearer failing";
  const script: VectorScript = isFailing ? { status: 500, body: "<html>broken</html>" } : fake.override;
  if (script.delayMs !== undefined) await sleep(script.delayMs);
  const answer = url.endsWith(":batchEmbedContents") ? googleAnswer(script, body) : openAiAnswer(script, body);
  send(response, script.status ?? 200, script.body ?? answer, script.contentType);
}

function openAiAnswer(script: VectorScript, body: VectorRequest["body"]): string {
  const { input, encoding_format: asked, model } = body;
  const isOne = typeof input === "string" || (Array.isArray(input) && typeof input[0] === "number");
  const inputs = isOne ? [input] : (input as unknown[]);
  const data = inputs.map((one, index) => {
    const vector = vectorOf(one, index, script.dimensions);
    const isBase64 = (script.encoding ?? asked) === "base64";
    const embedding = isBase64 ? Buffer.from(new Float32Array(vector).buffer).toString("base64") : vector;
    return { object: "embedding", index, embedding, "x-own": true };
  });
  const tokens = inputs.length * TOKENS_EACH;
  const usage = script.silent ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
  return JSON.stringify({
    object: "list",
    data,
    model: `${String(model)}-2`,
    ...usage,
    "x-upstream": [1, { a: null }],
  });
}

function googleAnswer(script: VectorScript, body: VectorRequest["body"]): string {
  const requests = body["requests"] as { content: { parts: { text: string }[] } }[];
  const { dimensions } = script;
  const embeddings = requests.map(({ content }, place) => ({
    values: vectorOf(content.parts[0]?.text, place, dimensions),
  }));
  const usage = script.silent ? {} : { usageMetadata: { promptTokenCount: requests.length * TOKENS_EACH } };
  return JSON.stringify({ embeddings, ...usage });
}

function send(response: ServerResponse, status: number, text: string, type = "application/json"): void {
  response.writeHead(status, { "content-type": type });
  response.end(text);
}

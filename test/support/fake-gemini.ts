/**
 * A real HTTP server that answers as Google's Gemini API, and that the request itself steers: the text of the last user
 * content may be JSON with the member `fake`, which is the script of the answer. What it received stands in `requests`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What one request asks the server to do. All members are optional. */
export interface GeminiScript {
  /** That of the response. */
  readonly id?: string;
  /** The parts to say, one chunk each; default one text. */
  readonly parts?: readonly object[];
  /** The reason that ends each candidate; default STOP. Empty: none comes. */
  readonly finish?: string;
  /** Members of the usage that are told instead of the default ones; null: none is told at all. */
  readonly usage?: object | null;
  /** True where the usage comes with the last chunk alone. */
  readonly usageLast?: boolean;
  /** The prompt is refused for this reason. */
  readonly blocked?: string;
  /** Refuse with this status and this body. */
  readonly status?: number;
  readonly body?: unknown;
  /** Send this as an event after so many chunks, then end. */
  readonly errorAfter?: { readonly chunks: number; readonly error: object };
  /** Wait before each chunk but the first. */
  readonly delayMs?: number;
  /** Destroy the socket after so many chunks. */
  readonly cutAfter?: number;
}

export interface GeminiRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface FakeGemini {
  /** The base address, without a path. */
  readonly url: string;
  readonly requests: readonly GeminiRequest[];
  /** Where set, it tells the script of every request, which then carries none. */
  decide: ((body: GeminiRequest["body"]) => GeminiScript) | undefined;
  close(): Promise<void>;
}

const USAGE = { promptTokenCount: 10, candidatesTokenCount: 4, totalTokenCount: 14 };
const MODELS = {
  models: [
    { name: "models/gemini-2.5-flash", supportedGenerationMethods: ["generateContent", "countTokens"] },
    { name: "models/embedding-001", supportedGenerationMethods: ["embedContent"] },
  ],
};

/** The text of a user's content that steers the server. */
export function steer(fake: GeminiScript): string {
  return JSON.stringify({ fake });
}

export async function startFakeGemini(): Promise<FakeGemini> {
  const requests: GeminiRequest[] = [];
  const server: Server = createServer((request, response) => {
    serve(request, response, requests, fake).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeGemini = {
    url: `http://127.0.0.1:${port}`,
    requests,
    decide: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  requests: GeminiRequest[],
  { decide }: Pick<FakeGemini, "decide">,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks).toString();
  const { url = "", headers } = request;
  if (request.method === "GET") return send(response, 200, MODELS);
  const body = JSON.parse(raw) as GeminiRequest["body"];
  requests.push({ url, headers, raw, body });
  if (requests.length > 1_000) requests.shift();
  if (url.includes(":countTokens")) return send(response, 200, { totalTokens: 17 });
  const script = decide?.(body) ?? scriptIn(body);
  if (script.status !== undefined) return send(response, script.status, script.body);
  const model = decodeURIComponent(/models\/([^:]+):/.exec(url)?.[1] ?? "");
  if (!url.includes(":streamGenerateContent")) return send(response, 200, whole(script, body, model));
  if (!url.endsWith("?alt=sse")) return send(response, 200, [...steps(script, body, model)]);
  response.writeHead(200, { "content-type": "text/event-stream" });
  let sent = 0;
  for (const step of steps(script, body, model)) {
    if (sent === script.cutAfter) return void response.destroy();
    if (sent === script.errorAfter?.chunks) {
      response.end(`data: ${JSON.stringify({ error: script.errorAfter.error })}\r\n\r\n`);
      return;
    }
    if (sent > 0 && script.delayMs !== undefined) await sleep(script.delayMs);
    await new Promise<void>((resolve) => response.write(`data: ${JSON.stringify(step)}\r\n\r\n`, () => resolve()));
    sent++;
  }
  response.end();
}

function* steps(script: GeminiScript, body: GeminiRequest["body"], model: string): Generator<object, void> {
  const top = { modelVersion: model, responseId: script.id ?? "resp-fake" };
  const told = usageOf(script);
  if (script.blocked !== undefined) {
    yield { promptFeedback: { blockReason: script.blocked }, usageMetadata: { promptTokenCount: 10 }, ...top };
    return;
  }
  for (let index = 0; index < countIn(body); index++)
    for (const part of partsOf(script, model))
      yield {
        candidates: [{ content: { parts: [part], role: "model" }, index }],
        ...(script.usageLast === true ? {} : told),
        ...top,
      };
  for (let index = 0; index < countIn(body); index++)
    yield {
      candidates: [{ content: { parts: [{ text: "" }], role: "model" }, ...endOf(script), index }],
      ...told,
      ...top,
    };
}

function whole(script: GeminiScript, body: GeminiRequest["body"], model: string): object {
  const top = { ...usageOf(script), modelVersion: model, responseId: script.id ?? "resp-fake" };
  if (script.blocked !== undefined) return { promptFeedback: { blockReason: script.blocked }, ...top };
  const candidates = Array.from({ length: countIn(body) }, (_, index) => {
    const parts = partsOf(script, model);
    return { ...(parts.length === 0 ? {} : { content: { parts, role: "model" } }), ...endOf(script), index };
  });
  return { candidates, ...top };
}

function usageOf({ usage }: GeminiScript): object {
  return usage === null ? {} : { usageMetadata: { ...USAGE, ...usage } };
}

function partsOf(script: GeminiScript, model: string): readonly object[] {
  return script.parts ?? [{ text: "Hello from " }, { text: `${model}.` }];
}

function endOf({ finish = "STOP" }: GeminiScript): object {
  return finish === "" ? {} : { finishReason: finish };
}

function countIn(body: GeminiRequest["body"]): number {
  const count: unknown = Reflect.get(Object(body["generationConfig"]), "candidateCount");
  return typeof count === "number" ? count : 1;
}

/** The script in the last text of a user that is one. */
function scriptIn(body: GeminiRequest["body"]): GeminiScript {
  const contents = Array.isArray(body["contents"]) ? body["contents"] : [];
  const texts = contents.flatMap((content: { parts?: { text?: string }[] }) => content.parts ?? []);
  const found = texts.findLast(({ text }) => text?.startsWith('{"fake"') === true)?.text;
  return found === undefined ? {} : (JSON.parse(found) as { fake: GeminiScript }).fake;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/html" : "application/json" });
  response.end(isText ? body : JSON.stringify(body));
}

/**
 * A real HTTP server that answers as Anthropic's Messages API, strict as the real one, and that the request itself
 * steers: the text of the last user turn that is JSON with the member `fake` is the script of the answer. What it
 * received stands in `requests`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { anthropicProblem } from "./anthropic-rules.js";

/** What one request asks the server to do. All members are optional. */
export interface AnthropicScript {
  /** The blocks of the answer; default one text. A call's `inputText` is its input as a stream spells it. */
  readonly blocks?: readonly Readonly<Record<string, unknown>>[];
  /** That of the message. */
  readonly id?: string;
  /** The container that its tools ran in. */
  readonly container?: object;
  /** Default end_turn, or tool_use where a block is one. */
  readonly stop?: string;
  readonly stopSequence?: string;
  readonly stopDetails?: object;
  readonly usage?: object;
  /** Where a stream tells it: default at its start and end. `late`: behind its end. `never`: a whole answer neither. */
  readonly usageAt?: "start" | "late" | "twice" | "never";
  /** Refuse with this status and body. */
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Send this error as an event after so many events, then end. */
  readonly errorAfter?: { readonly events: number; readonly type: string };
  /** Wait before each event but the first. */
  readonly delayMs?: number;
  /** Destroy the socket, or end the body well, after so many events. */
  readonly cutAfter?: number;
  readonly endAfter?: number;
  /** Answer whole although a stream was asked for. */
  readonly whole?: boolean;
}

export interface AnthropicRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** True once the other side left before the answer was whole. */
  left: boolean;
}

export interface FakeAnthropic {
  /** The base address, without a path. */
  readonly url: string;
  readonly requests: readonly AnthropicRequest[];
  /** Where set, it tells the script of every request, which then carries none. */
  decide: ((body: AnthropicRequest["body"]) => AnthropicScript) | undefined;
  close(): Promise<void>;
}

const COUNTS = {
  input_tokens: 10,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 4,
  output_tokens_details: null,
  server_tool_use: null,
};
/** What only the usage of a whole message says. */
const BESIDE = { cache_creation: null, inference_geo: null, service_tier: "standard", speed: null };
const MODELS = {
  data: [{ type: "model", id: "claude-opus-5", display_name: "Claude Opus 5", created_at: "2026-05-01T00:00:00Z" }],
  has_more: false,
  first_id: "claude-opus-5",
  last_id: "claude-opus-5",
};

/** What blocks of a kind always have. */
const ALWAYS: Readonly<Record<string, object>> = {
  tool_use: { caller: { type: "direct" } },
  server_tool_use: { caller: { type: "direct" } },
};

/** The text of a user's turn that steers the server. */
export function steer(fake: AnthropicScript): string {
  return JSON.stringify({ fake });
}

export async function startFakeAnthropic(): Promise<FakeAnthropic> {
  const requests: AnthropicRequest[] = [];
  const server: Server = createServer((request, response) => {
    serve(request, response, requests, fake).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeAnthropic = {
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
  requests: AnthropicRequest[],
  { decide }: Pick<FakeAnthropic, "decide">,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks).toString();
  const { url = "", headers } = request;
  if (request.method === "GET") return send(response, 200, MODELS);
  const body = JSON.parse(raw) as AnthropicRequest["body"];
  const seen: AnthropicRequest = { url, headers, raw, body, left: false };
  requests.push(seen);
  if (requests.length > 1_000) requests.shift();
  response.on("close", () => {
    seen.left = !response.writableFinished;
  });
  const problem = anthropicProblem(url, headers, body);
  if (problem !== undefined) return send(response, 400, errorOf("invalid_request_error", problem));
  if (url === "/v1/messages/count_tokens") return send(response, 200, { input_tokens: 17 });
  const script = decide?.(body) ?? scriptIn(body);
  if (script.status !== undefined) return send(response, script.status, script.body, script.headers);
  if (body["stream"] !== true || script.whole === true)
    return send(response, 200, answerOf(script, body), script.headers);
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", ...script.headers });
  let sent = 0;
  for (const event of eventsOf(script, body)) {
    if (sent === script.cutAfter) return void response.destroy();
    if (sent === script.endAfter) break;
    if (sent === script.errorAfter?.events) {
      response.end(eventText(errorOf(script.errorAfter.type, "The fake failed midway.")));
      return;
    }
    if (sent > 0 && script.delayMs !== undefined) await sleep(script.delayMs);
    if (response.destroyed) return;
    await new Promise<void>((resolve) => response.write(eventText(event), () => resolve()));
    sent++;
  }
  response.end();
}

function errorOf(type: string, message: string): object {
  return { type: "error", error: { type, message }, request_id: "req_of_the_upstream" };
}

function eventText(event: object): string {
  return `event: ${String(Reflect.get(event, "type"))}\ndata: ${JSON.stringify(event)}\n\n`;
}

function blocksOf(script: AnthropicScript, body: AnthropicRequest["body"]): AnthropicScript["blocks"] & object {
  const blocks = script.blocks ?? [{ type: "text", text: `Hello from ${String(body["model"])}.` }];
  return blocks.map((block) => Object.assign({}, ALWAYS[String(block["type"])], block));
}

function stopOf(script: AnthropicScript): object {
  const hasCalls = script.blocks?.some(({ type }) => type === "tool_use") === true;
  return {
    container: script.container ?? null,
    stop_reason: script.stop ?? (hasCalls ? "tool_use" : "end_turn"),
    stop_sequence: script.stopSequence ?? null,
    stop_details: script.stopDetails ?? null,
  };
}

function answerOf(script: AnthropicScript, body: AnthropicRequest["body"]): object {
  const head = {
    id: script.id ?? "msg_fake",
    type: "message",
    role: "assistant",
    model: body["model"],
    container: script.container ?? null,
    diagnostics: null,
  };
  const content = blocksOf(script, body).map((block) => Object.assign({}, block, { inputText: undefined }));
  return { ...head, content, ...stopOf(script), ...usageOf(script) };
}

function usageOf(script: AnthropicScript): object {
  return script.usageAt === "never" ? {} : { usage: { ...COUNTS, ...BESIDE, ...script.usage } };
}

/** The counts alone, as the end of a stream tells them. */
function endUsageOf(script: AnthropicScript): object {
  return script.usageAt === "never" ? {} : { usage: { ...COUNTS, ...script.usage } };
}

function* eventsOf(script: AnthropicScript, body: AnthropicRequest["body"]): Generator<object, void> {
  const { usageAt } = script;
  const first = usageAt === "never" ? { usageAt } : { usage: { ...script.usage, output_tokens: 1 } };
  const begun = { ...answerOf(first, body), content: [], stop_reason: null };
  yield { type: "message_start", message: begun };
  yield { type: "ping" };
  for (const [index, block] of blocksOf(script, body).entries()) {
    const { start, deltas } = piecesOf(block);
    yield { type: "content_block_start", index, content_block: start };
    for (const delta of deltas) yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index };
  }
  const end = { type: "message_delta", delta: stopOf(script), ...endUsageOf(script) };
  if (usageAt === "twice") yield end;
  yield usageAt === "start" || usageAt === "late" ? { ...end, usage: {} } : end;
  yield { type: "message_stop" };
  if (usageAt === "late") yield end;
}

function piecesOf(block: Readonly<Record<string, unknown>>): { start: object; deltas: object[] } {
  const pieces = (text: unknown): string[] => String(text).match(/[^]{1,6}/gu) ?? [];
  switch (block["type"]) {
    case "text":
      return {
        start: { ...block, text: "" },
        deltas: pieces(block["text"]).map((text) => ({ type: "text_delta", text })),
      };
    case "thinking":
      return {
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          ...pieces(block["thinking"]).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: block["signature"] },
        ],
      };
    case "tool_use": {
      const json = typeof block["inputText"] === "string" ? block["inputText"] : JSON.stringify(block["input"]);
      const fragments = ["", ...(json === "{}" ? [] : pieces(json))];
      const deltas = fragments.map((fragment) => ({ type: "input_json_delta", partial_json: fragment }));
      return { start: { ...block, input: {}, inputText: undefined }, deltas };
    }
    default:
      return { start: block, deltas: [] };
  }
}

/** The script in the last text of a user that is one. */
function scriptIn(body: AnthropicRequest["body"]): AnthropicScript {
  const messages = Array.isArray(body["messages"]) ? (body["messages"] as { role: string; content: unknown }[]) : [];
  const texts = messages.flatMap(({ content }) =>
    typeof content === "string" ? [content] : (content as { text?: string }[]).map(({ text }) => text ?? ""),
  );
  const found = texts.findLast((text) => text.startsWith('{"fake"'));
  return found === undefined ? {} : (JSON.parse(found) as { fake: AnthropicScript }).fake;
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/html" : "application/json", ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

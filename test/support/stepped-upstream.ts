/**
 * An upstream of three wires that stops after as many events as a request says, and goes on when the test says so.
 * A text in its body, such as `case-7-stop-3.`, names a request and says where to stop: that is all it reads.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

/** What is generated, an event each. */
export const PIECES = ["The ledger", " forgets", " nothing,", " and whoever", " leaves early", " pays for what came."];
/** What the prompt is said to have; an upstream's own count, whatever ours is. */
export const PROMPT_TOKENS = 40;
export const TEXT = PIECES.join("");
export const TEXT_TOKENS = encode(TEXT).length;

export type WireName = "openai-chat" | "anthropic" | "gemini";

/** One event of a stream, and the text that was generated with it. */
interface Step {
  readonly event: string;
  readonly piece: string;
}

/** One request on its way. */
export interface Stop {
  /** True once everything before the stop was sent. */
  stopped: boolean;
  /** True once the other side left before the answer was whole. */
  left: boolean;
  /** Lets the answer go on to its end. */
  release(): void;
}

export interface SteppedUpstream {
  /** The base address, without a path. */
  readonly url: string;
  readonly stops: ReadonlyMap<string, Stop>;
  close(): Promise<void>;
}

/** The content of a request that stops after so many events. */
export function stopAfter(name: string, events: number): string {
  return `${name}-stop-${events}.`;
}

export function stepsOf(wire: WireName): readonly Step[] {
  return { "openai-chat": chatSteps, anthropic: anthropicSteps, gemini: geminiSteps }[wire]();
}

export async function startSteppedUpstream(): Promise<SteppedUpstream> {
  const stops = new Map<string, Stop>();
  const server: Server = createServer((request, response) => {
    serve(request, response, stops).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stops,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, stops: Map<string, Stop>): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks).toString();
  const { url = "" } = request;
  const [, name = "", events = "0"] = /(case-[\w-]+?)-stop-(\d+)\./.exec(raw) ?? [];
  const released = new Promise<void>((resolve) => {
    const stop: Stop = { stopped: false, left: false, release: resolve };
    stops.set(name, stop);
    response.on("close", () => {
      stop.left = !response.writableFinished;
      resolve();
    });
  });
  const stop = stops.get(name);
  const wire = wireOf(url);
  if (!raw.includes('"stream":true') && !url.includes(":stream")) {
    if (stop !== undefined) stop.stopped = true;
    await released;
    response.writeHead(200, { "content-type": "application/json" });
    return void response.end(JSON.stringify(wholeOf(wire)));
  }
  const steps = stepsOf(wire);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  for (const { event } of steps.slice(0, Number(events))) await write(response, event);
  if (stop !== undefined) stop.stopped = true;
  await released;
  for (const { event } of steps.slice(Number(events))) await write(response, event);
  response.end();
}

function write(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => response.write(text, () => resolve()));
}

function wireOf(url: string): WireName {
  if (url.includes("enerateContent")) return "gemini";
  return url.includes("/messages") ? "anthropic" : "openai-chat";
}

function chatSteps(): Step[] {
  const chunk = (rest: object): string =>
    `data: ${JSON.stringify({ id: "chatcmpl-step", object: "chat.completion.chunk", ...rest })}\n\n`;
  const choice = (delta: object, end: string | null): string =>
    chunk({ choices: [{ index: 0, delta, finish_reason: end }] });
  return [
    { event: choice({ role: "assistant", content: "" }, null), piece: "" },
    ...PIECES.map((piece) => ({ event: choice({ content: piece }, null), piece })),
    { event: choice({}, "stop"), piece: "" },
    { event: chunk({ choices: [], usage: chatUsage() }), piece: "" },
    { event: "data: [DONE]\n\n", piece: "" },
  ];
}

function anthropicSteps(): Step[] {
  const step = (event: Readonly<Record<string, unknown>>, piece = ""): Step => ({
    event: `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`,
    piece,
  });
  const usage = { input_tokens: PROMPT_TOKENS, output_tokens: 1 };
  const message = { id: "msg_step", type: "message", role: "assistant", model: "m", content: [], usage };
  const delta = (text: string): object => ({ type: "text_delta", text });
  return [
    step({ type: "message_start", message }),
    step({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ...PIECES.map((piece) => step({ type: "content_block_delta", index: 0, delta: delta(piece) }, piece)),
    step({ type: "content_block_stop", index: 0 }),
    step({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: TEXT_TOKENS } }),
    step({ type: "message_stop" }),
  ];
}

function geminiSteps(): Step[] {
  let text = "";
  return PIECES.map((piece, place) => {
    text += piece;
    const end = place === PIECES.length - 1 ? { finishReason: "STOP" } : {};
    const candidates = [{ content: { parts: [{ text: piece }], role: "model" }, ...end, index: 0 }];
    const usageMetadata = geminiUsage(encode(text).length);
    return { event: `data: ${JSON.stringify({ candidates, usageMetadata, responseId: "step" })}\r\n\r\n`, piece };
  });
}

function wholeOf(wire: WireName): object {
  switch (wire) {
    case "openai-chat": {
      const choices = [{ index: 0, message: { role: "assistant", content: TEXT }, finish_reason: "stop" }];
      return { id: "chatcmpl-step", object: "chat.completion", choices, usage: chatUsage() };
    }
    case "anthropic": {
      const content = [{ type: "text", text: TEXT }];
      const usage = { input_tokens: PROMPT_TOKENS, output_tokens: TEXT_TOKENS };
      return { id: "msg_step", type: "message", role: "assistant", content, stop_reason: "end_turn", usage };
    }
    case "gemini": {
      const candidates = [{ content: { parts: [{ text: TEXT }], role: "model" }, finishReason: "STOP", index: 0 }];
      return { candidates, usageMetadata: geminiUsage(TEXT_TOKENS), responseId: "step" };
    }
    default:
      return wire satisfies never;
  }
}

function chatUsage(): object {
  return {
    prompt_tokens: PROMPT_TOKENS,
    completion_tokens: TEXT_TOKENS,
    total_tokens: PROMPT_TOKENS + TEXT_TOKENS,
  };
}

function geminiUsage(candidates: number): object {
  return {
    promptTokenCount: PROMPT_TOKENS,
    candidatesTokenCount: candidates,
    totalTokenCount: PROMPT_TOKENS + candidates,
  };
}

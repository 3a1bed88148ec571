/**
 * An upstream that never lies: it remembers what it read and generated for each request, counts it with the public
 * tokenizer, and reports exactly that. The request's one message says what to generate, and how fast. Its model
 * `broken` answers nothing.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

/** What a request asks for. */
export interface Task {
  readonly language: keyof typeof WORDS;
  readonly words: number;
  /** How many words one event has, and how long it waits before each. */
  readonly eventWords: number;
  readonly eventMs: number;
}

/** What the upstream did for one request. */
export interface Work {
  readonly promptTokens: number;
  /** Generated so far. */
  text: string;
}

export interface HonestUpstream {
  /** The base address, with /v1. */
  readonly url: string;
  /** By the request's `user`. */
  readonly works: ReadonlyMap<string, Work>;
  forget(): void;
  close(): Promise<void>;
}

// Prose, a language without blanks, and code: what a tokenizer makes of a piece differs most between these.
const WORDS = {
  english: [" The", " ledger", " never", " forgets,", " and", " whoever", " asks", " twice", " pays", " once.\n"],
  chinese: ["账本", "从不", "忘记，", "无论", "谁", "问", "两次，", "只付", "一次。", "这就是", "承诺；"],
  code: [
    " const",
    " held",
    " =",
    " accounts[",
    "i",
    "]?.",
    "heldNanos",
    " ??",
    " 0n;",
    "\n  return",
    " (held",
    " * 17n);",
  ],
} as const;

// What this upstream counts for the marks around one message; any number would do, since it also bills by it.
const TEMPLATE_TOKENS = 7;

/** The text of the task, whole. */
export function textOf({ language, words }: Task): string {
  const list = WORDS[language];
  return Array.from({ length: words }, (_, place) => list[place % list.length]).join("");
}

export async function startHonestUpstream(): Promise<HonestUpstream> {
  const works = new Map<string, Work>();
  const server: Server = createServer((request, response) => {
    serve(request, response, works).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    works,
    forget: () => works.clear(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface ChatBody {
  readonly model: string;
  readonly user: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly content: string }[];
}

async function serve(request: IncomingMessage, response: ServerResponse, works: Map<string, Work>): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as ChatBody;
  if (body.model === "broken") return void response.writeHead(503).end();
  const content = body.messages[0]?.content ?? "";
  const work: Work = { promptTokens: encode(content).length + TEMPLATE_TOKENS, text: "" };
  works.set(body.user, work);
  const task = JSON.parse(content) as Task;
  if (body.stream !== true) return answerWhole(response, task, work);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const list = WORDS[task.language];
  for (let place = 0; place < task.words; place += task.eventWords) {
    await sleep(task.eventMs);
    if (response.destroyed) return;
    let piece = "";
    for (let word = place; word < Math.min(place + task.eventWords, task.words); word++)
      piece += list[word % list.length];
    work.text += piece;
    response.write(chunkOf({ choices: [{ index: 0, delta: { content: piece }, finish_reason: null }] }));
  }
  response.write(chunkOf({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
  response.end(`${chunkOf({ choices: [], usage: usageOf(work) })}data: [DONE]\n\n`);
}

async function answerWhole(response: ServerResponse, task: Task, work: Work): Promise<void> {
  await sleep(task.eventMs);
  work.text = textOf(task);
  const message = { role: "assistant", content: work.text };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ id: "chatcmpl-kill", object: "chat.completion", choices, usage: usageOf(work) }));
}

function chunkOf(rest: object): string {
  return `data: ${JSON.stringify({ id: "chatcmpl-kill", object: "chat.completion.chunk", ...rest })}\n\n`;
}

function usageOf({ promptTokens, text }: Work): object {
  const completion = encode(text).length;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completion,
    total_tokens: promptTokens + completion,
  };
}

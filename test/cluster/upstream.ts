/** An upstream that counts what it served: for each request, told by its `user`, when and how often it was asked. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export interface CountingUpstream {
  /** With /v1. */
  readonly url: string;
  /** How often each request was asked for. */
  readonly served: ReadonlyMap<string, number>;
  /** When requests came, in order, by the harness's monotonic clock. */
  readonly arrivalsMs: readonly number[];
  forget(): void;
  close(): Promise<void>;
}

interface ChatBody {
  readonly user?: string;
  readonly stream?: boolean;
  /** How long it takes, in milliseconds. */
  readonly seed?: number;
}

const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const EVENT_MS = 100;

export async function startCountingUpstream(host: string): Promise<CountingUpstream> {
  const served = new Map<string, number>();
  const arrivalsMs: number[] = [];
  const server = createServer((request, response) => {
    readBody(request)
      .then((body) => {
        arrivalsMs.push(performance.now());
        served.set(body.user ?? "", (served.get(body.user ?? "") ?? 0) + 1);
        return body.stream === true ? stream(response, body) : whole(response, body);
      })
      .catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/v1`,
    served,
    arrivalsMs,
    forget: () => {
      served.clear();
      arrivalsMs.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<ChatBody> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as ChatBody;
}

async function whole(response: ServerResponse, { seed = 0 }: ChatBody): Promise<void> {
  if (seed > 0) await pause(seed);
  const choices = [{ index: 0, message: { role: "assistant", content: "It is so." }, finish_reason: "stop" }];
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ id: "chatcmpl-1", object: "chat.completion", choices, usage: USAGE }));
}

/** Words for as long as was asked for. */
async function stream(response: ServerResponse, { seed = 0 }: ChatBody): Promise<void> {
  const event = (rest: object): string =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", ...rest })}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let leftMs = seed; leftMs > 0 && !response.destroyed; leftMs -= EVENT_MS) {
    response.write(event({ choices: [{ index: 0, delta: { content: " more" }, finish_reason: null }] }));
    await pause(EVENT_MS);
  }
  response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
  response.end(`${event({ choices: [], usage: USAGE })}data: [DONE]\n\n`);
}

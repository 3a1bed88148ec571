/** An upstream whose streams send an event when the test says so: what comes when is an order, not a time. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One stream, by the content of its request's last message. */
export interface PacedStream {
  /** True once the other side left before the end. */
  readonly left: boolean;
  /** Sends one more word. */
  word(): void;
  /** Ends the answer as it should end. */
  finish(): void;
}

export interface PacedUpstream {
  /** The base address, with /v1. */
  readonly url: string;
  readonly streams: ReadonlyMap<string, PacedStream>;
  close(): Promise<void>;
}

/** What each event carries. */
export const WORD = "word ";

export async function startPacedUpstream(): Promise<PacedUpstream> {
  const streams = new Map<string, PacedStream>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: { content: string }[] };
      streams.set(messages.at(-1)?.content ?? "", streamOn(response));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    streams,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function streamOn(response: ServerResponse): PacedStream {
  const head = { id: "paced", object: "chat.completion.chunk", created: 1, model: "fake-1" };
  const chunk = (choices: readonly object[], more: object = {}): void =>
    void response.write(`data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`);
  let words = 0;
  response.writeHead(200, { "content-type": "text/event-stream" });
  return {
    get left() {
      return response.destroyed && !response.writableFinished;
    },
    word: () => {
      words += 1;
      chunk([{ index: 0, delta: { content: WORD }, finish_reason: null }]);
    },
    finish: () => {
      chunk([{ index: 0, delta: {}, finish_reason: "stop" }]);
      chunk([], { usage: { prompt_tokens: 10, completion_tokens: words, total_tokens: 10 + words } });
      response.end("data: [DONE]\n\n");
    },
  };
}

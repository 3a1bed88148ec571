/** A webhook's endpoint as a stranger runs it: it answers as the test says, and keeps what came. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  /** Such as http://127.0.0.1:40123/hook. */
  readonly url: string;
  readonly received: readonly Received[];
  /** How it answers from now on. Default: 204. */
  answer(how: (response: ServerResponse, received: Received) => void): void;
  /** How many requests were open at once at most. */
  readonly openMost: number;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let how = (response: ServerResponse, _received: Received): void => void response.writeHead(204).end();
  let open = 0;
  let openMost = 0;
  const server = createServer((request, response) => {
    open += 1;
    openMost = Math.max(openMost, open);
    response.on("close", () => (open -= 1));
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { url = "", headers } = request;
      const one = { path: url, headers, body: Buffer.concat(chunks).toString("utf8") };
      received.push(one);
      how(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // Of a listener on a port, never of a pipe.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answer: (next) => (how = next),
    get openMost() {
      return openMost;
    },
  };
}

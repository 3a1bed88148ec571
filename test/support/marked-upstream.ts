/** An upstream that answers each request by the mark in its text, such as `mark-7.`, as a test said. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface MarkedAnswer {
  readonly type: string;
  readonly body: Buffer;
}

export interface MarkedUpstream {
  /** The base address, without a path. */
  readonly url: string;
  /** What is answered to whom; who is not here is refused with 500. */
  readonly answers: Map<string, MarkedAnswer>;
  close(): void;
}

export async function startMarkedUpstream(): Promise<MarkedUpstream> {
  const answers = new Map<string, MarkedAnswer>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const answer = answers.get(/mark-\w+\./.exec(Buffer.concat(chunks).toString())?.[0] ?? "");
      response.writeHead(answer === undefined ? 500 : 200, { "content-type": answer?.type ?? "text/plain" });
      response.end(answer?.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export function jsonAnswer(value: unknown): MarkedAnswer {
  return { type: "application/json", body: Buffer.from(JSON.stringify(value)) };
}

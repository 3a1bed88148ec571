/** One address before several gateways, as a balancer without memory: each request goes to the next of them. */
import { createServer, request as ask } from "node:http";
import type { AddressInfo } from "node:net";

export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

/** `gateways` may be filled after it started. */
export async function startBalancer(gateways: readonly string[]): Promise<Balancer> {
  let turn = 0;
  const server = createServer((request, response) => {
    const target = gateways[turn++ % gateways.length] ?? "";
    const { method, headers, url } = request;
    const asked = ask(new URL(url ?? "/", target), { method: method ?? "GET", headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      // What streams is handed on piece by piece.
      response.flushHeaders();
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    asked.on("error", () => response.destroy());
    response.on("close", () => asked.destroy());
    request.pipe(asked);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // The edge: it listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A way to a backend that is as far away as a scenario says. */
import net, { type AddressInfo } from "node:net";

export interface SlowProxy {
  readonly url: string;
  set(awayMs: number): void;
  close(): void;
}

/** Each piece of an answer comes so much later, until another time is set. */
export async function startSlowProxy(url: string, firstMs: number): Promise<SlowProxy> {
  const { port, hostname: host } = new URL(url);
  let awayMs = firstMs;
  const proxy = net.createServer({ noDelay: true }, (client) => {
    const server = net.connect({ port: Number(port), host, noDelay: true });
    let lastMs = 0;
    client.on("data", (bytes) => server.write(bytes));
    server.on("data", (bytes) => {
      // No piece overtakes another where the distance changes.
      const nowMs = performance.now();
      lastMs = Math.max(lastMs, nowMs + awayMs);
      setTimeout(() => client.write(bytes), lastMs - nowMs);
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on("error", () => undefined);
      socket.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = new URL(url);
  address.port = String((proxy.address() as AddressInfo).port);
  address.hostname = "127.0.0.1";
  return { url: address.href, set: (ms) => void (awayMs = ms), close: () => void proxy.close() };
}

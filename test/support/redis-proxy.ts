/** A TCP proxy before Redis that delays, swallows or cuts what passes. */
import net, { type AddressInfo } from "node:net";

export interface RedisProxy {
  /** Such as redis://127.0.0.1:40125. */
  readonly url: string;
  /** Each answer comes so much later. */
  delayMs: number;
  /** While true nothing passes, and no connection ends; what was sent meanwhile comes late, as over a network. */
  isBlackHole: boolean;
  /** A connection ends at the command after so many. */
  commandsMax: number;
  /** Commands that passed; EVALSHA and EVAL count alike. */
  readonly commands: () => number;
  /** Ends all connections; with the next answer where `unanswered`, which is thrown away. */
  cut(unanswered?: boolean): void;
  close(): Promise<void>;
}

export async function startRedisProxy(target: string): Promise<RedisProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<net.Socket>();
  let commands = 0;
  let isBlackHole = false;
  const waiting: (() => void)[] = [];
  const pass = (send: () => void): void => {
    if (isBlackHole) waiting.push(send);
    else send();
  };
  let cutsAnswer = false;
  const server = net.createServer((client) => {
    const redis = net.connect(Number(port), hostname);
    for (const socket of [client, redis]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        redis.destroy();
      });
    }
    let isAsked = false;
    let commandCount = 0;
    client.on("data", (bytes: Buffer) => {
      commandCount += bytes.toString("latin1").match(/(?:^|\r\n)\*\d+\r\n\$/g)?.length ?? 0;
      if (commandCount > proxy.commandsMax) return void client.destroy();
      const scripts = bytes.toString("latin1").match(/\r\nEVAL(?:SHA)?\r\n/gi)?.length ?? 0;
      commands += scripts;
      isAsked ||= scripts > 0;
      pass(() => redis.write(bytes));
    });
    redis.on("data", (bytes: Buffer) => {
      if (cutsAnswer && isAsked) {
        cutsAnswer = false;
        client.destroy();
      } else if (proxy.delayMs > 0) setTimeout(() => client.write(bytes), proxy.delayMs);
      else pass(() => client.write(bytes));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: RedisProxy = {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delayMs: 0,
    commandsMax: Infinity,
    get isBlackHole() {
      return isBlackHole;
    },
    set isBlackHole(swallows) {
      isBlackHole = swallows;
      if (!swallows) for (const send of waiting.splice(0)) send();
    },
    commands: () => commands,
    cut: (unanswered = false) => {
      if (unanswered) cutsAnswer = true;
      else for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return proxy;
}

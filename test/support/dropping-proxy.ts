/** A TCP proxy between a client and a gateway that loses connections on purpose. */
import net from "node:net";
import type { AddressInfo } from "node:net";
import { pace } from "./pauses.js";
import { readSoFar } from "./read-so-far.js";

/** Loses the connection of one request: at once when `when` says so, or after so many bytes of its answer. */
export type Loss = { readonly kind: "before the head"; readonly when: () => Promise<unknown> } | AfterBytes;
interface AfterBytes {
  readonly kind: "in the answer";
  readonly bytes: number;
}

export interface DroppingProxy {
  /** Such as http://127.0.0.1:40125. */
  readonly url: string;
  /** The next requests meet these, in order; later ones none. */
  lose(...losses: Loss[]): void;
  /** Requests that were sent through it. */
  readonly requests: () => number;
  close(): Promise<void>;
}

/** Resolves once a gateway knows of the connections that were lost; the pause is for what it then tells its core. */
export async function lossesHeard(gateway: { readonly url: string }, secret: string): Promise<void> {
  await readSoFar(gateway, secret);
  await pace(200);
}

export async function startDroppingProxy(target: string): Promise<DroppingProxy> {
  const { hostname, port } = new URL(target);
  const losses: Loss[] = [];
  const sockets = new Set<net.Socket>();
  let requests = 0;
  const server = net.createServer((client) => {
    const gateway = net.connect(Number(port), hostname);
    for (const socket of [client, gateway]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        gateway.destroy();
      });
    }
    let loss: Loss | undefined;
    let answered = 0;
    client.on("data", (bytes: Buffer) => {
      gateway.write(bytes);
      // Connections are kept and used again; each request begins a packet of its own.
      if (bytes.subarray(0, 5).toString("latin1") !== "POST ") return;
      requests += 1;
      answered = 0;
      loss = losses.shift();
      if (loss?.kind === "before the head") void loss.when().then(() => client.destroy());
    });
    gateway.on("data", (bytes: Buffer) => {
      answered += bytes.length;
      if (loss?.kind !== "in the answer" || answered < loss.bytes) {
        client.write(bytes);
        return;
      }
      client.write(bytes.subarray(0, Math.max(0, bytes.length - (answered - loss.bytes))), () => client.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose: (...more) => {
      losses.length = 0;
      losses.push(...more);
    },
    requests: () => requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

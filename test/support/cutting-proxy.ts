/** A TCP proxy to a server that is away for as long as a test wants: connections break, and new ones are refused. */
import net from "node:net";

export interface CuttingProxy {
  readonly port: number;
  /** A connection breaks once the server has sent it so many bytes; the rest is lost. */
  answerBytesMax: number;
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function startCuttingProxy(host: string, port: number): Promise<CuttingProxy> {
  const sockets = new Set<net.Socket>();
  let isCut = false;
  const server = net.createServer((client) => {
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const target = net.connect(port, host);
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        target.destroy();
      });
    }
    client.pipe(target);
    let answerBytes = 0;
    target.on("data", (bytes: Buffer) => {
      const left = proxy.answerBytesMax - answerBytes;
      answerBytes += bytes.length;
      if (bytes.length <= left) client.write(bytes);
      else if (left > 0) client.write(bytes.subarray(0, left), () => client.destroy());
      else client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const drop = (): void => sockets.forEach((socket) => void socket.destroy());
  const address = server.address();
  const proxy: CuttingProxy = {
    answerBytesMax: Infinity,
    port: typeof address === "object" && address !== null ? address.port : 0,
    cut: () => {
      isCut = true;
      drop();
    },
    mend: () => {
      isCut = false;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        drop();
      }),
  };
  return proxy;
}

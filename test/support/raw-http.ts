/** A client that writes the bytes of its request itself, and sees each read of the answer. */
import net from "node:net";

export class RawClient {
  readonly socket: net.Socket;
  /** What each read of the socket held. */
  readonly reads: string[] = [];
  closed = false;

  private constructor(socket: net.Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => this.reads.push(chunk.toString("latin1")));
    socket.on("close", () => (this.closed = true));
    socket.on("error", () => (this.closed = true));
  }

  static async open(port: number): Promise<RawClient> {
    const socket = net.connect(port, "127.0.0.1");
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new RawClient(socket);
  }

  write(text: string): void {
    this.socket.write(text, "latin1");
  }

  get text(): string {
    return this.reads.join("");
  }
}

/** A POST with a body, as text. */
export function rawPost(path: string, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = {
    host: "localhost",
    authorization: "Bearer sk-good",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** A client of the Responses WebSocket that keeps whatever it reads. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket, { type ClientOptions } from "ws";
import { PATIENCE_MS } from "./patience.js";

export type SocketEvent = Readonly<Record<string, unknown>>;

const ENDS: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete", "response.failed", "error"]);

export interface Refusal {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly error: Readonly<Record<string, unknown>>;
}

export class SocketClient {
  readonly webSocket: WebSocket;
  readonly events: SocketEvent[] = [];
  readonly frames: string[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  #read = 0;

  private constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    webSocket.on("message", (data) => {
      const text = String(data);
      this.frames.push(text);
      this.events.push(JSON.parse(text) as SocketEvent);
    });
    webSocket.on("error", () => undefined);
    webSocket.on("close", (code, reason) => (this.closed = { code, reason: reason.toString() }));
  }

  /** Opens one at a gateway's base address. */
  static async open(url: string, secret: string, options: ClientOptions = {}): Promise<SocketClient> {
    const client = new SocketClient(connect(url, secret, options));
    await once(client.webSocket, "open");
    return client;
  }

  /** Asks for one that is refused. */
  static async refused(url: string, secret: string, options: ClientOptions = {}): Promise<Refusal> {
    const webSocket = connect(url, secret, options);
    webSocket.on("error", () => undefined);
    const [, response] = (await once(webSocket, "unexpected-response")) as [unknown, IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const { error } = JSON.parse(Buffer.concat(chunks).toString()) as { error: Refusal["error"] };
    return { status: response.statusCode ?? 0, headers: response.headers, error };
  }

  create(body: SocketEvent): void {
    this.webSocket.send(JSON.stringify({ type: "response.create", ...body }));
  }

  /** All events up to the end of the next response that nobody has asked for yet. */
  async answer(): Promise<readonly SocketEvent[]> {
    const start = this.#read;
    const end = await this.#until(() => this.events.findIndex(({ type }, place) => place >= start && ENDS.has(type)));
    this.#read = end + 1;
    return this.events.slice(start, end + 1);
  }

  /** Asks and waits for the end. */
  async ask(body: SocketEvent): Promise<readonly SocketEvent[]> {
    this.create(body);
    return this.answer();
  }

  async until(fits: (event: SocketEvent) => boolean): Promise<SocketEvent> {
    return this.events[await this.#until(() => this.events.findIndex(fits))] ?? {};
  }

  async end(): Promise<{ readonly code: number; readonly reason: string }> {
    await this.#until(() => (this.closed === undefined ? -1 : 0));
    return this.closed ?? { code: 0, reason: "" };
  }

  close(): void {
    this.webSocket.terminate();
  }

  async #until(find: () => number): Promise<number> {
    const endMs = Date.now() + PATIENCE_MS;
    for (;;) {
      const place = find();
      if (place >= 0) return place;
      if (Date.now() > endMs) throw new Error(`it never came; closed: ${JSON.stringify(this.closed)}; ${this.frames}`);
      await sleep(5);
    }
  }
}

function connect(url: string, secret: string, options: ClientOptions): WebSocket {
  const headers = { ...(secret === "" ? {} : { authorization: `Bearer ${secret}` }), ...options.headers };
  return new WebSocket(`${url.replace(/^http/, "ws")}/v1/responses`, { ...options, headers });
}

/** The text of an answer. */
export function textOf(events: readonly SocketEvent[]): string {
  return events.map((event) => (event["type"] === "response.output_text.delta" ? String(event["delta"]) : "")).join("");
}

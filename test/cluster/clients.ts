/**
 * Clients of every kind that stay while nodes come and go: whole answers, streams, WebSockets and gRPC through the
 * balancer, and gRPC at the nodes. What a client did not get, or got in part, is kept as a sentence.
 */
import { Metadata, type ServiceError } from "@grpc/grpc-js";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { Agent } from "undici";
import { clientOf, type DynamicStream, type DynamicUnary, type Json } from "../support/dynamic-client.js";
import { SocketClient } from "../support/websocket-client.js";
import { MODEL } from "./cluster.js";

const PAUSE_MS = 10;
const RETRIED_MS = 50;
/** Longer than a port that is closed waits for the begin of a request. */
const UPLOAD_MS = 900;
/** Closed with this code before it answered anything, a WebSocket's client asks over another one. */
const RESTART = 1012;
const QUESTION = "Is it so?";

export interface ClientsOptions {
  /** Of the balancer. */
  readonly url: string;
  /** The same for gRPC. */
  readonly grpcUrl: string;
  /** The nodes' gRPC ports: a client knows them all, as by the name of a service. */
  readonly grpc: readonly string[];
  readonly key: string;
  /** How long a long stream takes. */
  readonly longMs: number;
}

/** Kept from one call to the next. */
interface Line {
  ask(user: string): Promise<string | undefined>;
  close(): void;
}

export class Clients {
  /** How many calls of each kind came to their end. */
  readonly served = new Map<string, number>();
  /** What went wrong, by kind. */
  readonly problems: string[] = [];
  /** WebSockets that were closed at rest, and opened again. */
  moved = 0;
  readonly #options: ClientsOptions;
  readonly #agent = new Agent({ connections: 64 });
  readonly #running: Promise<void>[];
  #isOver = false;

  constructor(options: ClientsOptions, each: number) {
    this.#options = options;
    const kinds: Record<string, () => Line> = {
      whole: () => this.#http(0, false),
      upload: () => this.#http(0, false, UPLOAD_MS),
      management: () => this.#caller(),
      stream: () => this.#http(300, true),
      "long stream": () => this.#http(options.longMs, true),
      websocket: () => this.#webSocket(),
      grpc: () => this.#grpc(options.grpc, 0, false),
      "grpc stream": () => this.#grpc(options.grpc, 300, true),
      "long grpc stream": () => this.#grpc(options.grpc, options.longMs, true),
      "grpc by nginx": () => this.#grpc([options.grpcUrl], 0, false),
      "grpc stream by nginx": () => this.#grpc([options.grpcUrl], 300, true),
      "long grpc stream by nginx": () => this.#grpc([options.grpcUrl], options.longMs, true),
    };
    this.#running = Object.entries(kinds).flatMap(([kind, open]) =>
      Array.from({ length: each }, (_, client) => this.#run(kind, `${kind}-${client}`, open())),
    );
  }

  get total(): number {
    return [...this.served.values()].reduce((sum, count) => sum + count, 0);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
    await this.#agent.destroy();
  }

  async #run(kind: string, client: string, line: Line): Promise<void> {
    for (let turn = 0; !this.#isOver; turn += 1) {
      const problem = await line.ask(`${client}-${turn}`).catch((error: unknown) => String(error));
      if (problem === undefined) this.served.set(kind, (this.served.get(kind) ?? 0) + 1);
      else this.problems.push(`${client}-${turn}: ${problem}`);
      await pause(problem === undefined ? PAUSE_MS : RETRIED_MS);
    }
    line.close();
  }

  /** Who calls, by the management API. */
  #caller(): Line {
    const { url, key } = this.#options;
    const ask = async (): Promise<string | undefined> => {
      const headers = { authorization: `Bearer ${key}` };
      const { statusCode, body } = await this.#agent.request({
        origin: url,
        path: "/api/v1/me",
        method: "GET",
        headers,
      });
      const text = await body.text();
      return statusCode === 200 ? undefined : `${statusCode} ${text.slice(-200)}`;
    };
    return { ask, close: () => undefined };
  }

  /** The body is whole only after `uploadMs`. */
  #http(tookMs: number, stream: boolean, uploadMs = 0): Line {
    const { url, key } = this.#options;
    const ask = async (user: string): Promise<string | undefined> => {
      const message = { model: MODEL, messages: [{ role: "user", content: QUESTION }], user, seed: tookMs, stream };
      const { statusCode, body } = await this.#agent.request({
        origin: url,
        path: "/v1/chat/completions",
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: uploadMs === 0 ? JSON.stringify(message) : Readable.from(slowly(JSON.stringify(message), uploadMs)),
      });
      const text = await body.text();
      const isWhole = stream ? text.endsWith("data: [DONE]\n\n") : text.includes("It is so.");
      return statusCode === 200 && isWhole ? undefined : `${statusCode} ${text.slice(-200)}`;
    };
    return { ask, close: () => undefined };
  }

  #webSocket(): Line {
    let socket: SocketClient | undefined;
    const { url, key } = this.#options;
    const ask = async (): Promise<string | undefined> => {
      for (;;) {
        if (socket === undefined || socket.closed !== undefined) socket = await SocketClient.open(url, key);
        const before = socket.events.length;
        socket.create({ model: MODEL, input: QUESTION });
        while (socket.closed === undefined && !isEnd(socket.events.at(-1), socket.events.length > before))
          await pause(5);
        if (socket.events.length > before) break;
        if (socket.closed?.code !== RESTART) return `closed ${JSON.stringify(socket.closed)}`;
        this.moved += 1;
      }
      const type = String(socket.events.at(-1)?.["type"]);
      return type === "response.completed" ? undefined : `ended by ${JSON.stringify(socket.events.at(-1))}`;
    };
    return { ask, close: () => socket?.close() };
  }

  #grpc(addresses: readonly string[], seed: number, isStream: boolean): Line {
    const { key } = this.#options;
    const client = clientOf("tollgate.v1.InferenceService", `ipv4:${addresses.join(",")}`, {
      "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    });
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${key}`);
    const messages = [{ role: "ROLE_USER", parts: [{ text: { text: QUESTION } }] }];
    const request = { generation: { model: MODEL, prompt: { messages, seed } } };
    const generate: DynamicUnary = Reflect.get(client, "Generate");
    const streamGenerate: (...asked: unknown[]) => DynamicStream = Reflect.get(client, "StreamGenerate");
    const ask = (): Promise<string | undefined> =>
      new Promise((resolve) => {
        const failed = ({ code, details }: ServiceError): void => resolve(`${code} ${details}`);
        if (!isStream) {
          generate.call(client, request, metadata, {}, (error) =>
            error === null ? resolve(undefined) : failed(error),
          );
          return;
        }
        let last = "";
        const call = streamGenerate.call(client, request, metadata);
        call.on("data", ({ events }) => (last = String((events as Json[]).at(-1)?.["kind"] ?? last)));
        call.on("error", failed);
        call.on("end", () => resolve(last === "finish" ? undefined : `ended by ${last}`));
      });
    return { ask, close: () => client.close() };
  }
}

async function* slowly(text: string, tookMs: number): AsyncGenerator<string> {
  yield text.slice(0, 10);
  await pause(tookMs);
  yield text.slice(10);
}

function isEnd(event: Readonly<Record<string, unknown>> | undefined, isNew: boolean): boolean {
  return (
    isNew && ["response.completed", "response.incomplete", "response.failed", "error"].includes(String(event?.["type"]))
  );
}

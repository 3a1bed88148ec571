/** A front end on a free port, over a scripted channel. */
import type { FrontRefusal } from "../../src/http/front.js";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "../../src/http/server.js";
import type { LogFields } from "../../src/observe/log.js";
import { PATIENCE_MS } from "./patience.js";
import { ScriptedChannel } from "./scripted-channel.js";
import { toyFormat } from "./toy-format.js";

export interface TestServer {
  readonly server: HttpServer;
  readonly channel: ScriptedChannel;
  readonly url: string;
  readonly port: number;
  readonly samples: { route: string; status: number }[];
  /** What it told as refused by itself. */
  readonly refusals: FrontRefusal[];
  readonly logged: { fields: LogFields; message: string }[];
  close(): Promise<void>;
}

export const KEY = { authorization: "Bearer sk-good" };

export async function startServer(options: Partial<HttpServerOptions> = {}): Promise<TestServer> {
  const channel = new ScriptedChannel();
  const samples: { route: string; status: number }[] = [];
  const refusals: FrontRefusal[] = [];
  const logged: { fields: LogFields; message: string }[] = [];
  const note = (fields: LogFields, message: string): void => void logged.push({ fields, message });
  let made = 0;
  const server = await createHttpServer({
    channel,
    formats: [toyFormat],
    requestIds: () => `req_front_${++made}`,
    log: { debug: note, info: note, warn: note, error: note },
    metrics: { observe: ({ route, status }) => samples.push({ route, status }) },
    ready: () => true,
    frontToken: "front-secret",
    onRefused: (refusal) => refusals.push(refusal),
    ...options,
  });
  const { port } = await server.listen("127.0.0.1", 0);
  const url = `http://127.0.0.1:${port}`;
  return { server, channel, url, port, samples, refusals, logged, close: () => server.drain(0) };
}

/** Waits until something holds, looking every few milliseconds. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  // Some tests stop the clock of `performance`.
  const endMs = Date.now() + PATIENCE_MS;
  while (!holds()) {
    if (Date.now() > endMs) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

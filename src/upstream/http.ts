/** The one outbound HTTP client: an upstream with a base address, over kept connections. */
import assert from "node:assert/strict";
import { type Client, type Dispatcher, Pool } from "undici";
import { GatheredBytes } from "../base/bytes/gathered-bytes.js";
import { createConnector } from "./connection.js";
import { type CurrentConnection, PoolClient, PooledRequest } from "./pool-client.js";
import type { Exchange, Upstream, UpstreamHandler, UpstreamRequest } from "./upstream.js";

export interface HttpUpstreamOptions {
  /** Such as https://api.openai.com/v1. Its path is put before each request's. No credentials, query or fragment. */
  readonly baseUrl: string;
  readonly connectTimeoutMs?: number | undefined;
  /** The most connections, and so the most exchanges that run at once. */
  readonly connections?: number | undefined;
  /** The most exchanges that wait for a connection; more fail at once. */
  readonly waitingMax?: number | undefined;
  /** How long an unused connection is kept where the upstream does not say. */
  readonly keepAliveMs?: number | undefined;
}

/** The most bytes of an answer's headers. */
const HEADER_BYTES_MAX = 32 * 1024;
/** So many informational responses, such as early hints, may come before an answer. */
const INFORMATIONAL_MAX = 32;
/** The longest that an upstream may ask us to keep a connection. */
const KEEP_ALIVE_MS_MAX = 120_000;

/** An exchange that failed below HTTP. The message names the origin and a code, never a header or a body. */
export class ConnectionError extends Error {
  /** Such as ECONNREFUSED or UND_ERR_CONNECT_TIMEOUT. */
  readonly code: string;

  constructor(origin: string, code: string) {
    super(`The connection to ${origin} failed: ${code}.`);
    this.name = "ConnectionError";
    this.code = code;
  }
}

/**
 * Connects to an upstream over HTTP or HTTPS. It has no timers of its own but for connecting, never retries, never
 * follows a redirect, and asks for no compression: the caller decides, and reads bytes as they come. Throws a
 * TypeError where `baseUrl` is no plain address.
 */
export function createHttpUpstream(options: HttpUpstreamOptions): Upstream {
  return new HttpUpstream(options);
}

class HttpUpstream implements Upstream {
  readonly #origin: string;
  readonly #basePath: string;
  readonly #serverPath: string;
  readonly #pool: Pool;
  readonly #openMax: number;
  /** Headers as they go out, by the object in which an upstream keeps them for all its requests. */
  readonly #flat = new WeakMap<UpstreamRequest["headers"], string[]>();
  /** The path that was found good last: an upstream's requests rarely have another. */
  #goodPath = "";
  #open = 0;

  constructor(options: HttpUpstreamOptions) {
    const { connectTimeoutMs = 3_000, connections = 256, waitingMax = 1_024, keepAliveMs = 30_000 } = options;
    const url = parseBaseUrl(options.baseUrl);
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, "");
    this.#serverPath = this.#basePath.replace(/\/v\d\w*$/, "");
    this.#openMax = connections + waitingMax;
    const connect = createConnector(connectTimeoutMs);
    this.#pool = new Pool(url.origin, {
      connections,
      factory: (origin, given) => new PoolClient(origin, given as Client.Options, connect),
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
      maxHeaderSize: HEADER_BYTES_MAX,
      // Silence is judged by the caller, who knows whether a first token or a whole answer is awaited.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  send(request: UpstreamRequest, handler: UpstreamHandler): Exchange {
    const exchange = new HttpExchange(this.#origin, handler, () => void this.#open--);
    this.#open++;
    const problem = request.path === this.#goodPath ? undefined : pathProblem(request.path);
    if (this.#open > this.#openMax) exchange.refuse("EXCHANGES_MAX");
    else if (problem !== undefined) exchange.refuse(problem);
    else {
      this.#goodPath = request.path;
      const { method, body = null } = request;
      const path = (request.isOfServer === true ? this.#serverPath : this.#basePath) + request.path;
      this.#pool.dispatch(new PooledRequest(path, method, this.#headersOf(request), body, exchange), exchange);
    }
    exchange.entered();
    return exchange;
  }

  #headersOf({ headers, ownHeaders }: UpstreamRequest): string[] {
    let flat = this.#flat.get(headers);
    if (flat === undefined) this.#flat.set(headers, (flat = ["accept-encoding", "identity", ...flatHeaders(headers)]));
    return ownHeaders === undefined ? flat : flat.concat(flatHeaders(ownHeaders));
  }

  /** Ends what still runs: its handlers hear an error. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

/** One exchange, which is also what undici calls: one object for both. */
class HttpExchange implements Exchange, Dispatcher.DispatchHandler {
  readonly #origin: string;
  #handler: UpstreamHandler | undefined;
  #onOver: (() => void) | undefined;
  /** From when one is given the request, which then may wait for its connection, until undici is done with it. */
  #client: CurrentConnection | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #isPaused = false;
  #hasHead = false;
  /** What was read before the connection was held, of one read at most, for whoever paused. */
  #unread: GatheredBytes | undefined;
  /** True while the handler is told of it. */
  #isTelling = false;
  /** True once all was read. */
  #isRead = false;
  #informational = 0;
  /** True once a connection took the request: from then on the upstream may have seen it. */
  #sent = false;
  /** False while `send` has not returned, when the caller does not hold the exchange yet. */
  #entered = false;

  constructor(origin: string, handler: UpstreamHandler, onOver: () => void) {
    this.#origin = origin;
    this.#handler = handler;
    this.#onOver = onOver;
  }

  onClient(client: CurrentConnection): void {
    this.#client = client;
  }

  entered(): void {
    this.#entered = true;
  }

  /** Fails the exchange before it began. */
  refuse(code: string): void {
    this.#over();
    this.#fail(code);
    this.#entered = true;
  }

  pause(): void {
    this.#isPaused = true;
    // A head is told all the same.
    if (this.#hasHead) this.#client?.connection?.hold();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#isTelling) return;
    this.#tellRest();
    if (this.#isPaused) return;
    if (this.#isRead) this.#end();
    else if (this.#hasHead) this.#client?.connection?.release();
  }

  #tellRest(): void {
    const unread = this.#unread;
    if (unread === undefined) return;
    this.#unread = undefined;
    this.#isTelling = true;
    try {
      this.#handler?.onData(unread.joined());
    } finally {
      this.#isTelling = false;
    }
  }

  abort(): void {
    this.#handler = undefined;
    this.#unread = undefined;
    // What still waits for a connection is dropped when it would get one.
    this.#controller?.abort(new Error("aborted"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#handler === undefined) controller.abort(new Error("aborted"));
    else {
      this.#sent = true;
      this.#handler.onSent?.();
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Early hints and the like are no answer.
    if (status < 200) return this.#inform();
    this.#hasHead = true;
    if (this.#isPaused) this.#client?.connection?.hold();
    this.#handler?.onHead(status, joinHeaders(headers));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isPaused) (this.#unread ??= new GatheredBytes()).add(chunk);
    else this.#handler?.onData(chunk);
  }

  onResponseEnd(): void {
    this.#isRead = true;
    this.#over();
    if (!this.#isPaused) this.#end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#unread = undefined;
    this.#over();
    this.#fail(codeOf(error));
  }

  #inform(): void {
    this.#informational += 1;
    if (this.#informational <= INFORMATIONAL_MAX) return;
    this.#fail("INFORMATIONAL_MAX");
    this.abort();
  }

  #end(): void {
    const handler = this.#handler;
    this.#handler = undefined;
    handler?.onEnd();
  }

  #fail(code: string): void {
    const error = new ConnectionError(this.#origin, code);
    const sent = this.#sent;
    const tell = (): void => {
      const handler = this.#handler;
      this.#handler = undefined;
      handler?.onError(error, sent);
    };
    if (this.#entered) tell();
    else queueMicrotask(tell);
  }

  /** Undici is done with it: its connection is free for others, whatever the handler was not told yet. */
  #over(): void {
    this.#onOver?.();
    this.#onOver = undefined;
    this.#controller = undefined;
    this.#client?.connection?.exchangeOver();
    this.#client = undefined;
  }
}

function parseBaseUrl(text: string): URL {
  // The text may hold a secret by mistake, so no message repeats it.
  assert(URL.canParse(text), new TypeError("the base address is no URL"));
  const url = new URL(text);
  const plain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  assert(plain, new TypeError("the base address must have no credentials, query or fragment"));
  assert(/^https?:$/.test(url.protocol), new TypeError("the base address must begin with http:// or https://"));
  return url;
}

/** What would leave the base path or the request line; undefined for a plain path. */
function pathProblem(path: string): string | undefined {
  if (!path.startsWith("/") || /[^\x21-\x7e]|#|\\/.test(path)) return "INVALID_PATH";
  return /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$|\?)/i.test(path) ? "INVALID_PATH" : undefined;
}

function flatHeaders(headers: Readonly<Record<string, string>>): string[] {
  const flat: string[] = [];
  for (const name in headers) {
    if (name === "accept-encoding") continue;
    const value = headers[name];
    if (value !== undefined) flat.push(name, value);
  }
  return flat;
}

type ToldHeaders = Record<string, string | string[] | undefined>;

function joinHeaders(headers: ToldHeaders): Record<string, string> {
  // Nearly no answer says a header twice.
  if (isJoined(headers)) return headers;
  const joined: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) joined[name] = typeof value === "string" ? value : value.join(", ");
  }
  return joined;
}

function isJoined(headers: ToldHeaders): headers is Record<string, string> {
  for (const name in headers) if (typeof headers[name] !== "string") return false;
  return true;
}

/** An error's code; where it has none, its class. Its message may quote what came or went, so it stays here. */
function codeOf(error: Error): string {
  const code: unknown = Reflect.get(error, "code");
  if (typeof code === "string" && code !== "") return code;
  // Several addresses of one name failed: the first says why.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return codeOf(error.errors[0]);
  return error.name;
}

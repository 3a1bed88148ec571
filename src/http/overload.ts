/**
 * What stands before the framework: a request begins at once, or waits where too many come, or is refused. A refusal
 * must cost next to nothing, so that as many requests are answered as without the others.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { CallMetadata, Channel } from "../api/channel.js";
import type { QueuedRequest, RequestQueue } from "../base/event-loop/request-queue.js";
import type { GatewayError } from "../base/errors.js";
import type { Format } from "../formats/format.js";
import type { Cors } from "./cors.js";
import { errorReply } from "./error-reply.js";
import { flatHeaders } from "./headers.js";
import type { HttpMetrics } from "./request-metrics.js";

/** Probes say how it stands with the process. */
const PROBES: ReadonlySet<string> = new Set(["/livez", "/readyz"]);
const SHOWING = ["authorization", "x-api-key", "x-goog-api-key", "cookie"] as const;
/** How long a refused client may go on sending a body that nobody reads. */
const LINGER_MS = 5_000;
/** In the place of the id, in what is made once. */
const ID = "req_of_nobody";
/** Requests that no route is looked up for. */
const ROUTE = "refused";

export interface OverloadParts {
  readonly queue: Pick<RequestQueue, "isFree" | "push">;
  readonly formats: readonly Format[];
  readonly newRequestId: () => string;
  readonly metrics: HttpMetrics;
  readonly channel: Pick<Channel, "queueOf">;
  /** Absent: pages of other origins may read nothing. */
  readonly cors: Pick<Cors, "headersOf"> | undefined;
}

/** A refusal of one format, made once. */
interface Refusal {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
  /** True where its body names the request. */
  readonly isNamed: boolean;
}

export class Overload {
  readonly #parts: OverloadParts;
  readonly #byPath = new Map<string, Format>();
  /** What was made of the few errors there are. */
  readonly #refusals = new Map<Format | undefined, Map<GatewayError, Refusal>>();

  constructor(parts: OverloadParts) {
    this.#parts = parts;
    for (const format of parts.formats) for (const { path } of format.routes) this.#byPath.set(path, format);
  }

  /** The listener of a server whose requests begin in their turn. */
  before(listener: RequestListener): RequestListener {
    const { queue, channel } = this.#parts;
    return (request, response) => {
      if (queue.isFree || PROBES.has(request.url ?? "")) listener(request, response);
      else queue.push(channel.queueOf(shownBy(request)), new QueuedCall(request, response, listener, this));
    };
  }

  refuse({ request, response, listener, sinceMs }: QueuedCall, error: GatewayError): void {
    const { cors } = this.#parts;
    // A browser that may not send its request could not show the page why.
    if (cors !== undefined && request.method === "OPTIONS") return void listener(request, response);
    const { status, headers, body, isNamed } = this.#refusalFor(request, error);
    const id = this.#parts.newRequestId();
    const text = isNamed ? body.replace(ID, () => id) : body;
    const named = headers.map((part) => (part === ID ? id : part));
    if (cors !== undefined) named.push(...cors.headersOf(request).flat());
    response.on("error", () => response.destroy());
    response.writeHead(status, [...named, "content-length", String(Buffer.byteLength(text))]);
    response.end(text);
    if (!request.complete) lingerBriefly(request);
    this.#parts.metrics.observe({ route: ROUTE, status, durationMs: performance.now() - sinceMs });
  }

  #refusalFor(request: IncomingMessage, error: GatewayError): Refusal {
    const format = this.#formatOf(request);
    let made = this.#refusals.get(format);
    if (made === undefined) this.#refusals.set(format, (made = new Map()));
    let refusal = made.get(error);
    if (refusal === undefined) made.set(error, (refusal = refusalOf(format, error)));
    return refusal;
  }

  #formatOf({ url = "", headers }: IncomingMessage): Format | undefined {
    const known = this.#byPath.get(url);
    if (known !== undefined || url.startsWith("/api/")) return known;
    const [path = "", search = ""] = url.split("?", 2);
    const query = Object.fromEntries(new URLSearchParams(search));
    const asked = { path, headers: flatHeaders(headers), params: {}, query };
    return this.#byPath.get(path) ?? this.#parts.formats.find((format) => format.recognises(asked));
  }
}

class QueuedCall implements QueuedRequest {
  readonly sinceMs = performance.now();

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly listener: RequestListener,
    private readonly overload: Overload,
  ) {}

  start(): void {
    // What is over already would tell the framework so no more.
    if (!this.response.destroyed && !this.request.destroyed) this.listener(this.request, this.response);
  }

  refuse(error: GatewayError): void {
    if (!this.response.destroyed) this.overload.refuse(this, error);
  }
}

/** The headers that may show whose request it is. */
function shownBy({ headers }: IncomingMessage): CallMetadata {
  const shown: Record<string, string> = {};
  for (const name of SHOWING) {
    const value = headers[name];
    if (typeof value === "string") shown[name] = value;
  }
  return shown;
}

function refusalOf(format: Format | undefined, error: GatewayError): Refusal {
  const { status, headers, body } = errorReply(error, ID, format);
  const text = body.toString();
  const told = Object.entries({ "x-content-type-options": "nosniff", ...headers });
  return { status, headers: told.flat(), body: text, isNamed: text.includes(ID) };
}

/** Lets the client finish sending, so that it reads our answer rather than a reset, but not for long. */
function lingerBriefly(request: IncomingMessage): void {
  setTimeout(() => {
    if (!request.complete) request.destroy();
  }, LINGER_MS).unref();
}

/** What every route of the front end shares: how it calls the service, and how it refuses. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Cancellation, type CancelSignal } from "../base/cancellation.js";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Admission, CallMetadata, CallOptions, Channel } from "../api/channel.js";
import { ROUTE_HEADER } from "../api/request-headers.js";
import { GatewayError } from "../base/errors.js";
import type { Format, FormatRequest, SourceBody } from "../formats/format.js";
import type { Log } from "../observe/log.js";
import { LONG_BYTES } from "./body-check.js";
import type { AnswerHeaders } from "./headers.js";
import { errorReply } from "./error-reply.js";
import { addRecordHeaders } from "./record-request-headers.js";
import { addSession } from "./session-cookie.js";
import { addReplayHeaders } from "./replay-headers.js";
import { answerHeaders, flatHeaders, flatRecord, isHeaderValue, metadataValue } from "./headers.js";
import type { RoutePermission } from "./routes.js";

/** How long a refused client may go on sending a body that nobody reads. */
const LINGER_MS = 5_000;

declare module "fastify" {
  interface FastifyRequest {
    /** What every call for it says, made once. */
    callMetadata: CallMetadata | undefined;
    /** That its caller was let in, before its body was read. */
    admission: Admission | undefined;
  }
}

/** The client's address: from the socket's other end, and what proxies in between say. */
export type ClientAddressOf = (peer: string, forwardedFor: string | undefined) => string;

/** Makes a long source ready, so that neither its call nor its answer holds the event loop. `holder` names one key. */
export type PrepareLong = (source: SourceBody, holder: string) => Promise<SourceBody>;

/** A refusal that the service never saw. */
export interface FrontRefusal {
  readonly error: GatewayError;
  readonly requestId: string;
  /** The pattern of the route, or `unknown`. */
  readonly route: string;
  /** The method that it stands for; absent where it is none. */
  readonly method?: string | undefined;
  readonly metadata: CallMetadata;
  /** Absent: the caller was not let in. */
  readonly admission: Admission | undefined;
}

export interface FrontParts {
  readonly channel: Channel;
  readonly formats: readonly Format[];
  readonly requestIds: () => string;
  readonly log: Log;
  readonly frontToken: string | undefined;
  readonly clientAddressOf: ClientAddressOf | undefined;
  readonly prepareLong: PrepareLong;
  /** The time of day. Absent: no answer tells one. */
  readonly timeMs?: (() => number) | undefined;
  /** Hears of what is refused here. Absent: nobody does. */
  readonly onRefused?: ((refusal: FrontRefusal) => void) | undefined;
}

/** A request as formats read it. Nothing is copied until a format asks. */
export class HttpFormatRequest implements FormatRequest {
  readonly #request: FastifyRequest;

  constructor(request: FastifyRequest) {
    this.#request = request;
  }

  get path(): string {
    return this.#request.url.split("?", 1)[0] ?? "";
  }

  get headers(): Readonly<Record<string, string>> {
    return flatHeaders(this.#request.headers);
  }

  get params(): Readonly<Record<string, string>> {
    return flatRecord(this.#request.params);
  }

  get query(): Readonly<Record<string, string>> {
    return flatRecord(this.#request.query);
  }
}

export class Front {
  readonly #parts: FrontParts;

  constructor(parts: FrontParts) {
    this.#parts = parts;
  }

  get channel(): Channel {
    return this.#parts.channel;
  }

  get formats(): readonly Format[] {
    return this.#parts.formats;
  }

  newRequestId(): string {
    return this.#parts.requestIds();
  }

  /** The source as it is called with and answered by: itself where it is short. */
  prepared(source: SourceBody, holder: string): SourceBody | Promise<SourceBody> {
    return source.body.length <= LONG_BYTES ? source : this.#parts.prepareLong(source, holder);
  }

  /** The credential and the address, for the service to judge. */
  callOptions(request: FastifyRequest, signal: CancelSignal, timeoutMs?: number): CallOptions {
    const { admission } = request;
    return { metadata: (request.callMetadata ??= this.#metadata(request)), signal, timeoutMs, admission };
  }

  #metadata(request: FastifyRequest, session: "with session" | "without session" = "with session"): CallMetadata {
    const { headers, socket } = request;
    const metadata = this.#callerMetadata(headers, socket);
    const own = this.formatOf(request)?.credential?.(new HttpFormatRequest(request));
    if (own !== undefined) metadata["x-api-key"] = metadataValue(own);
    const route = request.routeOptions.url;
    if (route !== undefined) metadata[ROUTE_HEADER] = route;
    if (session === "with session") addSession(request, metadata);
    addReplayHeaders(headers, metadata);
    return metadata;
  }

  /** Who calls, for calls that are no answer to one request. */
  callerMetadata(headers: IncomingHttpHeaders, socket: Socket): CallMetadata {
    return this.#callerMetadata(headers, socket);
  }

  #callerMetadata(headers: IncomingHttpHeaders, socket: Socket): Record<string, string> {
    const metadata: Record<string, string> = { "x-tollgate-client-address": this.#addressOf(headers, socket) };
    if (this.#parts.frontToken !== undefined) metadata["x-tollgate-front"] = this.#parts.frontToken;
    if (headers.authorization !== undefined) metadata["authorization"] = metadataValue(headers.authorization);
    const apiKey = headers["x-api-key"];
    if (typeof apiKey === "string") metadata["x-api-key"] = metadataValue(apiKey);
    addRecordHeaders(headers, metadata);
    return metadata;
  }

  #addressOf(headers: IncomingHttpHeaders, socket: Socket): string {
    const peer = socket.remoteAddress ?? "";
    const forwarded = this.#parts.clientAddressOf;
    return forwarded === undefined ? peer : forwarded(peer, flatRecord(headers)["x-forwarded-for"]);
  }

  /** Lets a caller open a connection on which it begins requests. Throws or rejects where it may not. */
  admitUpgrade(
    { headers, socket }: IncomingMessage,
    { scope, method }: Exclude<RoutePermission, "public">,
  ): Admission | Promise<Admission> {
    return this.channel.admit({ scope, method, isLong: true }, this.#callerMetadata(headers, socket));
  }

  /** Lets the caller in, at once where the key is known. Throws or rejects where it may not use the route at all. */
  admit(
    request: FastifyRequest,
    { scope, method }: Exclude<RoutePermission, "public">,
    isLong: boolean,
  ): Admission | Promise<Admission> {
    return this.channel.admit({ scope, method, isLong }, (request.callMetadata ??= this.#metadata(request)));
  }

  /** Rejects with the service's refusal where the caller may not use a route at all. */
  async checkCaller(request: FastifyRequest, permission: RoutePermission): Promise<void> {
    if (permission !== "public" && request.admission === undefined) await this.admit(request, permission, false);
  }

  /** Headers of a good answer. What the service did not name, we do. */
  headers(request: FastifyRequest, head: CallMetadata): AnswerHeaders {
    const headers = answerHeaders(head);
    headers["x-request-id"] ??= this.newRequestId();
    const format = this.formatOf(request);
    Object.assign(headers, format?.replyHeaders(headers["x-request-id"]));
    return this.#withLimits(headers, format);
  }

  #withLimits(headers: AnswerHeaders, format: Format | undefined): AnswerHeaders {
    const { timeMs } = this.#parts;
    if (format?.limitHeaders === undefined || timeMs === undefined) return headers;
    return Object.assign(headers, format.limitHeaders(headers, timeMs()));
  }

  /** Logs what is our fault. A failure that names its request comes from the service, which has logged it. */
  logFault(error: GatewayError, requestId: string, request: FastifyRequest): void {
    if (error.reason !== "ERROR_REASON_INTERNAL" || error.metadata["request_id"] !== undefined) return;
    const fields = { request_id: requestId, err: error, route: request.routeOptions.url };
    this.#parts.log.error(fields, "a request failed by our fault");
  }

  /** Answers with a refusal. What is not one is our fault: its cause is logged and never sent. */
  refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown, head: CallMetadata = {}): void {
    const error = GatewayError.from(thrown);
    const given = error.metadata["request_id"] ?? head["x-request-id"];
    const requestId = isHeaderValue(given) ? given : this.newRequestId();
    const format = this.formatOf(request);
    const answer = errorReply(error, requestId, format);
    this.logFault(error, requestId, request);
    if (given === undefined) this.#told(error, requestId, request);
    if (!request.raw.complete) lingerBriefly(request);
    // Who showed no key keeps no connection.
    else if (error.http === 401) answer.headers["connection"] = "close";
    void reply
      .code(answer.status)
      .headers(this.#withLimits({ ...answerHeaders(head), ...answer.headers }, format))
      .send(answer.body);
  }

  /** Tells of a refusal that the service never saw. */
  tell(refusal: FrontRefusal): void {
    this.#parts.onRefused?.(refusal);
  }

  #told(error: GatewayError, requestId: string, request: FastifyRequest): void {
    if (this.#parts.onRefused === undefined) return;
    const route = request.is404 ? "unknown" : (request.routeOptions.url ?? "unknown");
    // A session that was refused is nobody's: its caller is told as a stranger.
    const metadata = request.callMetadata ?? this.#metadata(request, "without session");
    const { permission } = request.routeOptions.config ?? {};
    const method = permission === undefined || permission === "public" ? undefined : permission.method;
    this.tell({ error, requestId, route, method, metadata, admission: request.admission });
  }

  /** The route's own format; elsewhere the one that knows its client by its headers or its query. */
  formatOf(request: FastifyRequest): Format | undefined {
    const own = request.routeOptions.config?.format;
    if (own !== undefined || request.url.startsWith("/api/")) return own;
    const asked = new HttpFormatRequest(request);
    return this.#parts.formats.find((format) => format.recognises(asked));
  }
}

/** Aborts when the client goes away, or has its answer. */
export function goneSignal(reply: FastifyReply): CancelSignal {
  const gone = new Cancellation();
  reply.raw.once("close", () => gone.abort(new GatewayError("ERROR_REASON_CANCELLED")));
  return gone;
}

/** Lets the client finish sending, so that it reads our answer rather than a reset, but not for long. */
function lingerBriefly(request: FastifyRequest): void {
  setTimeout(() => {
    if (!request.raw.complete) request.raw.destroy();
  }, LINGER_MS).unref();
}

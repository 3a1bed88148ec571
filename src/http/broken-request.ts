/** The answers to what the server itself could not take: bytes that are no request, a broken path, a broken body. */
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../base/errors.js";
import { serverProblem } from "./body-check.js";
import { errorReply } from "./error-reply.js";
import type { Front } from "./front.js";
import { pathUnknown } from "./not-found.js";
import type { RouteTable } from "./routes.js";

const STATUS_LINES: ReadonlyMap<string, { readonly status: string; readonly problem: string }> = new Map([
  ["ERR_HTTP_REQUEST_TIMEOUT", { status: "408 Request Timeout", problem: "it did not arrive in time" }],
  ["HPE_HEADER_OVERFLOW", { status: "431 Request Header Fields Too Large", problem: "its headers are too large" }],
]);
const MALFORMED = { status: "400 Bad Request", problem: "the HTTP request is malformed" };

/** Ends a request whose headers or body come too slowly. */
export function answerTooSlow(socket: Socket, requestId: string): void {
  answerBrokenRequest(Object.assign(new Error("too slow"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket, requestId);
}

/** Written on the socket, since there is no request to answer: says what is wrong where anybody listens, and closes. */
export function answerBrokenRequest(error: Error, socket: Socket, requestId: string): void {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, problem } = STATUS_LINES.get(code) ?? MALFORMED;
  const reply = errorReply(new GatewayError("ERROR_REASON_BODY_INVALID", { problem }), requestId, undefined);
  const headers = { ...reply.headers, "content-length": String(reply.body.length), connection: "close" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`), reply.body]));
}

/** Refuses a path that cannot be decoded, once its caller may use the route that it resembles. */
export async function refuseBrokenPath(
  front: Front,
  routes: RouteTable,
  request: FastifyRequest,
  reply: FastifyReply,
  tooLong: boolean,
): Promise<void> {
  const { method, url } = request;
  const permission = routes.permissionOf(method, url);
  const problem = tooLong ? "a part of it is too long" : "its percent-encoding cannot be decoded";
  const refusal =
    permission === "public"
      ? pathUnknown(method, url, routes)
      : new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "path", problem });
  const first = await front.checkCaller(request, permission).then(() => refusal, GatewayError.from);
  front.refuse(request, reply, first);
}

/** Refuses whatever a route or the server threw: bodies are read only of callers that were let in. */
export function refuseError(
  front: Front,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  bodyBytesMax: number,
): void {
  front.refuse(request, reply, serverProblem(error, bodyBytesMax) ?? error);
}

/** What is checked before a body is read: who sends it comes first, then its length, its coding and its type. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../errors.js";
import type { Front } from "./front.js";
import type { RoutePermission } from "./routes.js";

/** Up to here a body is read before the service has seen the key; beyond, a stranger could fill the memory. */
const UNCHECKED_BYTES_MAX = 1_048_576;

/** What is wrong with the body as its headers announce it; undefined where nothing is, or where there is none. */
export function bodyProblem(request: FastifyRequest, bytesMax: number): GatewayError | undefined {
  if (!hasBody(request)) return undefined;
  const { headers } = request;
  if (Number(headers["content-length"] ?? 0) > bytesMax) return tooLarge(bytesMax);
  const coding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity" && coding !== "") {
    return new GatewayError("ERROR_REASON_BODY_INVALID", {
      problem: "it is compressed; send it uncompressed, without a content-encoding header",
    });
  }
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  return type === undefined || type === "application/json" ? undefined : wrongType();
}

/** True where the body may be read at once: nothing is wrong, and it cannot be long. */
export function mayReadAtOnce(request: FastifyRequest, problem: GatewayError | undefined): boolean {
  if (problem !== undefined) return false;
  if (!hasBody(request)) return true;
  const length = request.headers["content-length"];
  return length !== undefined && Number(length) <= UNCHECKED_BYTES_MAX;
}

/** Refuses the caller first, and only then the body. */
export async function checkBody(
  front: Front,
  request: FastifyRequest,
  reply: FastifyReply,
  permission: RoutePermission,
  problem: GatewayError | undefined,
): Promise<void> {
  await front.checkCaller(request, reply, permission);
  if (problem !== undefined) throw problem;
}

/** What the server itself says of a body, or a path, as a refusal; undefined where it says something else. */
export function serverProblem(error: unknown, bytesMax: number): GatewayError | undefined {
  if (!(error instanceof Error && "code" in error)) return undefined;
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return tooLarge(bytesMax);
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
    case "FST_ERR_CTP_EMPTY_TYPE":
      return wrongType();
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
    case "ECONNRESET":
    case "ECONNABORTED":
      return new GatewayError("ERROR_REASON_BODY_INVALID", { problem: "it ended early" }, { cause: error });
    default:
      return undefined;
  }
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError("ERROR_REASON_BODY_TOO_LARGE", { limit_bytes: String(bytesMax) });
}

function wrongType(): GatewayError {
  return new GatewayError("ERROR_REASON_BODY_INVALID", {
    problem: "its content-type is not application/json; send JSON with 'content-type: application/json'",
  });
}

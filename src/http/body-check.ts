/** What is checked before a body is read: who sends it, then its length, its coding and its type, then the room. */
import { bodyTooLarge } from "../base/bytes/body-limit.js";
import { Transform, type TransformCallback } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Admission } from "../api/channel.js";
import type { ByteBudget } from "../base/bytes/byte-budget.js";
import { GatewayError } from "../base/errors.js";

declare module "fastify" {
  interface FastifyRequest {
    /** What of the budget its body has taken. */
    bodyLease: BodyLease | undefined;
  }
}

/** A longer body is long: it is read beside the event loop. */
export const LONG_BYTES = 256 * 1024;
const JSON_TYPE = "application/json";

/** What is wrong with the body as its headers announce it; undefined where nothing is, or where there is none. */
export function bodyProblem(request: FastifyRequest, bytesMax: number): GatewayError | undefined {
  const { headers } = request;
  if (Number(headers["content-length"] ?? 0) > bytesMax) return bodyTooLarge(bytesMax);
  const coding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (coding !== "identity" && coding !== "") {
    return new GatewayError("ERROR_REASON_BODY_INVALID", {
      problem: "it is compressed; send it uncompressed, without a content-encoding header",
    });
  }
  const type = headers["content-type"];
  // As nearly everybody says it.
  if (type === undefined || type === JSON_TYPE) return undefined;
  return type.split(";", 1)[0]?.trim().toLowerCase() === JSON_TYPE ? undefined : wrongType();
}

export function hasBody({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** True where its length is not known either. */
export function isLong({ headers }: FastifyRequest): boolean {
  const length = headers["content-length"];
  return length === undefined || Number(length) > LONG_BYTES;
}

/** The bytes that one body takes of the budget, until its request has its answer. */
export class BodyLease {
  #bytes = 0;

  private constructor(
    private readonly budget: ByteBudget,
    private readonly holder: string,
  ) {}

  /** Takes what the headers announce. Throws where there is no room. */
  static take(request: FastifyRequest, reply: FastifyReply, budget: ByteBudget, { holder }: Admission): void {
    const lease = new BodyLease(budget, holder);
    lease.grow(Number(request.headers["content-length"] ?? 0));
    request.bodyLease = lease;
    reply.raw.once("close", () => budget.give(holder, lease.#bytes));
  }

  grow(bytes: number): void {
    this.budget.take(this.holder, bytes);
    this.#bytes += bytes;
  }
}

/** A body of unknown length, whose bytes are taken as they come. */
export class CountedBody extends Transform {
  constructor(private readonly lease: BodyLease) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      this.lease.grow(chunk.length);
      done(null, chunk);
    } catch (error) {
      done(GatewayError.from(error));
    }
  }
}

/** What the server itself says of a body, or a path, as a refusal; undefined where it says something else. */
export function serverProblem(error: unknown, bytesMax: number): GatewayError | undefined {
  if (!(error instanceof Error && "code" in error)) return undefined;
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return bodyTooLarge(bytesMax);
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
    case "FST_ERR_CTP_EMPTY_TYPE":
      return wrongType();
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
    case "ECONNRESET":
    case "ECONNABORTED":
      return endedEarly(error);
    default:
      return undefined;
  }
}

function wrongType(): GatewayError {
  return new GatewayError("ERROR_REASON_BODY_INVALID", {
    problem: "its content-type is not application/json; send JSON with 'content-type: application/json'",
  });
}

export function endedEarly(cause?: Error): GatewayError {
  const options = cause === undefined ? undefined : { cause };
  return new GatewayError("ERROR_REASON_BODY_INVALID", { problem: "it ended early" }, options);
}

/** Refusals as gRPC statuses, and back. */
import { Metadata, status } from "@grpc/grpc-js";
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { BadRequest, ErrorInfo, RetryInfo } from "../../../gen/google/rpc/error_details.js";
import { Status } from "../../../gen/google/rpc/status.js";
import { GatewayError, isReasonName, REASONS } from "../../../src/base/errors.js";
import { GRPC_CODES } from "../../../src/rpc/call/grpc-codes.js";
import { boundedError, errorOf, statusOf } from "../../../src/rpc/call/status.js";

const REASON_NAMES = Object.keys(REASONS).filter(isReasonName);

function detailsOf(error: GatewayError): Status {
  const [bytes] = statusOf(error, {}).metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(bytes)) throw new Error("no details");
  return Status.decode(bytes);
}

describe("a status", () => {
  test.each(REASON_NAMES)("%s comes back as it was", (reason) => {
    const error = new GatewayError(reason, { model: "m", param: "p", problem: "is wrong", reset_ms: "250" });
    const told = statusOf(error, { "x-request-id": "req_1" });
    expect(told.code).toBe(GRPC_CODES[reason]);
    expect(told.metadata.get("x-request-id")).toEqual(["req_1"]);
    const back = errorOf(told);
    expect([back.reason, back.metadata, back.message]).toEqual([error.reason, error.metadata, error.message]);
  });

  test("carries Google's details for clients that know nothing of us", () => {
    const error = new GatewayError("ERROR_REASON_RATE_LIMITED", { limit: "concurrency", reset_ms: "1250" });
    const { code, message, details } = detailsOf(error);
    // Clients refuse details whose code and message differ from the status's own.
    expect([code, message]).toEqual([status.RESOURCE_EXHAUSTED, statusOf(error, {}).details]);
    const [info, retry] = details;
    expect(info?.typeUrl).toBe("type.googleapis.com/google.rpc.ErrorInfo");
    expect(ErrorInfo.decode(info?.value ?? Buffer.alloc(0))).toEqual({
      reason: "RATE_LIMITED",
      domain: "tollgate",
      metadata: { limit: "concurrency", reset_ms: "1250" },
    });
    expect(retry?.typeUrl).toBe("type.googleapis.com/google.rpc.RetryInfo");
    expect(RetryInfo.decode(retry?.value ?? Buffer.alloc(0)).retryDelay).toEqual({ seconds: 1n, nanos: 250_000_000 });
  });

  test("names the wrong parameter as a field violation", () => {
    const error = new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "n", problem: "must be 1" });
    const violation = detailsOf(error).details.find(({ typeUrl }) => typeUrl.endsWith("BadRequest"));
    const [field] = BadRequest.decode(violation?.value ?? Buffer.alloc(0)).fieldViolations;
    expect(field).toMatchObject({ field: "n", description: error.message });
  });

  test.each([
    { code: status.UNAVAILABLE, details: "No connection established", reason: "ERROR_REASON_OVERLOADED" },
    { code: status.DEADLINE_EXCEEDED, details: "", reason: "ERROR_REASON_UPSTREAM_TIMEOUT" },
    { code: status.CANCELLED, details: "", reason: "ERROR_REASON_CANCELLED" },
    {
      code: status.RESOURCE_EXHAUSTED,
      details: "Received message larger than max (9 vs 4)",
      reason: "ERROR_REASON_BODY_TOO_LARGE",
    },
    { code: status.RESOURCE_EXHAUSTED, details: "Too many pings", reason: "ERROR_REASON_INTERNAL" },
    { code: status.UNIMPLEMENTED, details: "", reason: "ERROR_REASON_INTERNAL" },
    { code: status.UNKNOWN, details: "stack trace of somebody", reason: "ERROR_REASON_INTERNAL" },
  ])("$code '$details' without our details is $reason", ({ code, details, reason }) => {
    const error = errorOf({ code, details, metadata: new Metadata() });
    expect(error.reason).toBe(reason);
    expect(error.message).not.toContain("undefined");
    expect(error.message).not.toContain("stack trace");
  });

  test.each([
    { name: "bytes that are no message", bytes: Buffer.from([0xff, 0xff, 0xff]) },
    { name: "another domain", bytes: foreign("googleapis.com", "RATE_LIMITED") },
    { name: "a reason that nobody knows", bytes: foreign("tollgate", "TOMORROWS_REASON") },
  ])("details that are $name say nothing", ({ bytes }) => {
    const metadata = new Metadata();
    metadata.set("grpc-status-details-bin", bytes);
    expect(errorOf({ code: status.UNAVAILABLE, details: "", metadata }).reason).toBe("ERROR_REASON_OVERLOADED");
  });
});

describe("the facts of a refusal", () => {
  test("fit into headers, whatever they hold, and stay the same over the wire", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1 }), fc.string({ unit: "binary", maxLength: 3_000 })),
        (facts) => {
          const error = boundedError(new GatewayError("ERROR_REASON_UPSTREAM_REJECTED", facts), "req_1");
          const told = statusOf(error, {});
          const [bytes] = told.metadata.get("grpc-status-details-bin");
          expect(encodeURI(told.details).length + bytes!.length * (4 / 3)).toBeLessThan(8_000);
          expect(errorOf(told).metadata).toEqual(error.metadata);
          expect(error.metadata["request_id"]).toBe("req_1");
        },
      ),
    );
  });
});

function foreign(domain: string, reason: string): Buffer {
  const value = Buffer.from(ErrorInfo.encode({ reason, domain, metadata: {} }).finish());
  const details = [{ typeUrl: "type.googleapis.com/google.rpc.ErrorInfo", value }];
  return Buffer.from(Status.encode({ code: 8, message: "", details }).finish());
}

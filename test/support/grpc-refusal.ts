/** Requests over real gRPC, and what a refusal says there. */
import { Metadata, type ServiceError, type status } from "@grpc/grpc-js";
import { ErrorInfo } from "../../gen/google/rpc/error_details.js";
import { Status } from "../../gen/google/rpc/status.js";
import type { InferenceServiceClient } from "../../src/api/index.js";

export interface GrpcFailure {
  readonly code: status | undefined;
  readonly reason: string;
  readonly domain: string;
  readonly facts: Readonly<Record<string, string>>;
  readonly retryInfo: boolean;
  /** Empty where none was told. */
  readonly requestId: string;
}

/** Asks with a body of a wire that generates, and expects a refusal. */
export function generateOverGrpc(
  client: InferenceServiceClient,
  body: Buffer,
  secret: string,
  wire = "openai-chat",
): Promise<GrpcFailure> {
  const input = { $case: "source" as const, value: { wire, body, headers: {} } };
  const generation = { model: "", input, outputTokensMax: undefined, clamp: false };
  return failureOf(secret, (metadata, done) => client.generate({ generation, acceptWire: "" }, metadata, done));
}

/** Asks for vectors with a body of the openai-embeddings wire, and expects a refusal. */
export function embedOverGrpc(client: InferenceServiceClient, body: Buffer, secret: string): Promise<GrpcFailure> {
  const source = { wire: "openai-embeddings", body, headers: {} };
  const asked = { model: "", texts: [], dimensions: undefined, source, acceptWire: "" };
  return failureOf(secret, (metadata, done) => client.embed(asked, metadata, done));
}

/** Calls any method with a key, and expects a refusal. */
export async function failureOf(
  secret: string,
  ask: (metadata: Metadata, done: (error: ServiceError | null) => void) => unknown,
): Promise<GrpcFailure> {
  const metadata = new Metadata();
  if (secret !== "") metadata.set("authorization", `Bearer ${secret}`);
  const error = await new Promise<ServiceError | null>((resolve) => void ask(metadata, resolve));
  const bytes = error?.metadata.get("grpc-status-details-bin")[0];
  const details = bytes instanceof Buffer ? Status.decode(bytes).details : [];
  const info = details.find((detail) => detail.typeUrl.endsWith("google.rpc.ErrorInfo"));
  const { reason, domain, metadata: facts } = ErrorInfo.decode(info?.value ?? new Uint8Array());
  const retryInfo = details.some((detail) => detail.typeUrl.endsWith("google.rpc.RetryInfo"));
  const requestId = String(error?.metadata.get("x-request-id")[0] ?? "");
  return { code: error?.code, reason, domain, facts, retryInfo, requestId };
}

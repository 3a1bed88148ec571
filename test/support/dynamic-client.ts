/** A gRPC client as a service in any language may make one: it reads the .proto files, and nothing of ours but them. */
import {
  type ChannelOptions,
  type Client,
  credentials,
  loadPackageDefinition,
  type Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

export type Json = Readonly<Record<string, unknown>>;
export type DynamicUnary = (
  request: object,
  metadata: Metadata,
  options: object,
  done: (error: ServiceError | null, answer: Json) => void,
) => void;
export interface DynamicStream {
  on(name: "data", heard: (message: Json) => void): DynamicStream;
  on(name: "error", heard: (error: ServiceError) => void): DynamicStream;
  on(name: "end", heard: () => void): DynamicStream;
  on(name: "metadata", heard: (metadata: Metadata) => void): DynamicStream;
  cancel(): void;
}

const definition = loadSync(
  [
    "tollgate/v1/inference_service.proto",
    "tollgate/v1/model_service.proto",
    "tollgate/v1/key_service.proto",
    "grpc/health/v1/health.proto",
    "grpc/reflection/v1/reflection.proto",
    "grpc/reflection/v1alpha/reflection.proto",
  ],
  { includeDirs: ["proto"], keepCase: true, longs: String, enums: String, defaults: true, oneofs: true },
);
const loaded = loadPackageDefinition(definition);

/** A client of a service by its full name. */
export function clientOf(service: string, address: string, options: ChannelOptions = {}): Client {
  let place: unknown = loaded;
  for (const name of service.split(".")) place = Reflect.get(Object(place), name);
  return Reflect.construct(place as new () => Client, [address, credentials.createInsecure(), options]);
}

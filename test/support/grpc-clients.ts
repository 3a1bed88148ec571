/** Clients of grpc-js for the services, as a program of somebody else has them. */
import { type ChannelCredentials, type ClientOptions, makeGenericClientConstructor } from "@grpc/grpc-js";
import { type HealthClient as Health, HealthService } from "../../gen/grpc/health/v1/health.js";
import * as api from "../../src/api/index.js";

/** What grpc-js makes has the methods of the service that it is given, which its own type does not tell. */
type Maker<Client> = new (address: string, credentials: ChannelCredentials, options?: ClientOptions) => Client;

/** A client of a service. */
export function clientOf<Client>(
  service: Parameters<typeof makeGenericClientConstructor>[0],
  name: string,
): Maker<Client> {
  return makeGenericClientConstructor(service, name) as unknown as Maker<Client>;
}

export type AccountServiceClient = api.AccountServiceClient;
export type InferenceServiceClient = api.InferenceServiceClient;
export type KeyServiceClient = api.KeyServiceClient;
export type UsageServiceClient = api.UsageServiceClient;
export const AccountServiceClient = clientOf<api.AccountServiceClient>(api.AccountServiceService, "AccountService");
export const InferenceServiceClient = clientOf<api.InferenceServiceClient>(
  api.InferenceServiceService,
  "InferenceService",
);
export const KeyServiceClient = clientOf<api.KeyServiceClient>(api.KeyServiceService, "KeyService");
export const UsageServiceClient = clientOf<api.UsageServiceClient>(api.UsageServiceService, "UsageService");
export const HealthClient = clientOf<Health>(HealthService, "Health");

/** Every method of the protocol as the generated code defines it, by path. */
import type { Method } from "./channel.js";
import { TunnelServiceService } from "./index.js";
import { SERVED_SERVICES } from "./service-list.js";

const SERVICES = [...Object.values(SERVED_SERVICES), TunnelServiceService];

/** A method whose messages are not known here. They may go from one of its own functions to another, nowhere else. */
export type AnyMethod = Method<unknown, unknown>;

const BY_PATH: ReadonlyMap<string, AnyMethod> = new Map(
  SERVICES.flatMap((service) => Object.values(service)).map((method) => [
    method.path,
    // The edge to the generated code: the map cannot say which message belongs to which path.
    method as unknown as AnyMethod,
  ]),
);

/** The method at a path such as `/tollgate.v1.KeyService/GetKey`; undefined where the protocol has none. */
export function serviceMethod(path: string): AnyMethod | undefined {
  return BY_PATH.get(path);
}

/** The same where the protocol has it: throws where it has not. */
export function requiredMethod(path: string): AnyMethod {
  const method = serviceMethod(path);
  if (method === undefined) throw new Error(`the protocol has no method ${path}`);
  return method;
}

/** All of them. */
export function serviceMethods(): readonly AnyMethod[] {
  return [...BY_PATH.values()];
}

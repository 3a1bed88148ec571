/** A method that the dispatcher runs: its handler, and what it declares of itself. */
import { methodByPath, methods, type MethodPermission } from "../api/descriptors.js";
import { isChange } from "./call-log.js";
import type { StreamHandler, UnaryHandler } from "./handler.js";

/** A method with its handler. Which messages belong to the path only the table of services knows. */
export interface Route {
  readonly path: string;
  readonly unary?: UnaryHandler<unknown, unknown>;
  readonly stream?: StreamHandler<unknown, unknown>;
}

/** How the permission of a method is found; undefined where it declares none. */
export type PermissionOf = (path: string) => MethodPermission | undefined;

export interface OpenRoute extends Route {
  /** True where an answer is logged as an act of its caller. */
  readonly isChange: boolean;
  /** True where the limits are asked when it runs. */
  readonly beginsRequest: boolean;
  /** True where a call ends only with its caller or with the process. */
  readonly isEndless: boolean;
  readonly permission: MethodPermission;
}

/** Paths that the protocol does not have are those of tests. */
export function isChangePath(path: string): boolean {
  const method = methods().find((described) => described.path === path);
  return method !== undefined && isChange(method);
}

export function declaredPermission(path: string): MethodPermission | undefined {
  return methodByPath(path).permission;
}

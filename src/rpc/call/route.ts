/** A method that the dispatcher runs: its handler, and what it declares of itself. */
import { methodByPath, methods, type MethodPermission } from "../../api/descriptors.js";
import { isChange } from "./call-log.js";
import { EventServiceService, FrontServiceService, UsageServiceService } from "../../api/index.js";
import { beginsRequest } from "./begins-request.js";
import type { StreamHandler, UnaryHandler } from "./handler.js";

const ENDLESS: ReadonlySet<string> = new Set([
  FrontServiceService.watchCaller.path,
  EventServiceService.watchEvents.path,
  UsageServiceService.watchRequests.path,
]);

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

/** The method with what it declares. Throws where it declares no permission: such a method does not start. */
export function openRoute(route: Route, permissionOf: PermissionOf): OpenRoute {
  const { path } = route;
  const permission = permissionOf(path);
  if (permission === undefined) throw new Error(`the method ${path} declares no permission`);
  if (permission.front === true) throw new Error(`the method ${path} is for front ends, not for keys`);
  const declared = { isChange: isChangePath(path), isEndless: ENDLESS.has(path), beginsRequest: beginsRequest(path) };
  return { ...route, permission, ...declared };
}

/** Paths that the protocol does not have are those of tests. */
function isChangePath(path: string): boolean {
  const method = methods().find((described) => described.path === path);
  return method !== undefined && isChange(method);
}

export function declaredPermission(path: string): MethodPermission | undefined {
  return methodByPath(path).permission;
}

/** True for what front ends ask of the core. */
export function isOfFront(path: string): boolean {
  return path.startsWith("/tollgate.internal.");
}

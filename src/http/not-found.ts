/** What an unknown path is answered: a hint at the address that was probably meant. */
import type { IncomingHttpHeaders } from "node:http";
import { GatewayError } from "../base/errors.js";
import type { RouteTable } from "./routes.js";

const PATH_LENGTH_MAX = 256;

/** The refusal of a path or method that no route has; a client that asks there for a WebSocket needs no other path. */
export function pathUnknown(
  method: string,
  url: string,
  routes: RouteTable,
  headers: IncomingHttpHeaders = {},
): GatewayError {
  const path = url.split("?", 1)[0] ?? "/";
  if (headers.upgrade?.toLowerCase() === "websocket" && routes.at(path).length > 0)
    return new GatewayError("ERROR_REASON_UPGRADE_REFUSED", { path: path.slice(0, PATH_LENGTH_MAX) });
  const hint = path.length > PATH_LENGTH_MAX ? undefined : hintFor(method, path, routes);
  return new GatewayError("ERROR_REASON_PATH_UNKNOWN", {
    method,
    path: path.slice(0, PATH_LENGTH_MAX),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** The nearest path that there is, with its method where the method is wrong. */
function hintFor(method: string, path: string, routes: RouteTable): string | undefined {
  const tidy = path.replaceAll(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
  const once = tidy.replace(/^(?:\/v1)+(?=\/v1(?:\/|$))/, "");
  // The usual slips: a base address that has the version twice, or not at all.
  for (const candidate of [path, tidy, once, `/v1${once}`]) {
    const methods = routes.at(candidate).map((route) => route.method);
    const served = methods.includes(method) ? undefined : otherAction(method, candidate, routes);
    if (served !== undefined) return served;
    if (methods.includes(method)) return candidate;
    const others = methods.filter((other) => other !== "HEAD").toSorted();
    if (others.length > 0) return `${others.join(" or ")} ${candidate}`;
  }
  return undefined;
}

/** The same thing with an action that it has, where the path ends in one that it lacks, as in `models/m:predict`. */
function otherAction(method: string, path: string, routes: RouteTable): string | undefined {
  const base = /^(.+):\w+$/.exec(path)?.[1];
  if (base === undefined) return undefined;
  return routes.actions
    .map((action) => `${base}:${action}`)
    .find((candidate) => routes.at(candidate).some((route) => route.method === method));
}

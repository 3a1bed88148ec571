/** Every route that there is and what it needs: a route that does not say so stops the start. */
import type { FastifyInstance, RouteOptions } from "fastify";
import type { Format } from "../formats/format.js";

/** What a caller needs: nothing, or a valid key with a scope. An empty scope is any valid key. */
export type RoutePermission =
  | "public"
  | {
      readonly scope: string;
      /** The path of the method that its requests call, where a refusal before it must say so. */
      readonly method?: string;
    };

declare module "fastify" {
  interface FastifyContextConfig {
    readonly permission?: RoutePermission;
    /** Of a route whose bodies are never as long as those of requests to models. */
    readonly bodyBytesMax?: number;
    /** True of what clients ask with a key, which pages of other origins may use where the settings say so. */
    readonly isClientApi?: boolean;
    /** The format whose route this is. */
    readonly format?: Format;
  }
}

export interface KnownRoute {
  readonly method: string;
  readonly permission: RoutePermission;
  readonly isClientApi: boolean;
  /** Fits the paths of the route, not decoded. */
  readonly fits: RegExp;
  /** The path up to its first parameter. */
  readonly prefix: string;
}

/** The routes, for hints and for what a broken path may have meant. */
export class RouteTable {
  readonly #routes: KnownRoute[] = [];
  readonly #actions = new Set<string>();

  /** What may be done with a thing, where its path names that behind a colon. */
  get actions(): readonly string[] {
    return [...this.#actions];
  }

  /** Watches the routes that are added from now on. */
  watch(app: FastifyInstance): void {
    app.addHook("onRoute", (route) => this.#add(route));
  }

  /** The routes at a path, whatever their method. */
  at(path: string): readonly KnownRoute[] {
    return this.#routes.filter((route) => route.fits.test(path));
  }

  /** What a path needs that cannot be decoded: what the routes need that begin as it does. */
  permissionOf(method: string, path: string): RoutePermission {
    const near = this.#routes.filter((route) => route.method === method && path.startsWith(route.prefix));
    const nearest = near.toSorted((a, b) => b.prefix.length - a.prefix.length)[0];
    return nearest?.permission ?? "public";
  }

  #add(route: RouteOptions): void {
    const permission = route.config?.permission;
    const methods = [route.method].flat();
    if (permission === undefined) throw new Error(`the route ${methods.join(", ")} ${route.url} has no permission`);
    const action = /::(\w+)$/.exec(route.url)?.[1];
    if (action !== undefined) this.#actions.add(action);
    const prefix = /^[^:*]*/.exec(route.url)?.[0] ?? "";
    const isClientApi = route.config?.isClientApi === true;
    const fits = patternOf(route.url);
    for (const method of methods) this.#routes.push({ method, permission, isClientApi, prefix, fits });
  }
}

/** A route's path as an expression: `:name` and `:name(...)` are a segment, `*` the rest, `::` a colon. */
function patternOf(url: string): RegExp {
  const source = url.replaceAll(/::|:\w+(?:\([^/]*?\]\+\))?|\*|[^:*]+/g, (piece) => {
    if (piece === "::") return ":";
    if (piece === "*") return ".+";
    return piece.startsWith(":") ? "[^/]+" : piece.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${source}$`);
}

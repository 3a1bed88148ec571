/**
 * Cross-origin resource sharing (Fetch Standard, 3.3): scripts of other origins' pages use the client API with a key of
 * their own. Beside the public `/openapi.json` nothing else is shared, and no cookie is ever taken from such a page.
 */
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { CONSOLE_HEADER } from "../api/request-headers.js";
import type { RouteTable } from "./routes.js";

/** How long a browser may go by what it was told: as long as Chromium keeps it at most. */
const MAX_AGE_S = 7_200;
const ANY = "*";
/** Names of headers with commas between, as a browser lists them. */
const HEADER_NAMES = /^[!#$%&'*+.^_`|~0-9a-z-]+(?:, ?[!#$%&'*+.^_`|~0-9a-z-]+)*$/;
const NAMES_CHARACTERS_MAX = 4_096;

type Header = readonly [name: string, value: string];

export class Cors {
  readonly #origins: ReadonlySet<string>;

  private constructor(
    origins: readonly string[],
    private readonly routes: RouteTable,
  ) {
    this.#origins = new Set(origins);
  }

  /** `*` among the origins is any. Undefined where there are none. */
  static of(origins: readonly string[] | undefined, routes: RouteTable): Cors | undefined {
    return origins === undefined || origins.length === 0 ? undefined : new Cors(origins, routes);
  }

  /** Lets the page's script read the answer, where the route is the client API's and the page may use it. */
  share({ headers, routeOptions }: FastifyRequest, reply: FastifyReply): void {
    if (routeOptions.config.isClientApi !== true) return;
    for (const [name, value] of this.#sharingHeaders(headers.origin)) reply.raw.setHeader(name, value);
  }

  /** The headers that `share` would set on the answer of a request for which no route was looked up. */
  headersOf({ url = "/", headers }: Pick<IncomingMessage, "url" | "headers">): readonly Header[] {
    const isClientApi = this.routes.at(url.split("?", 1)[0] ?? "/").some((route) => route.isClientApi);
    return isClientApi ? this.#sharingHeaders(headers.origin) : [];
  }

  /** Answers a browser that asks whether a page may send a request; false where it is none, or may not. */
  answerPreflight({ method, url, headers }: FastifyRequest, reply: FastifyReply): boolean {
    const asked = headers["access-control-request-method"];
    const shared = this.#sharedWith(headers.origin);
    if (method !== "OPTIONS" || asked === undefined || shared === undefined) return false;
    // Browsers send none with the question, and it would be read to its end.
    if (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0) return false;
    const routes = this.routes.at(url.split("?", 1)[0] ?? "/").filter(({ isClientApi }) => isClientApi);
    if (!routes.some((route) => route.method === asked)) return false;
    const names = headerNames(headers["access-control-request-headers"]);
    void reply
      .code(204)
      .header("access-control-allow-origin", shared)
      .header("access-control-allow-methods", [...new Set(routes.map((route) => route.method))].sort().join(", "))
      .header("access-control-max-age", String(MAX_AGE_S))
      .header("vary", "origin, access-control-request-headers")
      .headers(names === "" ? {} : { "access-control-allow-headers": names })
      .send();
    return true;
  }

  #sharingHeaders(origin: string | undefined): readonly Header[] {
    const shared = this.#sharedWith(origin);
    // A cache must not give the answer for one page to another.
    const vary: readonly Header[] = this.#origins.has(ANY) ? [] : [["vary", "origin"]];
    if (shared === undefined) return vary;
    // All headers may be read: requests come without cookies, for which alone `*` would be the name of a header.
    return [...vary, ["access-control-allow-origin", shared], ["access-control-expose-headers", "*"]];
  }

  /** What names the page's origin in an answer; undefined where nothing is shared with it. */
  #sharedWith(origin: string | undefined): string | undefined {
    if (origin === undefined) return undefined;
    if (this.#origins.has(ANY)) return ANY;
    return this.#origins.has(origin) ? origin : undefined;
  }
}

/** The headers that may be sent: all that were asked for, since SDKs have many, but for what takes a session. */
function headerNames(asked: string | string[] | undefined): string {
  const names = typeof asked === "string" ? asked.toLowerCase() : "";
  if (names.length > NAMES_CHARACTERS_MAX || !HEADER_NAMES.test(names)) return "";
  return names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== CONSOLE_HEADER)
    .join(", ");
}

/** A browser as far as the management API sees one: a jar of cookies, an origin, and the console's header. */
import { vi } from "vitest";
import type { GatewayProcess } from "./gateway-process.js";

export interface BrowserAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly reason: string | null;
  /** As it came; null where no cookie was set. */
  readonly setCookie: string | null;
  readonly headers: Headers;
}

export class Browser {
  /** The jar, by the cookie's name. */
  readonly cookies = new Map<string, string>();
  /** The account in which the person acts; empty: not said. */
  account = "";

  constructor(
    private readonly gateway: Pick<GatewayProcess, "url">,
    /** What other headers are sent; undefined takes one away. */
    private readonly headers: Readonly<Record<string, string | undefined>> = {},
  ) {}

  async call(
    method: string,
    path: string,
    body?: unknown,
    more: Readonly<Record<string, string | undefined>> = {},
  ): Promise<BrowserAnswer> {
    const all: Record<string, string | undefined> = {
      origin: this.gateway.url,
      "x-tollgate-console": "1",
      cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ") || undefined,
      "x-tollgate-account": this.account || undefined,
      "content-type": body === undefined ? undefined : "application/json",
      "user-agent": "a browser of this test",
      ...this.headers,
      ...more,
    };
    const headers = Object.entries(all).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    const response = await fetch(`${this.gateway.url}${path.startsWith("/v1") ? "" : "/api/v1"}${path}`, {
      method,
      headers: new Headers(Object.fromEntries(headers)),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const setCookie = response.headers.get("set-cookie");
    for (const one of response.headers.getSetCookie()) this.#keep(one);
    const text = await response.text();
    return {
      status: response.status,
      body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
      reason: response.headers.get("x-tollgate-reason"),
      setCookie,
      headers: response.headers,
    };
  }

  signIn(email: string, password: string): Promise<BrowserAnswer> {
    return this.call("POST", "/sessions", { email, password });
  }

  #keep(setCookie: string): void {
    const [, name, value = ""] = /^([^=]+)=([^;]*)/.exec(setCookie) ?? [];
    if (name === undefined) return;
    if (value === "") this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** The token of the link that the gateway's first start printed. */
export function welcomeToken({ told }: Pick<GatewayProcess, "told">): string {
  const link = told.map((line) => /\/console\/welcome#(\S+)/.exec(line)?.[1]).find((token) => token !== undefined);
  if (link === undefined) throw new Error(`no link was printed: ${told.join("\n")}`);
  return link;
}

export const FIRST = { email: "ada@example.com", name: "Ada", password: "a long enough password" };

/** The first operator, signed in. */
export async function firstOperator(
  core: Pick<GatewayProcess, "told" | "url">,
  front: Pick<GatewayProcess, "url"> = core,
): Promise<Browser> {
  const browser = new Browser(front);
  // It is printed behind the line that says the gateway is ready.
  const token = await vi.waitFor(() => welcomeToken(core), { timeout: 60_000 });
  const made = await browser.call("POST", "/first-operator", { token, ...FIRST });
  if (made.status !== 200) throw new Error(JSON.stringify(made.body));
  return browser;
}

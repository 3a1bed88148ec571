/** A real OpenID Connect issuer on this machine, which can be made to say what no honest one says. */
import { createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const CLIENT = { id: "tollgate", secret: "a client secret of these tests" };

/** Somebody who is known there, by the login. */
export interface IssuerPerson {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

export type Claims = Readonly<Record<string, unknown>>;

export interface TestIssuer {
  readonly url: string;
  readonly people: Map<string, IssuerPerson>;
  /** Lets gateways be its clients, by their addresses, and the names under which their settings have it. */
  serve(gateways: readonly string[], names?: readonly string[]): void;
  /** What becomes of each ID token; undefined leaves it as it is. */
  forge: ((claims: Claims) => string) | undefined;
  /** What becomes of each document about itself, and of what it tells of people. */
  document: ((document: Claims) => unknown) | undefined;
  userInfo: ((claims: Claims) => unknown) | undefined;
  /** In the place of everything; undefined serves again. */
  override: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** The paths that were asked for. */
  readonly asked: string[];
  /** An ID token with these claims, signed as its own; or by another key, or by nobody. */
  token(claims: Claims, by?: "itself" | "another key" | "nobody"): string;
  /**
   * What its pages do where somebody comes from an address of a gateway and signs in with a login. Returns the address
   * that it sends the browser back to.
   */
  signIn(authorizationUri: string, login: string): Promise<URL>;
  close(): Promise<void>;
}

const KEY_ID = "signs";
/** An RSA key takes long to make: the next issuer has those of one that is closed. Two that are open share none. */
const unusedKeys: { readonly own: KeyObject; readonly other: KeyObject }[] = [];
const newKey = (): KeyObject => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
/** The package brings no types; these are of what is used of it. */
const PACKAGE: string = "oidc-provider";

interface Context {
  readonly oidc?: { readonly route: string };
  body: unknown;
}

interface Provider {
  use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

type Providers = new (issuer: string, configuration: object) => Provider;

/** The issuer has one person, ada, with a verified address. To a browser another host's name is another site. */
export async function startIssuer(host: "127.0.0.1" | "localhost" = "127.0.0.1"): Promise<TestIssuer> {
  let handler: (request: IncomingMessage, response: ServerResponse) => unknown = (_request, response) =>
    response.writeHead(404).end();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (issuer.override === undefined) void handler(request, response);
    else issuer.override(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  const keys = unusedKeys.pop() ?? { own: newKey(), other: newKey() };
  const { own, other } = keys;
  const { default: Providers } = (await import(PACKAGE)) as { readonly default: Providers };
  const issuer: TestIssuer = {
    url,
    people: new Map([["ada", { sub: "ada", email: "ada@example.com", email_verified: true, name: "Ada" }]]),
    forge: undefined,
    document: undefined,
    userInfo: undefined,
    override: undefined,
    asked,
    serve: (gateways, names = ["corp"]) => {
      const redirects = gateways.flatMap((gateway) => names.map((name) => `${gateway}/console/sign-in/${name}`));
      handler = providerOf(Providers, issuer, own, redirects).callback();
    },
    token: (claims, by = "itself") => signed(claims, by === "itself" ? own : by === "nobody" ? undefined : other),
    signIn,
    close: () =>
      new Promise((resolve) => {
        unusedKeys.push(keys);
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return issuer;
}

function providerOf(
  Providers: Providers,
  issuer: TestIssuer,
  key: KeyObject,
  redirectUris: readonly string[],
): Provider {
  const provider = new Providers(issuer.url, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: redirectUris }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_context: unknown, login: string) => {
      const person = issuer.people.get(login);
      return person && { accountId: login, claims: () => person };
    },
    jwks: { keys: [{ ...key.export({ format: "jwk" }), kid: KEY_ID, use: "sig", alg: "RS256" }] },
    cookies: { keys: ["of these tests"] },
  });
  provider.use(async (context, next) => {
    await next();
    change(issuer, context);
  });
  return provider;
}

/** What the issuer says in the place of what it would say. */
function change(issuer: TestIssuer, context: Context): void {
  const { route } = context.oidc ?? {};
  const body = context.body as Record<string, unknown>;
  if (route === "discovery" && issuer.document !== undefined) context.body = issuer.document(body);
  if (route === "userinfo" && issuer.userInfo !== undefined) context.body = issuer.userInfo(body);
  const token = route === "token" ? body["id_token"] : undefined;
  if (typeof token !== "string" || issuer.forge === undefined) return;
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Claims;
  context.body = { ...body, id_token: issuer.forge(claims) };
}

function signed(claims: Claims, key: KeyObject | undefined): string {
  const header = key === undefined ? { alg: "none" } : { alg: "RS256", kid: KEY_ID };
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  if (key === undefined) return `${text}.`;
  return `${text}.${createSign("RSA-SHA256").update(text).sign(key).toString("base64url")}`;
}

/** As a browser would: it keeps the issuer's cookies, and fills in its two forms. */
async function signIn(authorizationUri: string, login: string): Promise<URL> {
  const { origin } = new URL(authorizationUri);
  const jar = new Map<string, string>();
  let next = new URL(authorizationUri);
  let form: URLSearchParams | undefined;
  for (let steps = 0; steps < 20; steps++) {
    const response: Response = await fetch(next, {
      method: form === undefined ? "GET" : "POST",
      redirect: "manual",
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "), accept: "text/html" },
      ...(form === undefined ? {} : { body: form }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      jar.set(name, value);
    }
    const page = await response.text();
    const location = response.headers.get("location");
    form = undefined;
    if (location !== null) {
      next = new URL(location, next);
      if (next.origin !== origin) return next;
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    if (prompt === undefined) throw new Error(`the issuer said ${response.status}: ${page.slice(0, 500)}`);
    form = new URLSearchParams({ prompt, ...(prompt === "login" ? { login, password: "any" } : {}) });
  }
  throw new Error("the issuer led in circles");
}

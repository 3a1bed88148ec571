/** A gateway whose people sign in at issuers of this machine, and what their browsers do. */
import { rmSync } from "node:fs";
import { Browser, type BrowserAnswer, firstOperator } from "./browser.js";
import { type GatewayProcess, startGateway } from "./gateway-process.js";
import { CLIENT, startIssuer, type TestIssuer } from "./issuer.js";
import { Management } from "./management.js";

export interface IssuerGateway {
  /** Known as `corp`: it lets in only whom somebody here knows. */
  readonly corp: TestIssuer;
  /** Known as `open`: whoever has an address of example.com becomes a viewer of the account `acme`. */
  readonly open: TestIssuer;
  readonly gateway: GatewayProcess;
  /** The first operator, signed in by password. */
  readonly operator: Browser;
  /** A browser at an address of its own, so that tries of one are not counted with those of another. */
  browser(headers?: Readonly<Record<string, string | undefined>>): Browser;
  close(): Promise<void>;
}

/** The settings of both issuers. */
export function issuerSettings(corp: TestIssuer, open: TestIssuer): string {
  const client = `client_id: ${CLIENT.id}, client_secret: "\${CORP_SECRET}"`;
  const people = "email_domains: [example.com], new_people: { account: acme, role: viewer }";
  return [
    "accounts: { acme: { credit: 1 } }",
    "identity:",
    "  oidc:",
    `    corp: { issuer: "${corp.url}", ${client}, title: Corp }`,
    `    open: { issuer: "${open.url}", ${client}, ${people} }`,
    "",
  ].join("\n");
}

export async function startIssuerGateway(
  host?: "localhost",
  more: Readonly<Record<string, string>> = {},
): Promise<IssuerGateway> {
  const [corp, open] = [await startIssuer(host), await startIssuer(host)];
  const env = { CORP_SECRET: CLIENT.secret, TOLLGATE_TRUSTED_PROXIES: "127.0.0.1", ...more };
  const gateway = await startGateway({ settings: issuerSettings(corp, open), env });
  let browsers = 0;
  corp.serve([gateway.url], ["corp"]);
  open.serve([gateway.url], ["open"]);
  return {
    corp,
    open,
    gateway,
    operator: await firstOperator(gateway),
    browser: (headers = {}) => {
      browsers += 1;
      return new Browser(gateway, { "x-forwarded-for": `10.1.${browsers >> 8}.${browsers & 255}`, ...headers });
    },
    close: async () => {
      await gateway.stop();
      await Promise.all([corp.close(), open.close()]);
      rmSync(gateway.dataDirectory, { recursive: true });
    },
  };
}

/** Where the browser is sent. */
export async function beginAt(browser: Browser, name = "corp", more: object = {}): Promise<string> {
  const begun = await browser.call("POST", `/oidc/${name}:begin`, more);
  if (begun.status !== 200) throw new Error(JSON.stringify(begun.body));
  return String(begun.body["authorization_uri"]);
}

/** What the console's page does when the issuer sends the browser back to it. */
export function comeBack(browser: Browser, back: URL, more: object = {}): Promise<BrowserAnswer> {
  const name = back.pathname.split("/").at(-1) ?? "";
  return browser.call("POST", `/oidc/${name}:finish`, { query: back.search.slice(1), ...more });
}

export interface Way {
  readonly name?: string;
  readonly begin?: object;
  readonly finish?: object;
}

/** The whole way. */
export async function signInAt(
  issuer: TestIssuer,
  browser: Browser,
  login: string,
  { name = "corp", begin = {}, finish = {} }: Way = {},
): Promise<BrowserAnswer> {
  return comeBack(browser, await issuer.signIn(await beginAt(browser, name, begin), login), finish);
}

/** The records of sign-ins at issuers, the newest first. */
export async function recordsOf(gateway: GatewayProcess, method: string): Promise<readonly Record<string, unknown>[]> {
  const query = new URLSearchParams({ method: `IdentityService.${method}` });
  const { body } = await new Management(gateway).call("GET", `/audit_events?${query}`);
  return body["audit_events"] as readonly Record<string, unknown>[];
}

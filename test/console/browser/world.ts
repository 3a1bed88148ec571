/** What a file of browser tests works with: an account of its own that was used, and pages in the shared browser. */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
  type Route,
} from "playwright-core";
import { inject } from "vitest";
import { OPERATOR_KEY } from "../../support/gateway-process.js";

/** What a script in a name would look like. */
export const SCRIPT_NAME = '<img src=x onerror="window.ran = true">';
const NAMES = ["ci", "backend", SCRIPT_NAME];
const PICTURES = process.env["TOLLGATE_TEST_PICTURES"] ?? join(tmpdir(), "tollgate-console-pictures");

type StorageState = Exclude<BrowserContextOptions["storageState"], string | undefined>;

declare global {
  interface Window {
    /** Set by a script that must never run. */
    ran?: boolean;
    tellTest(what: string): void;
  }
}

export interface World {
  /** Such as http://127.0.0.1:40123. */
  readonly url: string;
  readonly browser: Browser;
  readonly account: string;
  /** Ids and secrets of the account's keys. */
  readonly keys: readonly { readonly id: string; readonly secret: string }[];
  /** A page of the signed-in operator in a context of its own. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
  /** A page in which nobody is signed in. */
  openFresh(path: string, options?: BrowserContextOptions): Promise<Page>;
  /** Leads a page to a path of the console, in the account. */
  go(page: Page, path: string): Promise<void>;
  /** What the API says to the operator's key. */
  api<Answer = unknown>(path: string, body?: object, verb?: string): Promise<Answer>;
  /** Keeps a picture of a page as an artifact of the run. */
  keepPicture(page: Page, name: string): Promise<void>;
  /** Ends it. Throws where any page of it broke the policy, ran a stored script or failed by itself. */
  close(): Promise<void>;
}

export async function joinWorld(account: string, requests: number, name = "Acme Robotics"): Promise<World> {
  const { url, browser: address, cookie } = inject("shared");
  const api: World["api"] = async (path, body, verb = body === undefined ? "GET" : "POST") =>
    callApi(url + path, body, verb, OPERATOR_KEY);
  await api("/api/v1/accounts", { id: account, name });
  const keys = await seed(url, api, account, requests);
  const browser = await chromium.connect(address);
  const complaints: string[] = [];
  const storageState = storageOf(url, [[cookie.name, cookie.value]]);
  const go: World["go"] = async (page, path) => {
    const target = new URL(`${url}/console${path}`);
    target.searchParams.set("account", account);
    await page.goto(target.href);
  };
  mkdirSync(PICTURES, { recursive: true });
  return {
    url,
    browser,
    account,
    keys,
    api,
    go,
    open: async (path, options = {}) => {
      const context = await contextOf(browser, complaints, { ...options, storageState });
      const page = await context.newPage();
      await go(page, path);
      return page;
    },
    openFresh: async (path, options = {}) => {
      const page = await (await contextOf(browser, complaints, options)).newPage();
      await page.goto(`${url}/console${path}`);
      return page;
    },
    keepPicture: async (page, name) =>
      void (await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })),
    close: async () => {
      await browser.close();
      if (complaints.length > 0) throw new Error(`pages complained:\n${complaints.join("\n")}`);
    },
  };
}

/** A text as a screen reader reads it: an amount with all its digits. */
export async function exactTextOf(one: Locator): Promise<string> {
  const text = await one.evaluate(
    (element) => (element.querySelector("data .hidden-text, :scope > .hidden-text") ?? element).textContent,
  );
  return (text ?? "").replaceAll("\u2007", "").trim();
}

/** A context whose pages tell of what must never happen on any of them. */
export async function contextOf(
  browser: Browser,
  complaints: string[],
  options: BrowserContextOptions,
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 }, ...options });
  context.setDefaultTimeout(100_000);
  context.on("weberror", (error) => complaints.push(`${error.page()?.url()}: ${error.error().message}`));
  await context.exposeBinding("tellTest", ({ page }, what: string) => void complaints.push(`${page.url()}: ${what}`));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      window.tellTest(`violates ${violatedDirective} by ${blockedURI}`),
    );
    const tell = (): void => window.tellTest("ran a stored script");
    Object.defineProperty(window, "ran", { set: tell });
  });
  return context;
}

/** What a browser keeps of a gateway in which somebody is signed in. */
export function storageOf(url: string, cookies: Iterable<readonly [string, string]>): StorageState {
  const { hostname: domain } = new URL(url);
  const kept = [...cookies].map(([name, value]) => ({
    name,
    value,
    domain,
    path: "/",
    expires: -1,
    httpOnly: true,
    secure: false,
    sameSite: "Lax" as const,
  }));
  return { cookies: kept, origins: [] };
}

/** Holds what a page asks of the addresses of a pattern: the first of it, to be answered by the test. */
export function hold(page: Page, pattern: string): Promise<Route> {
  return new Promise((resolve) => void page.route(pattern, resolve));
}

/** One request to a model with a client's key. */
export async function generate(
  url: string,
  secret: string,
  model: string,
  content: string,
  more: object = {},
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content }], ...more }),
  });
}

async function seed(url: string, api: World["api"], account: string, requests: number): Promise<World["keys"]> {
  await api(`/api/v1/accounts/${account}`, { settings: { budget_day: "5.00", budget_month: "50.00" } }, "PATCH");
  await api(`/api/v1/accounts/${account}:credit`, { amount: "25.00", credit_id: `inv-1-${account}` });
  const keys: { id: string; secret: string }[] = [];
  for (const name of NAMES) {
    const settings = { name, budget_day: "2.00" };
    const { key, secret } = await api<{ key: { id: string }; secret: string }>("/api/v1/keys", {
      account_id: account,
      settings,
    });
    keys.push({ id: key.id, secret });
  }
  for (let index = 0; index < requests; index++) {
    const model = ["sim-1", "sim-small", "sim-free"][index % 3] ?? "sim-1";
    const { secret = "" } = keys[index % keys.length] ?? {};
    const answer = await generate(url, secret, model, `Item ${index}. `.repeat(index + 1));
    if (!answer.ok) throw new Error(`a request of the seed was refused: ${await answer.text()}`);
    await answer.text();
  }
  return keys;
}

async function callApi<Answer>(url: string, body: object | undefined, verb: string, key: string): Promise<Answer> {
  const answer = await fetch(url, {
    method: verb,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${verb} ${url} was refused: ${await answer.text()}`);
  // The edge: a test names the members that it reads.
  return (await answer.json()) as Answer;
}

/** A real gateway with an account that was used, and a real browser in which its operator is signed in. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";

const CHROMIUM = process.env["TOLLGATE_TEST_CHROMIUM"] ?? "/usr/bin/chromium";
const SETTINGS = `
upstreams:
  local: { family: sim }
  other: { family: sim }
models:
  sim-1:
    targets: [{ upstream: local, model: sim-1 }]
    context_tokens: 200000
    output_tokens_max: 8000
    price: { input: "0.25", cache_read: "0.025", output: "2.00" }
  sim-small:
    targets: [{ upstream: other, model: sim-1 }]
    output_tokens_max: 4000
    price: { input: "0.05", output: "0.40" }
  sim-free: { targets: [{ upstream: local, model: sim-1 }], price: free }
`;
export const ACCOUNT = "acme";
export const PERSON = { name: "Ada Lovelace", email: "ada@example.com", password: "a toll for every gate" };
/** What a script in a name would look like. */
export const SCRIPT_NAME = '<img src=x onerror="window.ran = true">';
const NAMES = ["ci", "backend", SCRIPT_NAME];

declare global {
  interface Window {
    /** Set by a script that must never run. */
    ran?: boolean;
    violations?: string[];
  }
}

export interface World {
  readonly gateway: GatewayProcess;
  readonly browser: Browser;
  /** Ids and secrets of the account's keys. */
  readonly keys: readonly { readonly id: string; readonly secret: string }[];
  /** The link of the first start. */
  readonly welcome: string;
  /** A page of the signed-in operator in a context of its own. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
  /** A page in which nobody is signed in. */
  openFresh(path: string): Promise<Page>;
  /** What the API says to the operator's key. */
  api(path: string, body?: object, verb?: string): Promise<unknown>;
  /** Keeps a picture of a page as an artifact of the run. */
  keepPicture(page: Page, name: string): Promise<void>;
  close(): Promise<void>;
}

export async function startWorld(requests: number): Promise<World> {
  const gateway = await startGateway({ settings: SETTINGS });
  const api = async (path: string, body?: object, verb = body === undefined ? "GET" : "POST"): Promise<unknown> =>
    callApi(gateway.url + path, body, verb, OPERATOR_KEY);
  const keys = await seed(gateway.url, api, requests);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  const welcome = /https?:\S+\/console\/welcome#\S+/.exec(gateway.told.join("\n"))?.[0] ?? "";
  const pictures = process.env["TOLLGATE_TEST_PICTURES"] ?? join(tmpdir(), "tollgate-console-pictures");
  mkdirSync(pictures, { recursive: true });
  const profile = mkdtempSync(join(tmpdir(), "tollgate-browser-"));
  let state: string | undefined;
  const contextOf = async (options: BrowserContextOptions): Promise<BrowserContext> => {
    const context = await browser.newContext({ viewport: { width: 1_440, height: 900 }, ...options });
    context.setDefaultTimeout(20_000);
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        window.violations = [...(window.violations ?? []), `${event.violatedDirective} ${event.blockedURI}`];
      });
    });
    return context;
  };
  const signedInState = async (): Promise<string> => {
    if (state !== undefined) return state;
    const context = await contextOf({});
    const page = await context.newPage();
    await page.goto(welcome);
    await becomeOperator(page);
    state = join(profile, "state.json");
    await context.storageState({ path: state });
    await context.close();
    return state;
  };
  return {
    gateway,
    browser,
    keys,
    welcome,
    api,
    open: async (path, options = {}) => {
      const context = await contextOf({ ...options, storageState: await signedInState() });
      const page = await context.newPage();
      await page.goto(`${gateway.url}/console${path}`);
      return page;
    },
    openFresh: async (path) => {
      const page = await (await contextOf({})).newPage();
      await page.goto(`${gateway.url}/console${path}`);
      return page;
    },
    keepPicture: async (page, name) =>
      void (await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })),
    close: async () => {
      await browser.close();
      await gateway.stop();
      rmSync(profile, { recursive: true });
    },
  };
}

export async function becomeOperator(page: Page): Promise<void> {
  await page.getByLabel("Your name").fill(PERSON.name);
  await page.getByLabel("E-mail").fill(PERSON.email);
  await page.getByLabel("Password").fill(PERSON.password);
  await page.getByRole("button", { name: "Become the operator" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
}

/** One request to a model with a client's key. */
export async function generate(url: string, secret: string, model: string, content: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content }] }),
  });
}

async function seed(url: string, api: World["api"], requests: number): Promise<World["keys"]> {
  await api("/api/v1/accounts", { id: ACCOUNT, name: "Acme Robotics" });
  await api(`/api/v1/accounts/${ACCOUNT}`, { settings: { budget_day: "5.00", budget_month: "50.00" } }, "PATCH");
  await api(`/api/v1/accounts/${ACCOUNT}:credit`, { amount: "25.00", credit_id: "inv-1" });
  const keys: { id: string; secret: string }[] = [];
  for (const name of NAMES) {
    const made = await api("/api/v1/keys", { account_id: ACCOUNT, settings: { name, budget_day: "2.00" } });
    const { key, secret } = made as { key: { id: string }; secret: string };
    keys.push({ id: key.id, secret });
  }
  for (let index = 0; index < requests; index++) {
    const model = ["sim-1", "sim-small", "sim-free"][index % 3] ?? "sim-1";
    const answer = await generate(
      url,
      keys[index % keys.length]?.secret ?? "",
      model,
      `Item ${index}. `.repeat(index + 1),
    );
    if (!answer.ok) throw new Error(`a request of the seed was refused: ${await answer.text()}`);
    await answer.text();
  }
  return keys;
}

async function callApi(url: string, body: object | undefined, verb: string, key: string): Promise<unknown> {
  const answer = await fetch(url, {
    method: verb,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${verb} ${url} was refused: ${await answer.text()}`);
  return answer.json();
}

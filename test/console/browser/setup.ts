/** Starts what all browser tests use together: a gateway with a fake upstream, its first operator, and a browser. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { createDatabase } from "../../support/postgres.js";
import { startRedis } from "../../support/redis-server.js";
import { testStore } from "../../support/test-store.js";
import { startBalancer } from "./balancer.js";
import { PERSON } from "./person.js";

export const CHROMIUM = process.env["TOLLGATE_TEST_CHROMIUM"] ?? "/usr/bin/chromium";

/** What test files learn of it. */
export interface Shared {
  /** Such as http://127.0.0.1:40123. */
  readonly url: string;
  /** Where the browser takes commands. */
  readonly browser: string;
  /** Where gRPC is served, such as 127.0.0.1:40124. */
  readonly grpc: string;
  /** How many gateways serve behind the address. */
  readonly nodes: number;
  /** The session of the first operator. */
  readonly cookie: { readonly name: string; readonly value: string };
}

declare module "vitest" {
  export interface ProvidedContext {
    readonly shared: Shared;
  }
}

export function settingsOf({ url }: FakeUpstream): string {
  return `
upstreams:
  local: { family: sim }
  other: { family: sim }
  fake: { family: openai, base_url: "${url}", api_key: fake-credential }
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
  fake-1:
    targets: [{ upstream: fake, model: fake-1 }]
    context_tokens: 200000
    output_tokens_max: 4000
    price: { input: "0.50", output: "1.50" }
`;
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const fake = await startFakeUpstream();
  const served = await startServed(settingsOf(fake));
  const browser = await chromium.launchServer({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  const { url, grpc, nodes, cookie } = served;
  project.provide("shared", { url, grpc, nodes, browser: browser.wsEndpoint(), cookie });
  return async () => {
    await browser.close();
    await served.close();
    await fake.close();
  };
}

async function startServed(settings: string): Promise<Served> {
  const served = await startNodes(settings);
  return { ...served, cookie: await firstOperator(served.url, await served.welcomeToken()) };
}

const ENV = { TOLLGATE_WEBHOOK_NETWORKS: "127.0.0.0/8", TOLLGATE_SECRET: "a root secret of this test, long enough" };

/** One gateway, or two behind one address where the tests keep their state in PostgreSQL. */
export interface Nodes extends Pick<Shared, "url" | "grpc" | "nodes"> {
  /** The token of the link to the console that the first of them printed; nobody has used it. */
  welcomeToken(): Promise<string>;
  close(): Promise<void>;
}

type Served = Omit<Nodes, "welcomeToken"> & Pick<Shared, "cookie">;

/** Without `settings` there is no file. */
export async function startNodes(settings: string | undefined): Promise<Nodes> {
  return testStore === "postgres" ? startTwoNodes(settings) : startOneNode(settings);
}

async function startOneNode(settings: string | undefined): Promise<Nodes> {
  const seed = process.env["TOLLGATE_BOUNDS_DATA"];
  const dataDirectory = seed === undefined ? undefined : copyOf(seed);
  const data = dataDirectory === undefined ? {} : { dataDirectory };
  const file = settings === undefined ? {} : { settings };
  const gateway = await startGateway({ ...file, env: ENV, ...data });
  const close = async (): Promise<void> => {
    await gateway.stop();
    if (dataDirectory !== undefined) rmSync(dataDirectory, { recursive: true });
  };
  return { url: gateway.url, grpc: gateway.grpc, nodes: 1, welcomeToken: () => tokenOf(gateway), close };
}

/** A million requests in a directory of this run's own, so that each run finds what the first one did. */
function copyOf(seed: string): string {
  if (!existsSync(seed)) {
    const making = `${seed}.making`;
    rmSync(making, { recursive: true, force: true });
    const count = process.env["TOLLGATE_BOUNDS_REQUESTS"] ?? "1000000";
    execFileSync(process.execPath, ["test/bench/records-seed.mjs", making, count], { stdio: "inherit" });
    renameSync(making, seed);
  }
  const directory = mkdtempSync(join(tmpdir(), "tollgate-bounds-"));
  cpSync(seed, directory, { recursive: true });
  return directory;
}

/** Two gateways over one PostgreSQL and one Redis: each request goes to the other one than the request before. */
async function startTwoNodes(settings: string | undefined): Promise<Nodes> {
  const [database, redis] = await Promise.all([createDatabase(), startRedis()]);
  const urls: string[] = [];
  const balancer = await startBalancer(urls);
  const publicUrl = balancer.url.replace("127.0.0.1", "localhost");
  const stores = { TOLLGATE_DATABASE_URL: database.url, TOLLGATE_REDIS_URL: redis.url };
  const env = { ...ENV, ...stores, TOLLGATE_PUBLIC_URL: publicUrl };
  const file = settings === undefined ? {} : { settings };
  const first = await startGateway({ ...file, env });
  const second = await startGateway({ ...file, env });
  urls.push(first.url, second.url);
  const close = async (): Promise<void> => {
    await balancer.close();
    await Promise.all([first.stop(), second.stop()]);
    await Promise.all([database.drop(), redis.close()]);
  };
  return { url: balancer.url, grpc: first.grpc, nodes: 2, welcomeToken: () => tokenOf(first), close };
}

/** What the gateway tells a person comes on another way than that it is ready, and may come later. */
async function tokenOf({ told }: GatewayProcess): Promise<string> {
  for (let triesLeft = 2_400; triesLeft > 0; triesLeft--) {
    const [, token] = /\/console\/welcome#(\S+)/.exec(told.join("\n")) ?? [];
    if (token !== undefined) return token;
    await sleep(50);
  }
  throw new Error(`the gateway told no link: ${told.join("\n")}`);
}

/** Makes the first operator by the token of the link that the gateway printed. */
async function firstOperator(url: string, token: string): Promise<Shared["cookie"]> {
  const answer = await fetch(`${url}/api/v1/first-operator`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-tollgate-console": "1", origin: url },
    body: JSON.stringify({ token, ...PERSON }),
  });
  const [name = "", value = ""] = answer.headers.get("set-cookie")?.split(";")[0]?.split("=") ?? [];
  if (!answer.ok || value === "") throw new Error(`no operator was made: ${await answer.text()}`);
  return { name, value };
}

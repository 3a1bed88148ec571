/** Starts what all browser tests use together: a gateway with a fake upstream, its first operator, and a browser. */
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { startGateway } from "../../support/gateway-process.js";
import { PERSON } from "./person.js";

export const CHROMIUM = process.env["TOLLGATE_TEST_CHROMIUM"] ?? "/usr/bin/chromium";

/** What test files learn of it. */
export interface Shared {
  /** Such as http://127.0.0.1:40123. */
  readonly url: string;
  /** Where the browser takes commands. */
  readonly browser: string;
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
  const env = { TOLLGATE_WEBHOOK_NETWORKS: "127.0.0.0/8", TOLLGATE_SECRET: "a root secret of this test, long enough" };
  const gateway = await startGateway({ settings: settingsOf(fake), env });
  const browser = await chromium.launchServer({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  const cookie = await firstOperator(gateway.url, gateway.told.join("\n"));
  project.provide("shared", { url: gateway.url, browser: browser.wsEndpoint(), cookie });
  return async () => {
    await browser.close();
    await gateway.stop();
    await fake.close();
  };
}

/** Makes the first operator by the link that the gateway printed. */
async function firstOperator(url: string, told: string): Promise<Shared["cookie"]> {
  const token = /\/console\/welcome#(\S+)/.exec(told)?.[1] ?? "";
  const answer = await fetch(`${url}/api/v1/first-operator`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-tollgate-console": "1", origin: url },
    body: JSON.stringify({ token, ...PERSON }),
  });
  const [name = "", value = ""] = answer.headers.get("set-cookie")?.split(";")[0]?.split("=") ?? [];
  if (!answer.ok || value === "") throw new Error(`no operator was made: ${await answer.text()}`);
  return { name, value };
}

/** Counting at an upstream costs its asker nothing: it is bounded all the same, by a key's limits and by account. */
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { says } from "../../support/world.js";

const OF_ACCOUNT = 8;
const BODY = { model: "claude-opus-5", max_tokens: 10, messages: says("Hello") };

/** An upstream that counts, and answers nothing else; it can be told to wait. */
class CountingUpstream {
  asked = 0;
  isWaiting = false;
  readonly #waiting: ServerResponse[] = [];
  readonly #server: Server = createServer((request, response) => {
    this.asked += 1;
    request.resume();
    if (this.isWaiting) this.#waiting.push(response);
    else this.#answer(response);
  });

  get waiting(): number {
    return this.#waiting.length;
  }

  async open(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  goOn(): void {
    this.isWaiting = false;
    for (const response of this.#waiting.splice(0)) this.#answer(response);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ input_tokens: 17 }));
  }
}

const upstream = new CountingUpstream();
let gateway: GatewayProcess;
let management: Management;

beforeAll(async () => {
  const url = await upstream.open();
  gateway = await startGateway({
    settings: `
upstreams: { claude: { family: anthropic, base_url: "${url}", api_key: "sk-ant-secret-of-this-test-012345" } }
models:
  claude-opus-5:
    { targets: [{ upstream: claude }], context_tokens: 100000, output_tokens_max: 1000, price: { input: 1, output: 1 } }
`,
  });
  management = new Management(gateway);
  for (const account of ["noisy", "quiet"]) await management.account(account, 100_000_000_000n);
});
afterAll(async () => {
  await gateway.stop();
  upstream.close();
});
beforeEach(() => {
  upstream.asked = 0;
});

const WAYS = [
  { name: "an estimate", path: "/api/v1/estimate/v1/messages", tokens: "input_tokens" },
  { name: "count_tokens", path: "/v1/messages/count_tokens", tokens: "input_tokens" },
];

function ask(
  path: string,
  secret: string,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  return fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(BODY),
  }).then(async (response) => ({ status: response.status, body: (await response.json()) as Record<string, unknown> }));
}

test.each(WAYS)("$name asks an upstream as often as the key may make requests, and no more", async ({ path }) => {
  const { secret } = await management.makeKey("noisy", { requests_per_minute: "5" });
  const told = [];
  for (let count = 0; count < 20; count += 1) told.push(await ask(path, secret));
  expect(upstream.asked).toBe(5);
  // The rest learn that they would be refused.
  const refused = told.filter(({ status, body }) => status === 429 || body["error_reason"] === "RATE_LIMITED");
  expect(refused).toHaveLength(15);
});

test.each(WAYS)(
  "$name without limits runs at an upstream a few times at once, and others' get through",
  async (way) => {
    const { secret } = await management.makeKey("noisy");
    const other = await management.makeKey("quiet");
    upstream.isWaiting = true;
    let answered = 0;
    const all = Array.from({ length: 40 }, async () => {
      const { status, body } = await ask(way.path, secret);
      expect([status, Number(body[way.tokens]) > 0]).toEqual([200, true]);
      answered += 1;
    });
    // Those for which there is no room are answered by our own count, and wait for nobody.
    await expect.poll(() => [upstream.waiting, answered]).toEqual([OF_ACCOUNT, 40 - OF_ACCOUNT]);
    const others = ask(way.path, other.secret);
    await expect.poll(() => upstream.waiting).toBe(OF_ACCOUNT + 1);
    upstream.goOn();
    await Promise.all(all);
    expect((await others).body[way.tokens]).toSatisfy((tokens: unknown) => Number(tokens) === 17);
  },
);

/**
 * Random answers of every wire, each with a report of all the parts that a price has, through a real gateway: what the
 * ledger settled is the price times the report, part by part, and nothing else was charged.
 */
import { fc } from "../../support/seeds.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { jsonAnswer, type MarkedUpstream, startMarkedUpstream } from "../../support/marked-upstream.js";
import {
  CHARGED_WIRES,
  type ChargedWire,
  costOf,
  LONG,
  LONG_ABOVE,
  SEARCHES_USD,
  SHORT,
  type Used,
  usedOf,
} from "./charged-parts.js";
import { bySweep } from "../../support/sweep.js";

type Json = Readonly<Record<string, unknown>>;

/** All are as many as of the sweep of reports; half of each wire's are streams. */
const REQUESTS = bySweep({ short: 60, long: 60, all: 10_000 });
const AT_ONCE = 8;
/** As long as what is reported, by any tokenizer. */
const FILLER = "word ".repeat(1_500);
const SETTLED = { timeout: 120_000, interval: 200 };

let upstream: MarkedUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;
let spentNanos = 0n;

beforeAll(async () => {
  upstream = await startMarkedUpstream();
  const { url } = upstream;
  const price = {
    ...SHORT,
    tiers: [{ above_input_tokens: LONG_ABOVE, ...LONG }],
    service_tiers: { priority: { multiplier: 2 }, batch: { multiplier: 0.5 } },
    tools: { web_search: SEARCHES_USD },
  };
  const family = (name: string, base: string, key = "sk-of-this-upstream"): Json => ({
    family: name,
    base_url: base,
    api_key: key,
  });
  const model = (id: string): Json => ({
    targets: [{ upstream: id }],
    context_tokens: 100_000,
    output_tokens_max: 4_000,
    price,
  });
  const upstreams = {
    "openai-chat": family("openai-compatible", `${url}/v1`),
    "openai-responses": family("openai-responses", `${url}/v1`),
    anthropic: family("anthropic", url),
    gemini: family("gemini", url),
    "bedrock-converse": family("bedrock", url, "AKIDOFTHISTEST:a-secret-of-this-test-0123456789"),
    "openai-embeddings": family("openai-compatible", `${url}/v1`),
  };
  const models = Object.fromEntries(Object.keys(upstreams).map((id) => [id, model(id)]));
  gateway = await startGateway({ settings: JSON.stringify({ upstreams, models }), env: { AWS_REGION: "eu-test-7" } });
  // What is reported of these answers is more than they say.
  gateway.expectOddAnswers();
  management = new Management(gateway);
  await management.account("acme", 1_000_000_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  upstream.close();
});

/** Returns the request's id. */
async function ask(wire: ChargedWire, used: Used, mark: string, stream: boolean): Promise<string> {
  const type = wire.name === "bedrock-converse" ? "application/vnd.amazon.eventstream" : "text/event-stream";
  const streamed = stream ? wire.stream?.(used) : undefined;
  const answer = streamed === undefined ? jsonAnswer(wire.whole(used)) : { type, body: streamed };
  upstream.answers.set(mark, answer);
  const response = await fetch(gateway.url + wire.path(stream), {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "x-goog-api-key": secret, "content-type": "application/json" },
    body: JSON.stringify(wire.ask(`${mark} ${FILLER}`, used, stream)),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  upstream.answers.delete(mark);
  return String(response.headers.get("x-request-id"));
}

/** All requests that were settled, by their ids. */
async function settled(): Promise<Map<string, Json>> {
  const found = new Map<string, Json>();
  for (let token = ""; ;) {
    const { body } = await management.call("GET", `/requests?state=settled&page_size=1000&page_token=${token}`);
    for (const request of body["requests"] as Json[]) found.set(String(request["id"]), request);
    token = String(body["next_page_token"] ?? "");
    if (token === "") return found;
  }
}

describe.each(CHARGED_WIRES)("answers of $name", (wire) => {
  test(`are charged what their parts cost: ${REQUESTS}`, { timeout: 3_600_000 }, async () => {
    const drawn = fc.sample(usedOf(wire), { numRuns: REQUESTS, seed: 13 });
    const asked = new Map<string, Used>();
    const queue = [...drawn.entries()];
    const worker = async (): Promise<void> => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const [place, used] = next;
        const stream = wire.stream !== undefined && place % 2 === 1;
        asked.set(await ask(wire, used, `mark-${place}.`, stream), used);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(asked.size).toBe(REQUESTS);
    let requests = new Map<string, Json>();
    await expect
      .poll(async () => {
        requests = await settled();
        return [...asked.keys()].filter((id) => !requests.has(id)).length;
      }, SETTLED)
      .toBe(0);
    for (const [id, used] of asked) {
      const { cost_nanos: cost, charged_nanos: charged, usage_source: source } = requests.get(id) ?? {};
      const said = JSON.stringify(used);
      expect([cost, charged], said).toEqual([String(costOf(used)), String(costOf(used))]);
      expect(source, said).toMatch(/reported/i);
      spentNanos += costOf(used);
    }
    // Each part that the wire tells, both tiers of its input and each way to be served were among them.
    for (const part of wire.tells)
      expect(
        drawn.some(({ parts }) => parts[part] > 0),
        part,
      ).toBe(true);
    expect(new Set(drawn.map(({ tier }) => tier)).size).toBe(wire.tiers.length);
    expect(drawn.some(({ searches }) => searches > 0)).toBe(wire.searchesMax > 0);
    expect((await management.balance("acme")).spentNanos).toBe(spentNanos);
  });
});

test("and the ledger holds", async () => {
  await management.verify();
});

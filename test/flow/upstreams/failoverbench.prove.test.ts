/**
 * The sixteen faults of failoverbench 0.1.0 (github.com/failoverbench/failoverbench), written anew: what a client of a
 * model with one fallback sees, at default settings, and how often the broken route is asked.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeScript, type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { pace } from "../../support/pauses.js";

type Json = Readonly<Record<string, unknown>>;

const WORDS = Array.from({ length: 60 }, (_, place) => `word${place} `).join("");
const refusal = (code: string): FakeScript => ({
  status: 400,
  body: JSON.stringify({ error: { message: "refused", type: "invalid_request_error", param: null, code } }),
});
const once = (id: string, fake: FakeScript): FakeScript => ({ ...fake, id, times: 1 });

interface Scenario {
  readonly id: string;
  readonly fault: string;
  readonly fake: FakeScript;
  /** `primary` and `fallback`: that model answers whole. `error`: the client sees a failure, and no whole answer. */
  readonly want: "primary" | "fallback" | "error" | "answered";
  /** How often the broken route is asked at most. */
  readonly attemptsMax: number;
  readonly withinMs: number;
  readonly stream?: boolean;
  /** A model with other timeouts. */
  readonly model?: string;
}

const SCENARIOS: readonly Scenario[] = [
  {
    id: "S01",
    fault: "429 once, with a Retry-After of 2 s",
    fake: once("s01", { status: 429, headers: { "retry-after": "2" } }),
    want: "answered",
    attemptsMax: 2,
    withinMs: 20_000,
  },
  {
    id: "S02",
    fault: "429 for good",
    fake: { status: 429, headers: { "retry-after": "2" } },
    want: "fallback",
    attemptsMax: 6,
    withinMs: 40_000,
  },
  {
    id: "S03",
    fault: "500 once",
    fake: once("s03", { status: 500 }),
    want: "primary",
    attemptsMax: 2,
    withinMs: 20_000,
  },
  { id: "S04", fault: "503 for good", fake: { status: 503 }, want: "fallback", attemptsMax: 6, withinMs: 40_000 },
  {
    id: "S05",
    fault: "the connection is reset",
    fake: { cutAfter: 0 },
    want: "fallback",
    attemptsMax: 6,
    withinMs: 40_000,
  },
  {
    id: "S06",
    fault: "silence for 120 s",
    fake: { headDelayMs: 120_000 },
    want: "fallback",
    attemptsMax: 1,
    withinMs: 100_000,
    stream: true,
  },
  {
    id: "S07",
    fault: "the first token after 20 s, under `interactive`",
    fake: { headDelayMs: 20_000 },
    want: "fallback",
    attemptsMax: 1,
    withinMs: 15_000,
    stream: true,
    model: "quick",
  },
  {
    id: "S08",
    fault: "a cut after 40 of 60 tokens",
    fake: { text: WORDS, cutAfter: 40 },
    want: "error",
    attemptsMax: 1,
    withinMs: 20_000,
    stream: true,
  },
  {
    id: "S09",
    fault: "a stall amid the answer",
    fake: { text: WORDS, stallAfter: 20 },
    want: "error",
    attemptsMax: 1,
    withinMs: 45_000,
    stream: true,
  },
  {
    id: "S10",
    fault: "a malformed chunk",
    fake: {
      streamText: 'data: {"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"del\n\ndata: [DONE]\n\n',
    },
    want: "fallback",
    attemptsMax: 6,
    withinMs: 20_000,
    stream: true,
  },
  {
    id: "S12",
    fault: "400, the context is too long",
    fake: refusal("context_length_exceeded"),
    want: "fallback",
    attemptsMax: 1,
    withinMs: 20_000,
  },
  {
    id: "S13",
    fault: "400, the content is refused",
    fake: refusal("content_policy_violation"),
    want: "error",
    attemptsMax: 1,
    withinMs: 20_000,
  },
  {
    id: "S14",
    fault: "a cut amid the answer, where a fallback refuses to continue it",
    fake: { text: WORDS, cutAfter: 20 },
    want: "error",
    attemptsMax: 1,
    withinMs: 20_000,
    stream: true,
  },
  { id: "S16", fault: "a fallback serves", fake: { status: 503 }, want: "fallback", attemptsMax: 6, withinMs: 40_000 },
];

let wall: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;
let broken: FakeScript = {};

beforeAll(async () => {
  wall = await startFakeUpstream();
  wall.decide = (body) => ((body as Json)["model"] === "ok" ? {} : broken);
  const priced = `output_tokens_max: 1000, context_tokens: 10000, price: { input: "1", output: "2" }`;
  const target = (model: string): string => `targets: [{ upstream: wall, model: ${model} }], ${priced}`;
  gateway = await startGateway({
    settings: `
upstreams:
  wall: { family: openai-compatible, base_url: "${wall.url}" }
models:
  plain: { ${target("broken")}, fallbacks: [ok], on_context: ok }
  quick: { ${target("slow")}, fallbacks: [ok], timeouts: { profile: interactive } }
  ok: { ${target("ok")} }
`,
  });
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await management.verify();
  await gateway.stop();
  await wall.close();
});

interface Seen {
  readonly outcome: "primary" | "fallback" | "error";
  readonly attempts: number;
  readonly durationMs: number;
  readonly text: string;
}

async function ask(fake: FakeScript, stream: boolean, model = "plain"): Promise<Seen> {
  await management.call("POST", "/upstreams/wall:reset", {});
  broken = fake;
  const before = asked();
  const startMs = performance.now();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "Hello" }] }),
  });
  const text = await response.text().catch(() => "");
  const isWhole = response.ok && (!stream || text.includes("[DONE]")) && !text.includes('"error":{');
  const outcome = !isWhole ? "error" : text.includes('"model":"ok"') ? "fallback" : "primary";
  return { outcome, attempts: asked() - before, durationMs: performance.now() - startMs, text };
}

/** How often a broken route was asked. */
function asked(): number {
  return wall.requests.filter(({ body }) => (body as Json | undefined)?.["model"] !== "ok").length;
}

test.each(SCENARIOS)("$id: $fault", async ({ fake, want, attemptsMax, withinMs, stream = false, model }) => {
  const seen = await ask(fake, stream, model);
  if (want === "answered") expect(seen.outcome, seen.text).not.toBe("error");
  else expect(seen.outcome, seen.text).toBe(want);
  expect(seen.attempts).toBeLessThanOrEqual(attemptsMax);
  expect(seen.attempts).toBeGreaterThan(0);
  expect(seen.durationMs).toBeLessThan(withinMs);
  // A client that asks next is served.
  expect((await ask({}, false)).outcome).not.toBe("error");
});

test("S11: a stream without its end mark ends within 8 s, with its usage", async () => {
  // Its opening, three words, its finish and its usage; the connection stays open.
  const seen = await ask({ text: "one two three", stallAfter: 6 }, true);
  expect(seen.outcome, seen.text).toBe("primary");
  expect(seen.durationMs).toBeLessThan(8_000);
  expect(seen.text).toContain("three");
});

test("S15: a route that fails in turns serves again within 30 s", async () => {
  let failures = 0;
  for (let turn = 0; turn < 20; turn += 1) {
    const startMs = performance.now();
    broken = turn % 4 < 2 ? { status: 503 } : {};
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "plain", messages: [{ role: "user", content: script({}) }] }),
    });
    await response.text();
    if (!response.ok) failures += 1;
    await pace(Math.max(0, 3_000 - (performance.now() - startMs)));
  }
  expect(failures).toBe(0);
  broken = {};
  const startMs = performance.now();
  await expect.poll(async () => (await ask({}, false)).outcome).toBe("primary");
  expect(performance.now() - startMs).toBeLessThan(30_000);
});

/** What one tenant's requests do to an upstream that another uses: over HTTP, with a fake upstream that they steer. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type FakeScript, type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { says } from "../../support/world.js";

let fake: FakeUpstream;
let spare: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let hostile: string;
let victim: string;

const settings = (key: string, more = ""): string => `
upstreams:
  fake: { family: openai-compatible, base_url: "${fake.url}", api_key: "${key}" }
  worded: { family: openai-compatible, base_url: "${fake.url}", api_key: "${key}" }
  spare: { family: openai-compatible, base_url: "${spare.url}" }
  gone: { family: openai-compatible, base_url: "http://127.0.0.1:9/v1" }
${more}
models:
  alone: { targets: [{ upstream: fake }], output_tokens_max: 100, price: free }
  worded: { targets: [{ upstream: worded }], output_tokens_max: 100, price: free }
  pair: { targets: [{ upstream: fake }, { upstream: spare, priority: 2 }], output_tokens_max: 100, price: free }
  last: { targets: [{ upstream: fake }, { upstream: gone, priority: 2 }], output_tokens_max: 100, price: free }
`;
const DROPPED = `
  dropped: { family: openai-compatible, base_url: "FAKE" }`;

beforeAll(async () => {
  [fake, spare] = await Promise.all([startFakeUpstream(), startFakeUpstream()]);
  gateway = await startGateway({ settings: settings("sk-first-key-of-the-upstream") });
  management = new Management(gateway);
  for (const id of ["mallory", "alice"]) await management.account(id, 1_000_000_000n);
  hostile = (await management.makeKey("mallory")).secret;
  victim = (await management.makeKey("alice")).secret;
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([fake.close(), spare.close()]);
});
beforeEach(async () => {
  for (const id of ["fake", "spare", "gone"]) await management.call("POST", `/upstreams/${id}:reset`, {});
});

const BAD_KEY = "Incorrect API key provided: sk-***. You can obtain an API key from https://console.x.ai.";
const NO_CREDIT = "Your credit balance is too low.";

/** Answers with a refusal that the client wrote nothing of. */
async function askRefused(words: string, prompt: string, model: string): Promise<Response> {
  fake.override = { status: 400, body: JSON.stringify({ code: "invalid-argument", error: words }) };
  try {
    return await ask(hostile, prompt, model);
  } finally {
    fake.override = undefined;
  }
}

test.each([
  { words: BAD_KEY, echo: "Why does xAI say 'incorrect api key'?" },
  { words: NO_CREDIT, echo: "What is the credit balance of my bank?" },
])("'$words' counts where the client did not write it, and only there", async ({ words, echo }) => {
  const before = spare.requests.length;
  expect((await askRefused(words, "Hello", "pair")).headers.get("x-tollgate-upstream")).toBe("spare");
  expect((await askRefused(words, echo, "pair")).status).toBe(400);
  expect(spare.requests.length).toBe(before + 1);
  const long = await askRefused(words, `${"All good. ".repeat(200_000)}${echo}`, "pair");
  expect(long.status).toBe(400);
  expect(await long.json()).toMatchObject({ error: { message: expect.stringContaining(words.slice(0, 20)) } });
});

test("a credential that is refused in words alone is told to the operator, and ejects nothing", async () => {
  for (let call = 0; call < 3; call += 1) {
    const refused = await askRefused(BAD_KEY, "Hello", "worded");
    expect(refused.status).toBe(502);
    expect(await refused.text()).not.toContain("x.ai");
  }
  const lines = (): string[] =>
    gateway.log.filter((text) =>
      /"cause":"forbidden".*"upstream":"worded"|"upstream":"worded".*"cause":"forbidden"/.test(text),
    );
  await expect.poll(() => lines().length).toBe(1);
  expect(JSON.parse(lines()[0] ?? "")).toMatchObject({ upstream: "worded", status: 400, said: expect.any(String) });
  expect(lines()[0]).toMatch(/look at its credential/);
  const { text: metrics } = await readMetrics(gateway);
  expect(metrics).toMatch(/^tollgate_upstream_refused_as_ours_total\{upstream="worded",model="worded"\} 3$/m);
  expect(metrics).not.toMatch(/^tollgate_upstream_ejections_total\{upstream="worded"/m);
});

const told = (code: string): string =>
  JSON.stringify({ error: { message: "invalid api key, insufficient balance", type: code, param: code, code } });

describe("one tenant's refusals, however many, leave another's next request alone", () => {
  test.each<{ what: string; answer: FakeScript }>([
    { what: "401 with the exact code", answer: { status: 401, body: told("invalid_api_key") } },
    { what: "402", answer: { status: 402 } },
    { what: "403", answer: { status: 403, body: told("account_deactivated") } },
    { what: "no funds", answer: { status: 429, body: told("insufficient_quota") } },
    { what: "its words", answer: { status: 400, body: told("x") } },
    { what: "its limit for an hour", answer: { status: 429, headers: { "retry-after": "3600" } } },
    { what: "no such model", answer: { status: 404, body: told("model_not_found") } },
    { what: "503", answer: { status: 503 } },
    { what: "a cut", answer: { cutAfter: 0 } },
  ])("$what", async ({ answer }) => {
    for (const model of ["alone", "pair"]) {
      await Promise.all(Array.from({ length: 8 }, () => ask(hostile, script(answer), model)));
      const before = fake.requests.length;
      const response = await ask(victim, "Hello", model);
      expect(response.status).toBe(200);
      expect(response.headers.get("x-tollgate-upstream")).toBe("fake");
      expect(fake.requests.length).toBe(before + 1);
    }
  });
});

describe("a credential that is refused", () => {
  const refused = script({ status: 401 });

  test("is told as ours to mend, and not worth a retry", async () => {
    const response = await ask(victim, refused, "alone");
    expect(response.status).toBe(502);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await response.json()).toMatchObject({ error: { code: "upstream_credential", type: "server_error" } });
  });

  test("is an alert at once, and its upstream comes back by itself", async () => {
    for (const key of [hostile, victim]) await ask(key, refused, "alone");
    expect(await healthOf("fake")).toMatchObject({
      health: "refused",
      ejections: [{ model: "", cause: "credential" }],
    });
    const alert = await gateway.logged("check its api_key");
    expect(JSON.parse(alert)).toMatchObject({ level: "error", upstream: "fake", cause: "credential" });
    // Others go elsewhere meanwhile; with nobody else to ask it is probed.
    expect((await ask(victim, "Hello", "pair")).headers.get("x-tollgate-upstream")).toBe("spare");
    await expect.poll(async () => (await ask(victim, "Hello", "alone")).status).toBe(200);
    expect(await healthOf("fake")).toMatchObject({ health: "healthy", ejections: [] });
    expect((await ask(victim, "Hello", "pair")).headers.get("x-tollgate-upstream")).toBe("fake");
  });

  test("is not what the client is told while another target may still answer", async () => {
    const response = await ask(victim, refused, "last");
    expect(response.status).toBe(502);
    expect(response.headers.get("x-should-retry")).toBe("true");
    expect(await response.json()).toMatchObject({ error: { code: "upstream_error" } });
  });
});

test("a model that an upstream does not have is asked for elsewhere, and is no mistake of the client's", async () => {
  const missing = script({ status: 404, body: told("model_not_found") });
  const before = spare.requests.length;
  const response = await ask(victim, missing, "pair");
  expect(spare.requests.length).toBe(before + 1);
  expect(response.status).toBe(502);
  expect(await healthOf("fake")).toMatchObject({ ejections: [{ model: "pair", cause: "model_unknown" }] });
  await gateway.logged("correct the target's model");
});

test("a wait of minutes is told as it is while it lasts, and no client tries again by itself", async () => {
  const limited = script({ status: 429, headers: { "retry-after": "300" } });
  const first = await ask(hostile, limited, "alone");
  expect([waitMs(first), first.headers.get("x-should-retry")]).toEqual([300_000, "false"]);
  expect((await ask(victim, limited, "alone")).status).toBe(429);
  const third = (await management.makeKey("alice")).secret;
  const responses = await Promise.all(Array.from({ length: 6 }, () => ask(third, limited, "alone")));
  for (const response of responses) {
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(waitMs(response)).toBeGreaterThan(200_000);
    expect(waitMs(response)).toBeLessThanOrEqual(300_000);
  }
});

test("a client's own deadline, or its leaving, takes no upstream from others", async () => {
  const slow = script({ hang: true });
  for (let round = 0; round < 2; round += 1) {
    const before = fake.requests.length;
    const leaving = new AbortController();
    const asked = Array.from({ length: 6 }, () => ask(victim, slow, "alone", leaving.signal).catch(() => undefined));
    await expect.poll(() => fake.requests.length).toBe(before + 6);
    leaving.abort();
    await Promise.all(asked);
  }
  expect((await ask(hostile, "Hello", "alone")).status).toBe(200);
  expect((await ask(victim, "Hello", "alone")).status).toBe(200);
});

test("a rotated credential and a removed upstream leave their live streams alone", async () => {
  const withDropped = (text: string): string =>
    `${text}  dropped: { targets: [{ upstream: dropped }], output_tokens_max: 100, price: free }\n`;
  gateway.writeSettings(withDropped(settings("sk-first-key-of-the-upstream", DROPPED.replace("FAKE", fake.url))));
  const models = async (): Promise<string> => JSON.stringify((await management.call("GET", "/models")).body);
  await expect.poll(models).toContain('"dropped"');
  const content = script({ words: 60, eventDelayMs: 50 });
  const streams = await Promise.all(["alone", "dropped"].map((model) => ask(victim, content, model, undefined, true)));
  gateway.writeSettings(settings("sk-second-key-of-the-upstream"));
  await expect.poll(models).not.toContain('"dropped"');
  expect((await ask(victim, "Hello", "alone")).status).toBe(200);
  expect(fake.requests.at(-1)?.headers["authorization"]).toBe("Bearer sk-second-key-of-the-upstream");
  for (const stream of streams) {
    const text = await stream.text();
    expect(text).toContain("word59");
    expect(text).toContain("[DONE]");
  }
});

function waitMs(response: Response): number {
  expect(response.status).toBe(429);
  return Number(response.headers.get("retry-after-ms"));
}

async function healthOf(id: string): Promise<object | undefined> {
  const { body } = await management.call("GET", "/upstreams");
  return (body["upstreams"] as { id: string }[]).find((upstream) => upstream.id === id);
}

function ask(key: string, content: string, model: string, signal?: AbortSignal, stream = false): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: says(content), stream }),
    ...(signal === undefined ? {} : { signal }),
  });
}

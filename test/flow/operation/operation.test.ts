/** What an operator relies on: hot reload, a graceful end, metrics, and that no secret is ever written down. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { versionOf } from "../../../src/config/file.js";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { writtenBy } from "../../support/database-behind.js";
import { type FakeScript, type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { searchingModel, settingsFor } from "../../support/world.js";

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;

beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterAll(() => upstream.close());

/** A gateway of the test's own, until the test is over. */
async function start(settings: string, env: Record<string, string> = {}): Promise<void> {
  await serve(settings, env);
  onTestFinished(end);
  await open("acme");
}

async function serve(settings: string, env: Record<string, string> = {}): Promise<void> {
  gateway = await startGateway({ settings, env });
  management = new Management(gateway);
}

async function end(): Promise<void> {
  await gateway.stop();
  rmSync(gateway.dataDirectory, { recursive: true });
}

async function open(account: string): Promise<void> {
  await management.account(account, 1_000_000_000n);
  secret = (await management.makeKey(account)).secret;
}

async function modelIds(): Promise<string[]> {
  const response = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
  return ((await response.json()) as { data: { id: string }[] }).data.map((model) => model.id);
}

const PATIENT = { timeout: 60_000, interval: 50 };

describe("a settings file that changes", () => {
  const model = (id: string, price = "free"): string =>
    `  ${id}: { targets: [{ upstream: fake }], context_tokens: 9000, output_tokens_max: 50, price: ${price} }\n`;

  let account = "";
  let accounts = 0;

  beforeAll(() => serve(settingsFor(upstream.url)));
  afterAll(end);
  beforeEach(async () => {
    await open((account = `case-${(accounts += 1)}`));
    const lines = gateway.log.length;
    const text = settingsFor(upstream.url);
    gateway.writeSettings(text);
    process.kill(gateway.pid, "SIGHUP");
    // A file of before may still be on its way into force.
    const told = `"version":"${versionOf([{ name: "", text }])}"`;
    const isInForce = (): boolean =>
      gateway.log.slice(lines).some((line) => line.includes("settings reloaded") && line.includes(told));
    await vi.waitFor(() => expect(isInForce()).toBe(true), PATIENT);
  });

  test("comes into force whole: a new model is served, one that is gone is not, a new price holds", async () => {
    expect(await modelIds()).toContain("gone-1");
    const changed = settingsFor(upstream.url)
      .replace(/ {2}gone-1:.*\n/, "")
      .replace('output: "0.1"', 'output: "0.2"');
    gateway.writeSettings(changed + model("new-1"));
    await expect.poll(modelIds, PATIENT).toContain("new-1");
    expect(await modelIds()).not.toContain("gone-1");
    expect((await postChat(gateway, secret, chat("Hello", { model: "new-1" }))).status).toBe(200);
    expect((await postChat(gateway, secret, chat("Hello", { model: "gone-1" }))).status).toBe(404);
    const dearer = await postChat(gateway, secret, chat("Hello"));
    expect(dearer.headers.get("x-tollgate-cost-nanos")).toBe("900");
  });

  test("leaves a running stream alone, at the price that it was admitted at", async () => {
    const body = chat(script({ words: 100, usageIs: { completion_tokens: 200 }, eventDelayMs: 20 }), { stream: true });
    const running = await postChat(gateway, secret, body);
    const without = settingsFor(upstream.url).replace(/ {2}fake-1:.*\n/, "");
    gateway.writeSettings(without);
    await expect.poll(modelIds, PATIENT).not.toContain("fake-1");
    expect(await readAll(running)).toContain("data: [DONE]");
    await expect.poll(async () => (await management.balance(account)).heldNanos).toBe(0n);
    expect((await management.balance(account)).spentNanos).toBe(20_100n);
  });

  test.each([
    { name: "a member that does not exist", bad: "  bad-1: { targets: [{ upstream: fake }], prize: free }\n" },
    { name: "an upstream that does not exist", bad: "  bad-1: { targets: [{ upstream: nowhere }], price: free }\n" },
    { name: "a price that is none", bad: model("bad-1", '{ input: "cheap", output: "1" }') },
    { name: "broken YAML", bad: "  bad-1: { targets: [\n" },
  ])("is refused whole for $name, names the line, and the old one stays in force", async ({ bad }) => {
    const before = await modelIds();
    const lines = gateway.log.length;
    const text = settingsFor(upstream.url) + model("good-1") + bad;
    const line = text.slice(0, text.indexOf("bad-1")).split("\n").length;
    gateway.writeSettings(text);
    const refusal = (): string | undefined => gateway.log.slice(lines).find((text) => text.includes("refused"));
    await expect.poll(refusal, PATIENT).toBeDefined();
    const entry = refusal() ?? "";
    // Broken YAML is noticed where the file ends, which is a line later.
    expect(entry).toMatch(new RegExp(`tollgate\\.yaml:(${line}|${line + 1})\\b`));
    expect(JSON.parse(entry)).toMatchObject({ level: expect.stringMatching(/warn|error/) });
    expect(await modelIds()).toEqual(before);
    expect((await postChat(gateway, secret, chat("Hello"))).status).toBe(200);
    gateway.writeSettings(settingsFor(upstream.url) + model("good-1"));
    await expect.poll(modelIds, PATIENT).toContain("good-1");
  });
});

test("a process that stops finishes its streams, refuses what comes, settles all, and exits with 0", async () => {
  await start(settingsFor(upstream.url));
  const slow = chat(script({ words: 60, usageIs: { completion_tokens: 120 }, eventDelayMs: 20 }), { stream: true });
  const running = await Promise.all([postChat(gateway, secret, slow), postChat(gateway, secret, slow)]);
  const whole = postChat(gateway, secret, chat(script({ headDelayMs: 600 }), { user: "whole" }));
  await upstream.waitFor((request) => request.raw.includes('"whole"'));
  const stopped = gateway.stop();
  const isReady = (): Promise<boolean> =>
    fetch(`${gateway.url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isReady, PATIENT).toBe(false);
  // New ones are turned away, by a status or a closed door; what the port took before it closed is answered.
  const late = await postChat(gateway, secret, chat("Hello")).then(
    ({ status }) => status,
    () => "closed",
  );
  expect([200, 503, "closed"]).toContain(late);
  for (const stream of running) expect((await readAll(stream)).endsWith("data: [DONE]\n\n")).toBe(true);
  expect((await whole).status).toBe(200);
  expect(await stopped).toBe(0);
  const told = gateway.log.map((line) => String((JSON.parse(line) as { msg: string }).msg));
  expect(told.slice(-2)).toContain("stopped");
  gateway = await startGateway({ settings: settingsFor(upstream.url), dataDirectory: gateway.dataDirectory });
  const after = new Management(gateway);
  const lateNanos = late === 200 ? 500n : 0n;
  const spentNanos = 12_100n + 12_100n + 500n + lateNanos;
  expect(await after.balance("acme")).toMatchObject({ heldNanos: 0n, spentNanos });
  expect(await after.verify()).toMatchObject({ open_hold_count: "0" });
});

const METRICS = [
  "tollgate_http_requests_total",
  "tollgate_http_request_seconds_bucket",
  "tollgate_generations_total",
  "tollgate_generations_running",
  "tollgate_tokens_total",
  "tollgate_cost_usd_total",
  "tollgate_usage_source_total",
  "tollgate_overage_usd_total",
  "tollgate_late_records_total",
  "tollgate_late_overage_usd_total",
  "tollgate_leases",
  "tollgate_leased_usd",
  "tollgate_first_token_seconds_bucket",
  "tollgate_upstream_attempts_total",
  "tollgate_settles_queued",
  "tollgate_orphans_total",
  "process_resident_memory_bytes",
  "nodejs_eventloop_lag_seconds",
];

test("metrics name what happened, with no account and no key in a label", async () => {
  await start(settingsFor(upstream.url) + searchingModel(1_000));
  const { id } = await management.makeKey("acme");
  await readAll(await postChat(gateway, secret, chat("Hello", { stream: true })));
  await readAll(await postChat(gateway, secret, chat(script({ status: 400 }))));
  // What an account cannot pay of a cost above its hold is the operator's.
  await management.account("poor", 20_000n);
  const poor = (await management.makeKey("poor")).secret;
  const search = { model: "searching-1", max_tokens: 5, web_search_options: {} };
  await readAll(await postChat(gateway, poor, chat(script({ usageIs: { prompt_tokens: 9_000 } }), search)));
  await expect.poll(async () => (await readMetrics(gateway)).text).toMatch(/tollgate_overage_usd_total 0\.0*[1-9]/);
  const metrics = await readMetrics(gateway);
  const { text } = metrics;
  for (const name of METRICS) expect(text, name).toMatch(new RegExp(`^# TYPE ${name.replace(/_bucket$/, "")} `, "m"));
  expect(metrics.value('tollgate_generations_total{model="fake-1",reason="finished"}')).toBe(1);
  expect(metrics.value('tollgate_generations_total{model="fake-1",reason="UPSTREAM_REJECTED"}')).toBe(1);
  expect(metrics.value('tollgate_tokens_total{model="fake-1",component="output"}')).toBe(4);
  expect(metrics.value('tollgate_upstream_attempts_total{upstream="fake",result="ok"}')).toBe(2);
  expect(metrics.value("tollgate_generations_running")).toBe(0);
  expect(metrics.value("tollgate_settles_queued")).toBe(0);
  for (const hidden of ["acme", id, secret]) expect(text).not.toContain(hidden);
});

describe("secrets", () => {
  // In shapes that no pattern of keys knows, so that only not writing them keeps them out.
  const UPSTREAM_KEY = "canary.upstream.f00dfeedbeef";
  const PROMPT = "canary prompt 5d41402abc";
  const ANSWER = "canary answer 7d793037a0";
  const STRANGER = "sk-canaryofastranger0123456789abcdef";
  const echo = (status: number, message: string): FakeScript => ({
    status,
    body: JSON.stringify({ error: { message, type: "x", param: null, code: null } }),
  });

  const FAILURES: readonly FakeScript[] = [
    {},
    { text: ANSWER },
    { words: 9, cutAfter: 4 },
    { words: 9, errorAfter: 4 },
    { cutAfter: 0 },
    { body: `<html>${UPSTREAM_KEY}</html>` },
    { body: `{"choices": [{"message": {"content": "${ANSWER}` },
    echo(400, `Bad request: ${PROMPT}`),
    echo(400, `Refused: the key ${UPSTREAM_KEY} may not do this`),
    echo(500, `Failed with ${UPSTREAM_KEY} on ${PROMPT}`),
    echo(503, `Busy with ${UPSTREAM_KEY} on ${PROMPT}`),
    echo(429, `Slow down, ${UPSTREAM_KEY}`),
    // Last, since it ejects the upstream.
    echo(401, `Incorrect API key provided: ${UPSTREAM_KEY}`),
  ];

  test("of upstreams, of clients and of prompts stand in no log line, no metric, no error and no file", async () => {
    const settings = settingsFor(upstream.url).replace("sk-upstream-secret-0123456789", UPSTREAM_KEY);
    await start(settings, { TOLLGATE_LOG_LEVEL: "trace" });
    const errors: string[] = [];
    for (const stream of [false, true]) {
      for (const fake of FAILURES) {
        await management.call("POST", "/upstreams/fake:reset", {});
        const messages = [
          { role: "system", content: PROMPT },
          { role: "user", content: script(fake) },
        ];
        const response = await postChat(gateway, secret, { model: "fake-1", messages, ...(stream ? { stream } : {}) });
        const text = await readAll(response);
        if (text.includes('"error"')) errors.push(text.replace(`Bad request: ${PROMPT}`, "what the client asked"));
      }
    }
    const others = [
      postChat(gateway, STRANGER, chat(PROMPT)),
      postChat(gateway, secret, chat(PROMPT, { model: "gone-1" })),
      postChat(gateway, secret, chat(PROMPT, { n: 0 })),
      postChat(gateway, secret, `{"model":"fake-1","messages":[{"role":"user","content":"${PROMPT}"`),
    ];
    for (const response of await Promise.all(others)) errors.push(await response.text());
    expect(errors.length).toBeGreaterThan(20);
    expect(upstream.requests.some((request) => request.headers["authorization"] === `Bearer ${UPSTREAM_KEY}`)).toBe(
      true,
    );

    const { text: metrics } = await readMetrics(gateway);
    const upstreams = JSON.stringify((await management.call("GET", "/upstreams")).body);
    const keys = JSON.stringify((await management.call("GET", "/keys")).body);
    await gateway.stop();
    expect(gateway.log.filter((line) => line.includes('"generation"')).length).toBeGreaterThan(20);
    const places = {
      log: gateway.log.join("\n"),
      told: gateway.told.join("\n"),
      metrics,
      errors: errors.join("\n"),
      upstreams,
      keys,
    };
    const hidden = { UPSTREAM_KEY, PROMPT, ANSWER, STRANGER, secret, OPERATOR_KEY };
    for (const [place, text] of Object.entries(places)) {
      // A cut answer that came to its client is no error, so what it said may stand before the error.
      for (const [name, value] of Object.entries(hidden))
        if (!(place === "errors" && name === "ANSWER"))
          expect(linesWith(text, value), `${name} in ${place}`).toEqual([]);
    }
    for (const [place, bytes] of await writtenBy(gateway.dataDirectory)) {
      if (place === "tollgate.yaml") continue;
      for (const [name, value] of Object.entries(hidden))
        expect(bytes.includes(value), `${name} in ${place}`).toBe(false);
    }
  });
});

function linesWith(text: string, value: string): string[] {
  return text.split("\n").filter((line) => line.includes(value));
}

/** The receipt of a request lists every attempt: who was asked, how it ended and when, also where all failed. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { tollgate } from "../../support/command.js";
import { credentials } from "@grpc/grpc-js";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { type FakeScript, type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { InferenceServiceClient } from "../../support/grpc-clients.js";
import { failureOf } from "../../support/grpc-refusal.js";
import { Management } from "../../support/management.js";
import { says } from "../../support/world.js";
import { tamperDatabase } from "../../support/database-behind.js";

type Json = Readonly<Record<string, unknown>>;

let first: FakeUpstream;
let second: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;

const priced = `output_tokens_max: 1000, context_tokens: 100000, price: { input: "0.01", output: "0.1" }`;
const settings = (): string => `
upstreams:
  first: { family: openai-compatible, base_url: "${first.url}" }
  second: { family: openai-compatible, base_url: "${second.url}" }
  gone: { family: openai-compatible, base_url: "http://127.0.0.1:9/v1" }
models:
  alone: { targets: [{ upstream: first, model: renamed }], ${priced} }
  pair: { targets: [{ upstream: first }, { upstream: second, model: other, priority: 2 }], ${priced} }
  saved: { targets: [{ upstream: gone }, { upstream: second, priority: 2 }], ${priced} }
`;

beforeAll(async () => {
  [first, second] = await Promise.all([startFakeUpstream(), startFakeUpstream()]);
  gateway = await startGateway({ settings: settings() });
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  rmSync(gateway.dataDirectory, { recursive: true });
  await Promise.all([first.close(), second.close()]);
});
beforeEach(() => makeWell());

/** The upstreams answer plainly, and none is ejected. */
async function makeWell(): Promise<void> {
  first.override = undefined;
  second.override = undefined;
  for (const id of ["first", "second", "gone"]) await management.call("POST", `/upstreams/${id}:reset`, {});
}

async function requestOf(id: string): Promise<Json> {
  const { status, body } = await management.call("GET", `/requests/${id}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body["request"] as Json;
}

const logOf = (request: Json): Json[] => request["attempt_log"] as Json[];

async function ended(id: string): Promise<Json> {
  await expect.poll(async () => (await requestOf(id))["state"]).not.toBe("held");
  return requestOf(id);
}

test("its record says the route that an HTTP client asked, whatever a gRPC client says of one", async () => {
  const answer = await postChat(gateway, secret, chat("Hello", { model: "alone" }));
  await readAll(answer);
  const pathOf = async (id: string): Promise<unknown> => ((await ended(id))["detail"] as Json | undefined)?.["path"];
  expect(await pathOf(String(answer.headers.get("x-request-id")))).toBe("/v1/chat/completions");
  const client = new InferenceServiceClient(gateway.grpc, credentials.createInsecure());
  const failure = await failureOf(secret, (metadata, done) => {
    metadata.set("x-tollgate-route", "/v1/forged");
    const source = { wire: "openai-chat", body: Buffer.from("{}"), headers: {} };
    const input = { $case: "source" as const, value: source };
    const generation = { model: "", input, outputTokensMax: undefined, clamp: undefined };
    client.generate({ generation, acceptWire: "" }, metadata, done);
  });
  client.close();
  expect(await pathOf(failure.requestId)).toBe("/tollgate.v1.InferenceService/Generate");
});

test("operators read why an attempt failed, without the client's words, and nobody else does", async () => {
  const prompt = "the words of a client, which an upstream repeats in its sentence";
  const sentence = `No model for "${prompt}" of sk-proj-0123456789abcdefghij at 10.1.2.3`;
  first.override = { status: 500, body: JSON.stringify({ error: { message: sentence } }) };
  second.override = { status: 502, body: "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>" };
  const answer = await postChat(gateway, secret, chat(prompt, { model: "pair" }));
  expect(await readAll(answer)).not.toContain("No model for");
  const id = String(answer.headers.get("x-request-id"));
  const said = logOf(await ended(id)).map((attempt) => attempt["failure_message"]);
  expect(said.slice(0, 2)).toEqual([
    expect.stringMatching(/^No model for "?\.\.\."? of \S*\[redacted\]\S* at \[redacted\]$/),
    "502 Bad Gateway nginx",
  ]);
  const own = await fetch(`${gateway.url}/api/v1/requests/${id}`, { headers: { authorization: `Bearer ${secret}` } });
  const { request } = (await own.json()) as { request: Json };
  expect(logOf(request).map((attempt) => attempt["failure_message"] ?? "")).toEqual(["", "", ""]);
});

/** What one upstream does, one request after the other; then it answers plainly. */
const inTurn = (...turns: readonly FakeScript[]): FakeScript => ({ turns, id: crypto.randomUUID() });
const FAILED = { end: "failed", error_reason: "UPSTREAM_FAILED" };
const ANSWERED = { end: "answered", http_status: 200 };
const SILENT = { status: 503 };
const CUT = { cutAfter: 0 };

interface Case {
  readonly name: string;
  readonly model: "alone" | "pair" | "saved";
  /** What the first upstream does, and the second. */
  readonly first?: FakeScript;
  readonly second?: FakeScript;
  readonly stream?: boolean;
  readonly status: number;
  readonly state: "settled" | "voided";
  readonly attempts: readonly Json[];
}

const CASES: readonly Case[] = [
  {
    name: "that answers at once",
    model: "alone",
    status: 200,
    state: "settled",
    attempts: [{ ...ANSWERED, upstream: "first", upstream_model: "renamed" }],
  },
  {
    name: "that answers at once, streamed",
    model: "alone",
    stream: true,
    status: 200,
    state: "settled",
    attempts: [{ ...ANSWERED, upstream: "first", upstream_model: "renamed" }],
  },
  {
    name: "that is refused, then cut, then answered",
    model: "alone",
    first: inTurn({ status: 500 }, CUT),
    status: 200,
    state: "settled",
    attempts: [
      { ...FAILED, upstream: "first", upstream_model: "renamed", http_status: 500 },
      { ...FAILED, upstream: "first", upstream_model: "renamed" },
      { ...ANSWERED, upstream: "first", upstream_model: "renamed" },
    ],
  },
  {
    name: "that fails everywhere",
    model: "pair",
    first: { status: 500 },
    second: CUT,
    status: 502,
    state: "voided",
    attempts: [
      { ...FAILED, upstream: "first", upstream_model: "pair", http_status: 500 },
      { ...FAILED, upstream: "second", upstream_model: "other" },
      { ...FAILED, upstream: "first", upstream_model: "pair", http_status: 500 },
    ],
  },
  {
    name: "that goes from one upstream to the other",
    model: "pair",
    first: SILENT,
    status: 200,
    state: "settled",
    attempts: [
      { end: "failed", upstream: "first", upstream_model: "pair", http_status: 503 },
      { ...ANSWERED, upstream: "second", upstream_model: "other" },
    ],
  },
  {
    name: "whose first upstream is at its own limit",
    model: "pair",
    first: { status: 429, headers: { "retry-after": "30" } },
    status: 200,
    state: "settled",
    attempts: [
      { end: "failed", upstream: "first", error_reason: "UPSTREAM_RATE_LIMITED", http_status: 429 },
      { ...ANSWERED, upstream: "second" },
    ],
  },
  {
    name: "whose first upstream cannot be reached",
    model: "saved",
    status: 200,
    state: "settled",
    attempts: [
      { ...FAILED, upstream: "gone", upstream_model: "saved" },
      { ...ANSWERED, upstream: "second", upstream_model: "saved" },
    ],
  },
  {
    name: "whose stream fails before its first byte",
    model: "pair",
    first: { errorAfter: 0 },
    stream: true,
    status: 200,
    state: "settled",
    attempts: [
      { end: "failed", upstream: "first", http_status: 200 },
      { ...ANSWERED, upstream: "second" },
    ],
  },
  {
    name: "whose stream is cut in the middle",
    model: "pair",
    first: { words: 9, cutAfter: 3 },
    stream: true,
    status: 200,
    state: "settled",
    attempts: [{ ...FAILED, upstream: "first", http_status: 200 }],
  },
  {
    name: "that its upstream finds wrong",
    model: "pair",
    first: { status: 400 },
    status: 400,
    state: "voided",
    attempts: [{ end: "failed", upstream: "first", error_reason: "UPSTREAM_REJECTED", http_status: 400 }],
  },
];

async function ask(asked: Case): Promise<string> {
  first.override = asked.first;
  second.override = asked.second;
  const body = { model: asked.model, stream: asked.stream ?? false, messages: says("Hello") };
  const response = await postChat(gateway, secret, body);
  await readAll(response);
  expect(response.status).toBe(asked.status);
  return response.headers.get("x-request-id") ?? "";
}

describe.each(CASES)("a request $name", (asked) => {
  test("shows each attempt, in order, with its times", async () => {
    const request = await ended(await ask(asked));
    const { state, attempts } = asked;
    expect(request).toMatchObject({ state, attempts: attempts.length, attempt_log: attempts });
    expect(request["upstream"]).toBe(logOf(request).at(-1)?.["upstream"]);
    let beforeMs = 0;
    for (const [index, attempt] of logOf(request).entries()) {
      expect(attempt["number"]).toBe(index + 1);
      // A connection that was cut before an answer told no status.
      expect("http_status" in attempt).toBe("http_status" in (attempts[index] ?? {}));
      const startMs = Number(attempt["start_ms"]);
      // Each is rounded by itself.
      expect(startMs).toBeGreaterThanOrEqual(beforeMs - 1);
      beforeMs = startMs + Number(attempt["duration_ms"]);
      const delivered = index === attempts.length - 1 && state === "settled";
      expect("first_batch_ms" in attempt).toBe(delivered);
      if (delivered) expect(Number(attempt["first_batch_ms"])).toBeLessThanOrEqual(Number(attempt["duration_ms"]) + 1);
    }
  });
});

test("a request whose client leaves says so of its last attempt", async () => {
  const stop = new AbortController();
  const body = { model: "alone", stream: true, messages: says(script({ words: 5, stallAfter: 2 })) };
  const response = await postChat(gateway, secret, body, { signal: stop.signal });
  const id = response.headers.get("x-request-id") ?? "";
  stop.abort();
  const [attempt, ...others] = logOf(await ended(id));
  expect(others).toEqual([]);
  expect(attempt).toMatchObject({ upstream: "first", end: "failed", error_reason: "CANCELLED" });
});

test("a request that no upstream could be asked for shows no attempt", async () => {
  const limited: Case = { ...CASES[5]!, model: "alone", status: 429, state: "voided" };
  expect(logOf(await ended(await ask(limited)))).toHaveLength(1);
  // One of them may ask whether the upstream is well again; the others are not even tried.
  const ids = await Promise.all([1, 2, 3].map(() => ask(limited)));
  const requests = await Promise.all(ids.map((id) => ended(id)));
  const untried = { state: "voided", attempts: 0, attempt_log: [], upstream: "" };
  expect(requests.filter(({ attempts }) => attempts === 0)).toMatchObject([untried, untried]);
});

test("a list shows the attempts as a receipt does", async () => {
  const id = await ask(CASES[4]!);
  const request = await ended(id);
  const { body } = await management.call("GET", "/requests?account_id=acme&page_size=1");
  expect(body["requests"]).toEqual([request]);
});

describe("over a restart", () => {
  const restart = async (): Promise<void> => {
    gateway = await startGateway({ settings: settings(), dataDirectory: gateway.dataDirectory });
    management = new Management(gateway);
  };

  test("what was kept stays as it was, and what recovery charges shows what was noted, and no more", async () => {
    const failed = await ended(await ask(CASES[3]!));
    await makeWell();
    first.override = SILENT;
    const fake = { words: 600, eventDelayMs: 2, stallAfter: 500 };
    const response = await postChat(gateway, secret, { model: "pair", stream: true, messages: says(script(fake)) });
    const id = response.headers.get("x-request-id") ?? "";
    readAll(response).catch(() => undefined);
    const noted = { number: 2, upstream: "second", upstream_model: "", failure_message: "" };
    // Nothing is known until something was noted.
    await expect.poll(async () => logOf(await requestOf(id))).toEqual([{ ...noted, end: "running" }]);
    await gateway.kill();
    await restart();
    const recovered = { state: "settled", usage_source: "recovered", attempts: 2, upstream: "second" };
    expect(await ended(id)).toMatchObject({ ...recovered, attempt_log: [{ ...noted, end: "unknown" }] });
    expect(await requestOf(String(failed["id"]))).toEqual(failed);
    await management.verify();
  });

  test("a change of what was kept is found, and its request is named", async () => {
    const id = await ask(CASES[3]!);
    await ended(id);
    await gateway.stop();
    const change = `UPDATE transfer SET attempt_log = replace(attempt_log, '500', '200')
      WHERE usage_source IS NOT NULL AND hold_sequence = (SELECT sequence FROM hold WHERE request_id = '${id}')`;
    await tamperDatabase(gateway.dataDirectory, change);
    await restart();
    expect(logOf(await requestOf(id))[0]).toMatchObject({ http_status: 200 });
    const environment = { TOLLGATE_GATEWAY: gateway.grpc, TOLLGATE_OPERATOR_KEY: OPERATOR_KEY };
    const { code, stdout } = await tollgate(["ledger", "verify"], environment);
    expect(code).toBe(7);
    expect(stdout).toContain(`(v:${id}) was changed, or what it recorded was`);
  });
});

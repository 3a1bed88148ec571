/** Alerts of every kind that a few seconds can provoke, through one real gateway: each becomes its event. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat, readAll } from "../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";

type Json = Readonly<Record<string, unknown>>;

/** What needs a day behind it, or a ledger that does not hold: tests of the readings give those. */
const NOT_HERE = ["balance_days", "spend_rise", "key_unused", "overage", "proof_failed"];
const SOON = new Date(Date.now() + 3 * 86_400_000).toISOString();

const BOUNDS = "context_tokens: 1000, output_tokens_max: 100";

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret = "";

const settings = (more = ""): string =>
  [
    "upstreams:",
    `  fake: { family: openai-compatible, base_url: "${upstream.url}" }`,
    `  strict: { family: openai-compatible, base_url: "${upstream.url}" }`,
    `  gone: { family: openai-compatible, base_url: "http://127.0.0.1:9/v1" }`,
    "models:",
    `  fake-1: { targets: [{ upstream: fake }], ${BOUNDS}, price: { input: "1", output: "10" } }`,
    `  strict-1: { targets: [{ upstream: strict }], ${BOUNDS}, price: free }`,
    `  gone-1: { targets: [{ upstream: gone }], ${BOUNDS}, price: free }`,
    `  old-1: { targets: [{ upstream: fake }], ${BOUNDS}, price: free, retires: ${SOON.slice(0, 10)} }`,
    more,
    "",
  ].join("\n");

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startGateway({ settings: settings() });
  gateway.expectOddAnswers();
  management = new Management(gateway);
  await management.account("acme", 10_000_000n);
  const budget = { settings: { budget_day_nanos: "1000000" } };
  expect((await management.call("PATCH", "/accounts/acme", budget)).status).toBe(200);
  ({ secret } = await management.makeKey("acme", { name: "soon over", expire_time: SOON }));
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

async function ask(count: number, model: string, said = "hello"): Promise<void> {
  for (let at = 0; at < count; at++)
    await readAll(await postChat(gateway, secret, chat(said, { model, max_tokens: 5 })));
}

const KINDS: readonly { readonly kind: string; readonly more: Json; readonly subject: string }[] = [
  { kind: "balance_low", more: { amount: "5.00 USD" }, subject: "account acme" },
  { kind: "budget_share", more: { percent: 10 }, subject: "account acme, day" },
  { kind: "error_share", more: { percent: 10, requests_min: "2" }, subject: "" },
  { kind: "first_token_slow", more: { threshold_ms: "1", requests_min: "1" }, subject: "" },
  { kind: "upstream_aside", more: {}, subject: "upstream gone" },
  { kind: "credential_refused", more: {}, subject: "upstream strict" },
  { kind: "reload_refused", more: {}, subject: "settings file" },
  { kind: "key_expiring", more: { days: 5 }, subject: "key " },
  { kind: "model_retiring", more: { days: 5 }, subject: "model old-1" },
];

test("each kind that can be provoked becomes an event of its own, and no other does", async () => {
  for (const { kind, more } of KINDS)
    expect(await management.call("POST", "/alerts", { settings: { kind, name: kind, ...more } })).toMatchObject({
      status: 200,
    });
  await ask(3, "fake-1", "hello");
  await ask(2, "strict-1", script({ status: 401 }));
  await ask(8, "gone-1");
  gateway.writeSettings(settings("  broken: {"));
  process.kill(gateway.pid, "SIGHUP");
  const fired = async (): Promise<Json[]> => {
    const { body } = await management.call("GET", "/events?page_size=100");
    return (body["events"] as Json[]).filter(({ type }) => String(type).endsWith(".fired"));
  };
  const kinds = async (): Promise<string[]> =>
    [...new Set((await fired()).map(({ type }) => String(type).replace(".fired", "")))].toSorted();
  await expect.poll(kinds, { timeout: 60_000, interval: 250 }).toEqual(KINDS.map(({ kind }) => kind).toSorted());
  for (const { kind, subject } of KINDS) {
    const subjects = (await fired()).filter(({ type }) => type === `${kind}.fired`).map((event) => event["subject"]);
    expect(
      subjects.some((one) => String(one).startsWith(subject)),
      `${kind}: ${subjects.join()}`,
    ).toBe(true);
  }
});

test("every kind is provoked here, or said to need a day or a broken ledger", async () => {
  const { body } = await management.call("POST", "/alerts", { settings: { kind: "nonsense" } });
  const told = JSON.stringify(body);
  for (const kind of [...KINDS.map((row) => row.kind), ...NOT_HERE]) expect(told).toContain(kind);
});

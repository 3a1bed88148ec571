/**
 * Alerts of every kind through real gateways: each becomes its event. What a few seconds can provoke is provoked at one
 * on an empty database; what needs days behind it, or a ledger that does not hold, at one whose database has that.
 */
import { mkdtempSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KINDS as ALERT_KINDS } from "../../../src/alerts/kinds.js";
import { creditOf, holdOf, settleOf } from "../../ledger/operations.js";
import { TEST_ACT, TEST_EVENT } from "../../support/acts.js";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { MachineClock } from "../../support/machine-clock.js";
import { Management } from "../../support/management.js";
import { tamperDatabase } from "../../support/database-behind.js";
import { openTestStore } from "../../support/open-test-store.js";
import { searchingModel } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

const SOON = new Date(Date.now() + 3 * 86_400_000).toISOString();

const PATIENTLY = { timeout: 60_000, interval: 250 };
const DAY_MS = 86_400_000;
/** Account, credit and cost. At its pace the first lasts for a day, and what the second spends today is much more. */
const SPENT_YESTERDAY = [
  ["lasting", 10_000n, 5_000n],
  ["acme", 10_000_000_000n, 100n],
] as const;
/** It may cost more than what is held for it. */
const SEARCHING = searchingModel(1_000);

const BOUNDS = "context_tokens: 1000, output_tokens_max: 100";

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let aged: GatewayProcess | undefined;
let management: Management;
let secret = "";
const clock = new MachineClock();

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
    more.trimEnd(),
    "",
  ].join("\n");

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startGateway({ settings: settings(), env: clock.env });
  gateway.expectOddAnswers();
  management = new Management(gateway);
  await management.account("acme", 10_000_000n);
  const budget = { settings: { budget_day_nanos: "1000000" } };
  expect((await management.call("PATCH", "/accounts/acme", budget)).status).toBe(200);
  ({ secret } = await management.makeKey("acme", { name: "soon over", expire_time: SOON }));
});
afterAll(async () => {
  await Promise.all([gateway.stop(), aged?.stop()]);
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
  { kind: "upstream_ejected", more: {}, subject: "upstream gone" },
  { kind: "credential_refused", more: {}, subject: "upstream strict" },
  { kind: "reload_refused", more: {}, subject: "settings file" },
  { kind: "clock_skew", more: {}, subject: `clock of ${hostname()}` },
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
  await clock.set(gateway, 3_600_000);
  await expect.poll(() => kindsFired(management), PATIENTLY).toEqual(KINDS.map(({ kind }) => kind).toSorted());
  await expectSubjects(KINDS, management);
});

/** The subjects of what an aged database tells of. */
const AGED: readonly { readonly kind: string; readonly more: Json; readonly subject: string }[] = [
  { kind: "balance_days", more: { days: 5 }, subject: "account lasting" },
  { kind: "spend_rise", more: { percent: 200 }, subject: "account acme" },
  { kind: "key_unused", more: { days: 3 }, subject: "key key_old" },
  { kind: "overage", more: { amount_nanos: "1000" }, subject: "operator" },
  { kind: "proof_failed", more: {}, subject: "ledger" },
];

test("so does each that needs days behind it, or a ledger that does not hold", async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), "tollgate-"));
  await ageDatabase(dataDirectory);
  const env = { TOLLGATE_SECRET: "a root secret of this test, long enough" };
  aged = await startGateway({ settings: settings(SEARCHING), dataDirectory, env });
  aged.expectOddAnswers();
  const here = new Management(aged);
  const ofAcme = (await here.makeKey("acme")).secret;
  await here.account("poor", 0n);
  const ofPoor = (await here.makeKey("poor")).secret;
  for (const { kind, more } of AGED)
    expect(await here.call("POST", "/alerts", { settings: { kind, name: kind, ...more } })).toMatchObject({
      status: 200,
    });
  expect((await here.call("POST", "/ledger:verify", {})).body).toMatchObject({ holds: false });
  // Again and again, for what was paid before the first look of a day is not told of.
  let credits = 0;
  const spendAndLook = async (): Promise<string[]> => {
    const credit = { amount_nanos: "20000", credit_id: `more-${(credits += 1)}` };
    await here.call("POST", "/accounts/poor:credit", credit);
    const dear = chat(script({ usageIs: { prompt_tokens: 9_000 } }), { model: "searching-1", max_tokens: 5 });
    await readAll(await postChat(aged!, ofPoor, { ...dear, web_search_options: {} }));
    await readAll(await postChat(aged!, ofAcme, chat("hello", { model: "fake-1", max_tokens: 5 })));
    return kindsFired(here);
  };
  await expect.poll(spendAndLook, PATIENTLY).toEqual(AGED.map(({ kind }) => kind).toSorted());
  await expectSubjects(AGED, here);
});

/** Two accounts that spent yesterday, a key that nobody ever used, and a record of the audit that somebody changed. */
async function ageDatabase(directory: string): Promise<void> {
  const store = await openTestStore(directory);
  const yesterdayMs = Date.now() - DAY_MS;
  for (const [id, creditNanos, costNanos] of SPENT_YESTERDAY) {
    await store.accounts.create({ id, name: id, createTimeMs: yesterdayMs }, TEST_ACT);
    const about = { requestId: `request_${id}`, nowMs: yesterdayMs };
    await store.ledger.commit([
      creditOf(creditNanos, { accountId: id, creditId: `credit_${id}`, nowMs: yesterdayMs }),
      holdOf({ ...about, accountId: id, keyId: `key_${id}`, amountNanos: costNanos }),
    ]);
    await store.ledger.commit([settleOf({ ...about, costNanos })]);
  }
  const old = { id: "key_old", accountId: "acme", makerId: null, digest: Buffer.from("old"), previousDigest: null };
  const never = { previousUntilMs: null, hint: "sk-o...d", revokeTimeMs: null, revision: 1 };
  const made = { settings: new Uint8Array(), createTimeMs: Date.now() - 5 * DAY_MS };
  await store.keys.create({ ...old, ...never, ...made }, TEST_EVENT);
  await store.close();
  await tamperDatabase(directory, "UPDATE audit_event SET actor_id = 'somebody' WHERE sequence = 1");
}

async function kindsFired(at: Management): Promise<string[]> {
  return [...new Set((await fired(at)).map(({ type }) => String(type).replace(".fired", "")))].toSorted();
}

async function fired(at: Management): Promise<Json[]> {
  const { body } = await at.call("GET", "/events?page_size=100");
  return (body["events"] as Json[]).filter(({ type }) => String(type).endsWith(".fired"));
}

async function expectSubjects(rows: typeof KINDS, at: Management): Promise<void> {
  const events = await fired(at);
  for (const { kind, subject } of rows) {
    const subjects = events.filter(({ type }) => type === `${kind}.fired`).map((event) => event["subject"]);
    expect(
      subjects.some((one) => String(one).startsWith(subject)),
      `${kind}: ${subjects.join()}`,
    ).toBe(true);
  }
}

test("every kind that there is is provoked here", async () => {
  const { body } = await management.call("POST", "/alerts", { settings: { kind: "nonsense" } });
  const told = String((body["error"] as Json | undefined)?.["message"] ?? JSON.stringify(body));
  for (const { kind } of [...KINDS, ...AGED]) expect(told).toContain(kind);
  const words = Object.values(ALERT_KINDS).map(({ word }) => word);
  expect(words.toSorted()).toEqual([...KINDS, ...AGED].map(({ kind }) => kind).toSorted());
});

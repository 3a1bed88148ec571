/** Metrics of a real run: what operators watch and are woken by, with panels and rules tried on a real Prometheus. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, postChat, readAll } from "../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { readMetrics } from "../support/metrics-reading.js";
import { metricsProblems, panelQueries, promtool, type Prometheus, startPrometheus } from "../support/prometheus.js";
import { testStore } from "../support/test-store.js";
import { settingsFor } from "../support/world.js";

const isInstalled = promtool(["--version"]).status === 0;
const note = isInstalled ? "" : " (not run: there is no Prometheus)";
const PATIENT = { timeout: 60_000, interval: 100 };

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startGateway({ settings: `${settingsFor(upstream.url)}metrics: { accounts: [acme, nobody] }\n` });
  management = new Management(gateway);
  await management.account("acme", 2_000_000_000n);
  const budgets = {
    settings: { budget_day_nanos: "1000000", budget_month_nanos: "0" },
    update_mask: "budget_day_nanos",
  };
  const updated = await management.call("PATCH", "/accounts/acme", budgets);
  expect(updated.status, JSON.stringify(updated.body)).toBe(200);
  ({ secret } = await management.makeKey("acme"));
  await makeCalls();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  rmSync(gateway.dataDirectory, { recursive: true });
});

/** Some of everything: answers, refusals, an upstream that fails. */
async function makeCalls(): Promise<void> {
  await readAll(await postChat(gateway, secret, chat("Hello", { stream: true })));
  await readAll(await postChat(gateway, secret, chat("Hello")));
  await readAll(await postChat(gateway, secret, chat(script({ status: 400 }))));
  await readAll(await postChat(gateway, secret, chat("Hello", { model: "gone-1" })));
  await readAll(await postChat(gateway, secret, chat("Hello", { model: "unknown-1" })));
  await readAll(await postChat(gateway, "sk-of-nobody-0123456789abcdef0123456789", chat("Hello")));
}

const value = async (series: string): Promise<number | undefined> => (await readMetrics(gateway)).value(series);

const FIRST_TOKEN = 'tollgate_first_token_seconds_count{model="fake-1",upstream="fake"}';

test.each([
  { what: "first tokens, by model and upstream", series: FIRST_TOKEN, want: 2 },
  { what: "added time", series: 'tollgate_overhead_seconds_count{model="fake-1",upstream="fake"}', want: 3 },
  { what: "durations", series: 'tollgate_generation_seconds_count{model="fake-1",upstream="fake"}', want: 3 },
  { what: "refusals of keys", series: 'tollgate_refusals_total{reason="KEY_INVALID",status="401"}', want: 1 },
  { what: "refusals of models", series: 'tollgate_refusals_total{reason="MODEL_UNKNOWN",status="404"}', want: 1 },
  { what: "the money of a named account", series: 'tollgate_account_held_usd{account="acme"}', want: 0 },
  { what: "open holds", series: "tollgate_holds_open", want: 0 },
  { what: "an upstream in use", series: 'tollgate_upstream_up{upstream="fake"}', want: 1 },
  { what: "what runs at an upstream", series: 'tollgate_upstream_running{upstream="fake"}', want: 0 },
  { what: "what waits for the ledger", series: 'tollgate_worker_queue_jobs{worker="ledger"}', want: 0 },
  { what: "the settings in force", series: "tollgate_settings_last_reload_successful", want: 1 },
  { what: "reads of the settings", series: 'tollgate_settings_reloads_total{result="accepted"}', want: 1 },
])("tells of $what", async ({ series, want }) => {
  await expect.poll(() => value(series), PATIENT).toBe(want);
});

test("tells the balance and the budget of an account that the settings name, and of no other", async () => {
  await expect.poll(() => value('tollgate_account_available_usd{account="acme"}'), PATIENT).toBeGreaterThan(1.99);
  expect(await value('tollgate_account_budget_used_ratio{account="acme",period="day"}')).toBeGreaterThanOrEqual(0);
  const { text } = await readMetrics(gateway);
  expect(text).not.toContain('account="nobody"');
  expect(text).not.toContain('period="month"');
});

test("tells each commit of the ledger with its size, and each sync of the disk", async () => {
  const reading = await readMetrics(gateway);
  const batches = reading.value("tollgate_ledger_batch_operations_count");
  expect(batches).toBeGreaterThan(0);
  expect(reading.value("tollgate_ledger_commit_seconds_count")).toBe(batches);
  if (testStore === "sqlite") expect(reading.value("tollgate_ledger_sync_seconds_count")).toBeGreaterThan(0);
  expect(reading.text).toMatch(/^tollgate_build_info\{version="[\d.]+",node="\d+\.\d+\.\d+"\} 1$/m);
});

test("tells that a settings file was refused, until one is in force again", async () => {
  const good = `${settingsFor(upstream.url)}metrics: { accounts: [acme] }\n`;
  gateway.writeSettings(`${good}x: [`);
  await expect.poll(() => value("tollgate_settings_last_reload_successful"), PATIENT).toBe(0);
  expect(await value('tollgate_settings_reloads_total{result="refused"}')).toBe(1);
  gateway.writeSettings(good);
  await expect.poll(() => value("tollgate_settings_last_reload_successful"), PATIENT).toBe(1);
});

describe.runIf(isInstalled)(`with Prometheus${note}`, () => {
  let prometheus: Prometheus;
  beforeAll(async () => {
    prometheus = await startPrometheus(gateway.admin);
  });
  afterAll(() => prometheus.stop());

  test("promtool finds nothing wrong with the metrics' names and form", async () => {
    expect(metricsProblems((await readMetrics(gateway)).text)).toEqual([]);
  });

  test("promtool takes the configuration and the alert rules", () => {
    const { status, stdout, stderr } = promtool(["check", "config", "deploy/prometheus.yaml"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("15 rules found");
  });

  test("each rule is evaluated without an error", async () => {
    await expect
      .poll(async () => (await prometheus.rules()).filter(({ health }) => health !== "ok"), PATIENT)
      .toEqual([]);
    expect(await prometheus.rules()).toHaveLength(15);
  });

  test("each panel of the dashboard has data", async () => {
    // PostgreSQL syncs its disk by itself.
    const isTold = (query: string): boolean => testStore === "sqlite" || !query.includes("tollgate_ledger_sync");
    const queries = panelQueries().filter(({ query }) => isTold(query));
    expect(queries.length).toBeGreaterThan(30);
    let empty = queries;
    const deadline = Date.now() + PATIENT.timeout;
    while (empty.length > 0 && Date.now() < deadline) {
      await makeCalls();
      const answers = await Promise.all(empty.map(({ query }) => prometheus.hasData(query)));
      empty = empty.filter((_, index) => answers[index] !== true);
    }
    expect(empty.map(({ panel, query }) => `${panel}: ${query}`)).toEqual([]);
  });
});

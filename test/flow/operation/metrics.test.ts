/** Metrics of a real run: what operators watch and are woken by. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { readMetrics } from "../../support/metrics-reading.js";
import { testStore } from "../../support/test-store.js";
import { settingsFor } from "../../support/world.js";
import { type MetricsWorld, startMetricsWorld } from "./metrics-world.js";

const PATIENT = { timeout: 60_000, interval: 100 };

let world: MetricsWorld;
beforeAll(async () => {
  world = await startMetricsWorld();
});
afterAll(() => world.close());

const value = async (series: string): Promise<number | undefined> => (await readMetrics(world.gateway)).value(series);

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
  const { text } = await readMetrics(world.gateway);
  expect(text).not.toContain('account="nobody"');
  expect(text).not.toContain('period="month"');
});

test("tells each commit of the ledger with its size, and each sync of the disk", async () => {
  const reading = await readMetrics(world.gateway);
  const batches = reading.value("tollgate_ledger_batch_operations_count");
  expect(batches).toBeGreaterThan(0);
  expect(reading.value("tollgate_ledger_commit_seconds_count")).toBe(batches);
  if (testStore === "sqlite") expect(reading.value("tollgate_ledger_sync_seconds_count")).toBeGreaterThan(0);
  expect(reading.text).toMatch(/^tollgate_build_info\{version="[\d.]+",node="\d+\.\d+\.\d+"\} 1$/m);
});

test("tells that a settings file was refused, until one is in force again", async () => {
  const good = `${settingsFor(world.upstream.url)}metrics: { accounts: [acme] }\n`;
  world.gateway.writeSettings(`${good}x: [`);
  await expect.poll(() => value("tollgate_settings_last_reload_successful"), PATIENT).toBe(0);
  expect(await value('tollgate_settings_reloads_total{result="refused"}')).toBe(1);
  world.gateway.writeSettings(good);
  await expect.poll(() => value("tollgate_settings_last_reload_successful"), PATIENT).toBe(1);
});

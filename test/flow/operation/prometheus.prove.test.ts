/** The metrics of a real run, with the panels and rules of deploy/, tried on a real Prometheus. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { readMetrics } from "../../support/metrics-reading.js";
import {
  metricsProblems,
  panelQueries,
  promtool,
  type Prometheus,
  shippedRuleNames,
  startPrometheus,
} from "../../support/prometheus.js";
import { testStore } from "../../support/test-store.js";
import { type MetricsWorld, startMetricsWorld } from "./metrics-world.js";

const PATIENT = { timeout: 60_000, interval: 100 };

let world: MetricsWorld;
let prometheus: Prometheus;
beforeAll(async () => {
  world = await startMetricsWorld();
  prometheus = await startPrometheus([world.gateway.admin]);
});
afterAll(async () => {
  await prometheus.stop();
  await world.close();
});

test("promtool finds nothing wrong with the metrics' names and form", async () => {
  expect(metricsProblems((await readMetrics(world.gateway)).text)).toEqual([]);
});

test("promtool takes the configuration and the alert rules", () => {
  const { status, stdout, stderr } = promtool(["check", "config", "deploy/prometheus.yaml"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain(`${shippedRuleNames().length} rules found`);
});

test("each rule is evaluated without an error", async () => {
  await expect
    .poll(async () => (await prometheus.rules()).filter(({ health }) => health !== "ok"), PATIENT)
    .toEqual([]);
  expect(await prometheus.rules()).toHaveLength(shippedRuleNames().length);
});

test("each panel of the dashboard has data", async () => {
  // PostgreSQL syncs its disk by itself.
  const isTold = (query: string): boolean => testStore === "sqlite" || !query.includes("tollgate_ledger_sync");
  const queries = panelQueries().filter(({ query }) => isTold(query));
  expect(queries.length).toBeGreaterThan(30);
  let empty = queries;
  const deadline = Date.now() + PATIENT.timeout;
  while (empty.length > 0 && Date.now() < deadline) {
    await world.makeCalls();
    const answers = await Promise.all(empty.map(({ query }) => prometheus.hasData(query)));
    empty = empty.filter((_, index) => answers[index] !== true);
  }
  expect(empty.map(({ panel, query }) => `${panel}: ${query}`)).toEqual([]);
});

/** The page of metrics says what the code registers, and dashboards and rules name nothing else. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { documentedMetrics, metricsPage, seriesNames } from "../support/metrics-page.js";

const PAGE = "docs/metrics.md";
const METRICS = await documentedMetrics();
const NAMES = new Set(METRICS.flatMap(seriesNames));

test("docs/metrics.md lists every metric with its type, labels and help", async () => {
  const text = readFileSync(PAGE, "utf8");
  if (process.env["TOLLGATE_METRICS_PAGE"] === "write") writeFileSync(PAGE, await metricsPage(text));
  else expect(text, "run npm run docs:metrics").toBe(await metricsPage(text));
});

test.each(METRICS.filter(({ name }) => name.startsWith("tollgate_")))(
  "$name is named by Prometheus's conventions",
  ({ name, type, labels, help }) => {
    expect(name).toMatch(/^tollgate_[a-z]+(_[a-z]+)*$/);
    expect(name.endsWith("_total")).toBe(type === "counter");
    // Base units: a time is in seconds, a share a ratio, and nothing is in thousandths or millionths.
    expect(name).not.toMatch(/_(ms|millis|milliseconds|percent|nanos|minutes|kib|mib)(_|$)/);
    expect(help).toMatch(/\.$/);
    for (const label of labels) expect(label).toMatch(/^[a-z]+$/);
  },
);

test.each(["deploy/grafana-dashboard.json", "deploy/alert-rules.yaml", "docs/nodes.md", "docs/members.md"])(
  "%s names only metrics that there are",
  (file) => {
    const named = readFileSync(file, "utf8").match(/\b(?:tollgate|nodejs|process)_[a-z_0-9]+\b/g) ?? [];
    expect(named.length).toBeGreaterThan(0);
    const known = new Set([...NAMES, ...METRICS.map(({ name }) => name)]);
    expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
  },
);

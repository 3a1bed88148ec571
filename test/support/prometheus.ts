/** A real Prometheus that reads a gateway, with the rules of `deploy/`, and the queries of the dashboard there. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { z } from "zod";
import { freePort } from "./free-port.mjs";

const SCRAPE_MS = 200;
const RATE_WINDOW = "5s";

export interface Prometheus {
  /** True where the query finds a value that is a number. */
  hasData(query: string): Promise<boolean>;
  rules(): Promise<readonly { readonly name: string; readonly health: string }[]>;
  /** The labels of what fires now. */
  firing(): Promise<readonly Readonly<Record<string, string>>[]>;
  stop(): Promise<void>;
}

const DASHBOARD = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).optional() })),
});
const ANSWER = z.object({
  status: z.literal("success"),
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});
const RULES = z.object({
  data: z.object({
    groups: z.array(z.object({ rules: z.array(z.object({ name: z.string(), health: z.string() })) })),
  }),
});

const FIRING = z.object({
  data: z.object({ alerts: z.array(z.object({ state: z.string(), labels: z.record(z.string(), z.string()) })) }),
});
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** The rules of `deploy/`, with each `for` and each window so many times shorter. */
export function shippedRules(faster: number): string {
  const shorter = (count: string, unit: string): string =>
    `${Math.round((Number(count) * (UNIT_MS[unit] ?? 0)) / faster)}ms`;
  return readFileSync("deploy/alert-rules.yaml", "utf8")
    .replaceAll(/\[(\d+)([smh])\]/g, (_, count: string, unit: string) => `[${shorter(count, unit)}]`)
    .replaceAll(/for: (\d+)([smh])/g, (_, count: string, unit: string) => `for: ${shorter(count, unit)}`);
}

/** The names of the rules of `deploy/`. */
export function shippedRuleNames(): readonly string[] {
  return [...readFileSync("deploy/alert-rules.yaml", "utf8").matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);
}

/** Runs Prometheus's own tool. */
export function promtool(
  args: readonly string[],
  input = "",
): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync("promtool", args, { input, encoding: "utf8" });
  return { status, stdout, stderr };
}

/** What the tool finds wrong with metrics of ours; those of the packages are theirs to name. */
export function metricsProblems(text: string): readonly string[] {
  const { stdout, stderr } = promtool(["check", "metrics"], text);
  return `${stdout}${stderr}`.split("\n").filter((line) => line.startsWith("tollgate_") || line.startsWith("error"));
}

/** Each query of each panel, with the dashboard's variables filled in. */
export function panelQueries(): readonly { readonly panel: string; readonly query: string }[] {
  const { panels } = DASHBOARD.parse(JSON.parse(readFileSync("deploy/grafana-dashboard.json", "utf8")));
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      panel: title,
      query: expr.replaceAll("$__rate_interval", RATE_WINDOW).replaceAll("$instance", ".*"),
    })),
  );
}

export interface PrometheusOptions {
  /** The rules' times and windows are so many times shorter. Default: 1. */
  readonly faster?: number;
  /** How often it reads, and how long it waits for an answer. Default: 200 ms. */
  readonly scrapeMs?: number;
}

/** Reads the operators' addresses of gateways, such as 127.0.0.1:40125. */
export async function startPrometheus(
  admins: readonly string[],
  { faster = 1, scrapeMs = SCRAPE_MS }: PrometheusOptions = {},
): Promise<Prometheus> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-prometheus-"));
  const config = join(directory, "prometheus.yaml");
  const everyMs = `${scrapeMs}ms`;
  writeFileSync(
    config,
    `global: { scrape_interval: ${everyMs}, scrape_timeout: ${everyMs}, evaluation_interval: ${everyMs} }
rule_files: ["rules.yaml"]
scrape_configs: [{ job_name: tollgate, static_configs: [{ targets: ${JSON.stringify(admins)} }] }]
`,
  );
  writeFileSync(join(directory, "rules.yaml"), shippedRules(faster));
  const address = `127.0.0.1:${await freePort()}`;
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${directory}/data`, `--web.listen-address=${address}`];
  const child = spawn("prometheus", args, { stdio: "ignore" });
  await once(child, "spawn");
  const ask = async (path: string): Promise<unknown> => (await fetch(`http://${address}${path}`)).json();
  await vi.waitFor(
    async () => (await fetch(`http://${address}/-/ready`)).status === 200 || Promise.reject(new Error()),
    {
      timeout: 60_000,
      interval: 100,
    },
  );
  return {
    hasData: async (query) => {
      const { data } = ANSWER.parse(await ask(`/api/v1/query?query=${encodeURIComponent(query)}`));
      return data.result.some(({ value: [, text] }) => !Number.isNaN(Number(text)));
    },
    firing: async () =>
      FIRING.parse(await ask("/api/v1/alerts"))
        .data.alerts.filter(({ state }) => state === "firing")
        .map(({ labels }) => labels),
    rules: async () => RULES.parse(await ask("/api/v1/rules")).data.groups.flatMap(({ rules }) => rules),
    stop: async () => {
      child.kill();
      await once(child, "exit");
      rmSync(directory, { recursive: true });
    },
  };
}

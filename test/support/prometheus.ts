/** A real Prometheus that reads a gateway, with the rules of `deploy/`, and the queries of the dashboard there. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { vi } from "vitest";
import { z } from "zod";
import { freePort } from "./free-port.mjs";

const SCRAPE_MS = 200;
const RATE_WINDOW = "5s";

export interface Prometheus {
  /** True where the query finds a value that is a number. */
  hasData(query: string): Promise<boolean>;
  rules(): Promise<readonly { readonly name: string; readonly health: string }[]>;
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

export async function startPrometheus(admin: string): Promise<Prometheus> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-prometheus-"));
  const config = join(directory, "prometheus.yaml");
  const everyMs = `${SCRAPE_MS}ms`;
  writeFileSync(
    config,
    `global: { scrape_interval: ${everyMs}, scrape_timeout: ${everyMs}, evaluation_interval: ${everyMs} }
rule_files: ["${resolve("deploy/alert-rules.yaml")}"]
scrape_configs: [{ job_name: tollgate, static_configs: [{ targets: ["${admin}"] }] }]
`,
  );
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
    rules: async () => RULES.parse(await ask("/api/v1/rules")).data.groups.flatMap(({ rules }) => rules),
    stop: async () => {
      child.kill();
      await once(child, "exit");
      rmSync(directory, { recursive: true });
    },
  };
}

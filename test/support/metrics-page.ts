/** The tables of docs/metrics.md, made from the metrics that the program registers. */
import { Metrics } from "../../src/observe/metrics.js";

export interface DocumentedMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

const START = "<!-- What follows is made from the code: npm run docs:metrics -->";

/** All metrics of a node, by name. */
export async function documentedMetrics(): Promise<readonly DocumentedMetric[]> {
  const metrics = new Metrics();
  metrics.node.build("1.0.0");
  const labels = new Map(metrics.registry.getMetricsAsArray().map((metric) => [metric.name, labelsOf(metric)]));
  return (await metrics.registry.getMetricsAsJSON())
    .map(({ name, help, type }) => ({ name, help, type: String(type), labels: labels.get(name) ?? [] }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The names under which a metric's series stand: a histogram has three. */
export function seriesNames({ name, type }: DocumentedMetric): readonly string[] {
  return type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

/** The page with its tables made anew; what stands before them is written by hand. */
export async function metricsPage(text: string): Promise<string> {
  const [head = ""] = text.split(START);
  const all = await documentedMetrics();
  const own = all.filter(({ name }) => name.startsWith("tollgate_"));
  const others = all.filter(({ name }) => !name.startsWith("tollgate_"));
  return `${head}${START}\n\n## Metrics of the gateway\n\n${table(own)}\n## Metrics of the process\n\n${table(others)}`;
}

function labelsOf(metric: object): readonly string[] {
  const labels: unknown = Reflect.get(metric, "labelNames");
  return Array.isArray(labels) ? labels.map(String) : [];
}

function table(metrics: readonly DocumentedMetric[]): string {
  const lines = metrics.map(({ name, type, labels, help }) => {
    const named = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${named} | ${help.replaceAll("|", "\\|")} |`;
  });
  return ["| name | type | labels | meaning |", "|---|---|---|---|", ...lines, ""].join("\n");
}

/** One reading of a node's metrics. What is compared with each other must come from one: a node goes on between two. */

export class MetricsReading {
  constructor(readonly text: string) {}

  /** The value of one series, with its labels as the page writes them; undefined before it was ever counted. */
  value(series: string): number | undefined {
    const line = this.text.split("\n").find((candidate) => candidate.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  }

  /** All values of a metric, whatever their labels, added up; undefined before it was ever counted. */
  sum(metric: string): number | undefined {
    const lines = this.text.split("\n").filter((line) => /^[^{ ]+/.exec(line)?.[0] === metric);
    if (lines.length === 0) return undefined;
    return lines.reduce((all, line) => all + Number(line.slice(line.lastIndexOf(" "))), 0);
  }
}

export async function readMetrics({ admin }: { readonly admin: string }): Promise<MetricsReading> {
  return new MetricsReading(await (await fetch(`http://${admin}/metrics`)).text());
}

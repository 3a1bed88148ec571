/** Results as tables for people. */

/** @typedef {import("./result.mjs").Result} Result */
/** @typedef {import("./result.mjs").Row} Row */

/** @type {readonly { metric: string, title: string, digits: number }[]} */
const COLUMNS = [
  { metric: "perSecond", title: "requests/s", digits: 0 },
  { metric: "cpuUs", title: "CPU µs/request", digits: 0 },
  { metric: "otherCpuUs", title: "in other threads", digits: 0 },
  { metric: "eventCpuUs", title: "CPU µs/event", digits: 1 },
  { metric: "p50Ms", title: "p50 ms", digits: 2 },
  { metric: "p99Ms", title: "p99 ms", digits: 2 },
  { metric: "addedP50Ms", title: "added p50 ms", digits: 3 },
  { metric: "addedP99Ms", title: "added p99 ms", digits: 3 },
  { metric: "syncP50Ms", title: "disk sync p50 ms", digits: 3 },
  { metric: "startP99Ms", title: "first tenth p99 ms", digits: 2 },
  { metric: "lastP99Ms", title: "last tenth p99 ms", digits: 2 },
  { metric: "startStolen", title: "first tenth stolen %", digits: 1 },
  { metric: "lastStolen", title: "last tenth stolen %", digits: 1 },
  { metric: "p99Growth", title: "p99 growth", digits: 2 },
  { metric: "startRssMb", title: "first tenth MB", digits: 0 },
  { metric: "lastRssMb", title: "last tenth MB", digits: 0 },
  { metric: "readyMs", title: "ready ms", digits: 0 },
  { metric: "idleRssMb", title: "idle MB", digits: 0 },
  { metric: "idleCpuMs", title: "idle CPU ms/s", digits: 0 },
  { metric: "stallMs", title: "longest stall ms", digits: 0 },
  { metric: "heldMs", title: "loop held ms", digits: 1 },
  { metric: "aloneP99Ms", title: "gap p99 alone ms", digits: 1 },
  { metric: "elsewhereP99Ms", title: "gap p99 past it ms", digits: 1 },
  { metric: "besideP99Ms", title: "gap p99 ms", digits: 1 },
  { metric: "rssPeakMb", title: "peak MB", digits: 0 },
];

/**
 * The cells of a result's table, its head first.
 * @param {Result} result
 * @returns {string[][]}
 */
export function tableOf({ rows, base, ratioOf }) {
  const columns = COLUMNS.filter(({ metric }) => rows.some((row) => Number.isFinite(row.medians[metric])));
  const ratioTitle = `${columns.find(({ metric }) => metric === ratioOf)?.title ?? ratioOf} to ${base}`;
  const head = ["", ...columns.map(({ title }) => title), ratioTitle];
  return [
    head,
    ...rows.map((row) => [
      row.subject,
      ...columns.map(({ metric, digits }) => format(row.medians[metric], digits)),
      ratioText(row),
    ]),
  ];
}

/** @param {Row} row */
function ratioText({ medians, ratioRange: [least, most], turns }) {
  const ratio = format(medians["ratio"], 2);
  return turns.length < 2 || ratio === "-" ? ratio : `${ratio} (${format(least, 2)}-${format(most, 2)})`;
}

/**
 * @param {number | undefined} value
 * @param {number} digits
 */
function format(value, digits) {
  return value === undefined || !Number.isFinite(value) ? "-" : value.toFixed(digits);
}

/**
 * @param {string[][]} cells
 * @returns {string}
 */
export function alignedText(cells) {
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  return cells
    .map((row) =>
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  "),
    )
    .join("\n");
}

/**
 * @param {string[][]} cells
 * @returns {string}
 */
export function markdownText([head = [], ...rows]) {
  const rule = head.map((_, at) => (at === 0 ? "---" : "--:"));
  return [head, rule, ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** @param {Result["goals"][number]} goal */
export function goalText({ text, value, holds }) {
  return `${holds ? "holds" : "MISSED"}: ${text}: ${format(value, 2)}`;
}

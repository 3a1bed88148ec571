/** Measures a long run at 70 % of what the subject can: is its last tenth as quick and as small as its first? */
import { readHost, readUsed } from "./process-stats.mjs";
import { takeTurn } from "./measure-load.mjs";
import { median } from "./latency.mjs";

const SHARE = 0.7;
const WINDOWS = 10;
const MEBI = 1024 * 1024;

/**
 * @param {import("./scenarios.mjs").Scenario} scenario
 * @param {readonly import("./subjects.mjs").Subject[]} subjects
 * @param {import("./measure-load.mjs").Charges} charges
 * @param {import("./measure-load.mjs").Tools} tools
 * @returns {Promise<Map<string, Record<string, number>[]>>}
 */
export async function measureSoak(scenario, subjects, charges, tools) {
  const { options } = tools;
  /** @type {Map<string, Record<string, number>[]>} */
  const turns = new Map();
  for (const subject of subjects) {
    const full = [];
    for (let round = 0; round < 3; round++)
      full.push(await takeTurn(scenario, subject, charges, tools, Math.max(options.warmSeconds, options.seconds)));
    const perSecond = Math.floor(SHARE * median(full.slice(1).map((turn) => turn.perSecond)));
    const windowSeconds = options.soakSeconds / WINDOWS;
    /** @type {number[]} */
    const resident = [];
    const host = [readHost()];
    const timer = setInterval(() => {
      resident.push(readUsed(subject.pids).rssBytes / MEBI);
      host.push(readHost());
    }, windowSeconds * 100);
    const pace = { perSecond, windowSeconds, callers: scenario.callers * 4 };
    const turn = await takeTurn(scenario, subject, charges, tools, options.soakSeconds, pace);
    clearInterval(timer);
    // The last answers may end past the last window.
    const windows = turn.load.windows.slice(0, WINDOWS);
    const firstP99Ms = windows[0]?.p99 ?? Number.NaN;
    const lastP99Ms = windows.at(-1)?.p99 ?? Number.NaN;
    const firstRssMb = median(resident.slice(0, WINDOWS));
    const lastRssMb = median(resident.slice(-WINDOWS));
    turns.set(subject.name, [
      {
        perSecond: turn.perSecond,
        cpuUs: turn.cpuUs,
        p50Ms: turn.p50Ms,
        p99Ms: turn.p99Ms,
        startP99Ms: firstP99Ms,
        lastP99Ms,
        p99Growth: lastP99Ms / firstP99Ms,
        startStolen: stolenPercent(host.slice(0, WINDOWS + 1)),
        lastStolen: stolenPercent(host.slice(-WINDOWS - 1)),
        startRssMb: firstRssMb,
        lastRssMb,
        rssGrowth: lastRssMb / firstRssMb,
        stallMs: turn.stallMs,
      },
    ]);
  }
  return turns;
}

/**
 * Where the host took much more at the end than at the start, the same work met a slower machine.
 * @param {readonly { all: number, stolen: number }[]} host
 */
function stolenPercent(host) {
  const first = host[0];
  const last = host.at(-1);
  if (first === undefined || last === undefined || last.all === first.all) return Number.NaN;
  return (100 * (last.stolen - first.stolen)) / (last.all - first.all);
}

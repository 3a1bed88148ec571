/** Measures how long the start takes and what an idle process keeps resident. */
import { setTimeout as sleep } from "node:timers/promises";
import { readUsed } from "./process-stats.mjs";
import { startSubject } from "./subjects.mjs";

const MEBI = 1024 * 1024;

/**
 * @param {import("./scenarios.mjs").Scenario} scenario
 * @param {readonly string[]} names
 * @param {import("./subjects.mjs").Bench} bench
 * @returns {Promise<Map<string, Record<string, number>[]>>}
 */
export async function measureStart(scenario, names, bench) {
  /** @type {Map<string, Record<string, number>[]>} */
  const turns = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < bench.options.rounds; round++) {
    for (const name of names) {
      const subject = await startSubject(name, bench);
      if ("skipped" in subject) throw new Error(`${scenario.name}, ${name}: ${subject.skipped}`);
      await sleep(bench.options.quick ? 1000 : 3000);
      const idle = readUsed(subject.pids);
      await sleep(1000);
      const later = readUsed(subject.pids);
      turns.get(name)?.push({
        readyMs: subject.readyMs,
        idleRssMb: later.rssBytes / MEBI,
        idleCpuMs: later.cpuMs - idle.cpuMs,
      });
      await subject.stop();
    }
  }
  return turns;
}

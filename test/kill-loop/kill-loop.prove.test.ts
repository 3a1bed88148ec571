/** Kills the gateway under load at every step of money, and proves after each death that nothing is wrong. */
import { expect, test } from "vitest";
import { Lane, type Reached } from "./lane.js";
import { nameOf, planDeaths } from "./plan.js";
import { Progress } from "./progress.js";
import type { Tally } from "./reckoning.js";

const KILLS = Number(process.env["TOLLGATE_KILLS"] ?? 12);
const SEED = Number(process.env["TOLLGATE_KILL_SEED"] ?? Date.now() % 2 ** 31);
/** Gateways that die beside each other: a start leaves a core idle now and then. */
const LANES = Number(process.env["TOLLGATE_KILL_LANES"] ?? 4);
/** Far above what a death takes on a busy machine, which is a few seconds. */
const DEATH_MS_MAX = 30_000;
/** More deaths at most, for failpoints that were missed: what they wait for did not come. */
const REPEATS_MAX = 40;
/** So many problems are enough to look at. */
const PROBLEMS_MAX = 10;

test(`${KILLS} kills, seed ${SEED}`, { timeout: 60_000 + (KILLS + REPEATS_MAX) * DEATH_MS_MAX }, async () => {
  const tally: Tally = {
    calls: 0,
    streamsCut: 0,
    acknowledged: 0,
    recovered: 0,
    lostTokensMost: 0,
    faultLostTokensMost: 0,
    resolveMsMost: 0,
  };
  const reached: Reached = new Map();
  const deaths = planDeaths(KILLS, SEED);
  const planned = new Set(deaths.map(nameOf));
  const problems: string[] = [];
  const progress = new Progress(KILLS, problems);
  let repeats = 0;

  const run = async (name: string): Promise<void> => {
    let lane = await Lane.open(name, { tally, reached });
    /** True where the work found nothing wrong. */
    const isFine = async (when: string, work: Promise<void>): Promise<boolean> => {
      try {
        await work;
        return true;
      } catch (error) {
        const problem = `${when}, data in ${lane.directory}: ${String(error)}`;
        problems.push(problem);
        progress.tell(problem);
        await lane.abandon();
        return false;
      }
    };
    for (let death = deaths.shift(); death !== undefined; death = deaths.shift()) {
      const fine = await isFine(`before ${JSON.stringify(death)}`, lane.die(death));
      progress.died();
      if (problems.length >= PROBLEMS_MAX) break;
      // What went wrong would go wrong after each death that follows.
      if (!fine) lane = await Lane.open(`${name}-${problems.length}`, { tally, reached });
      // A moment that was missed by every death so far is waited for once more, at half as many passes: a busy machine
      // comes less far.
      if (reached.has(nameOf(death)) || repeats >= REPEATS_MAX) continue;
      repeats += 1;
      deaths.push({ ...death, fromPass: Math.ceil(death.fromPass / 2) });
    }
    await isFine("at the end", lane.close());
  };
  await Promise.all(Array.from({ length: Math.min(LANES, KILLS) }, (_, lane) => run(`lane-${lane}`)));

  const told = Object.entries(tally).map(([name, count]) => `${name}: ${count}`);
  const first = `kills: ${KILLS}, repeated: ${repeats}, seed: ${SEED}`;
  console.info([first, ...told, ...[...reached].sort().map(String)].join("\n  "));
  expect(problems).toEqual([]);
  // A loop that misses its moments proves nothing: from 41 kills on the plan holds every failpoint with every action.
  expect([...planned].filter((name) => !reached.has(name))).toEqual([]);
  expect(tally.streamsCut).toBeGreaterThan(0);
  expect(tally.acknowledged).toBeGreaterThan(0);
});

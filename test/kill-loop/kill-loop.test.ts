/** Kills the gateway under load at every step of money, and proves after each death that nothing is wrong. */
import { expect, test } from "vitest";
import { FAILPOINTS } from "../../src/failpoint.js";
import { Lane, type Reached } from "./lane.js";
import { planDeaths } from "./plan.js";
import type { Tally } from "./reckoning.js";

const KILLS = Number(process.env["TOLLGATE_KILLS"] ?? 200);
const SEED = Number(process.env["TOLLGATE_KILL_SEED"] ?? Date.now() % 2 ** 31);
/** Gateways that die beside each other: a start leaves a core idle now and then. */
const LANES = Number(process.env["TOLLGATE_KILL_LANES"] ?? 4);
/** Far above what a death takes on a busy machine, which is a few seconds. */
const DEATH_MS_MAX = 30_000;

test(`${KILLS} kills, seed ${SEED}`, { timeout: 60_000 + KILLS * DEATH_MS_MAX }, async () => {
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
  const run = async (name: string): Promise<void> => {
    const lane = await Lane.open(name, { tally, reached });
    for (let death = deaths.shift(); death !== undefined; death = deaths.shift()) await lane.die(death);
    await lane.close();
  };
  await Promise.all(Array.from({ length: Math.min(LANES, KILLS) }, (_, lane) => run(`lane-${lane}`)));

  const told = Object.entries(tally).map(([name, count]) => `${name}: ${count}`);
  console.info([`kills: ${KILLS}, seed: ${SEED}`, ...told, ...[...reached].sort().map(String)].join("\n  "));
  // A loop that misses its moments proves nothing.
  const expected = KILLS >= 100 ? FAILPOINTS.map((failpoint) => `${failpoint}=kill`) : [];
  for (const name of expected) expect(reached.get(name) ?? 0, name).toBeGreaterThan(0);
  expect(tally.streamsCut).toBeGreaterThan(0);
  expect(tally.acknowledged).toBeGreaterThan(0);
});

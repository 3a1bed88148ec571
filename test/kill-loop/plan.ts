/** Where and when the gateway dies: every failpoint in every way, and plain kills, in an order that a seed decides. */
import { randomOf } from "../support/random.js";
import { FAILPOINTS, type Failpoint } from "../../src/base/failpoint.js";

/** One death. */
export interface Death {
  /** Undefined where the process is killed from outside alone. */
  readonly failpoint: Failpoint | undefined;
  readonly action: "kill" | "throw" | "stall";
  readonly fromPass: number;
  /** When it is killed from outside, where it still lives, in milliseconds of load, or after its failpoint acted. */
  readonly afterMs: number;
}

/** How a death is reported, such as `before_hold=throw`. */
export function nameOf({ failpoint, action }: Death): string {
  return failpoint === undefined ? "kill from outside" : `${failpoint}=${action}`;
}

const ACTIONS = ["kill", "throw", "stall"] as const;
/** Kills from outside, for each turn through the failpoints. */
const PLAIN_KILLS = 5;
/** Passes within about a second of load; the last is drawn evenly from these. */
const PASSES: Readonly<Record<Failpoint, readonly [number, number]>> = {
  before_hold: [1, 20],
  // Holds are waited for until there is a lease: the first of each key.
  after_hold_commit: [1, 3],
  after_admission: [1, 20],
  before_checkpoint: [1, 3],
  after_checkpoint_commit: [1, 3],
  before_settle: [1, 15],
  after_settle_commit: [1, 15],
  before_last_bytes: [1, 15],
  // The start itself commits a few times, and must come so far that the load begins.
  before_commit: [4, 40],
  during_commit: [4, 40],
  after_commit: [4, 40],
  during_recovery: [1, 1],
  after_recovery_commit: [1, 1],
};
/** From outside: early, or after the first notes. */
const AFTER_MS = [50, 1_500] as const;
/** How far behind the first a throw or a stall begins at most: it should go on for a while. */
const EARLY_PASSES = 2;

function earlyOf([low, high]: readonly [number, number]): readonly [number, number] {
  return [low, Math.min(low + EARLY_PASSES, high)];
}

/** So many deaths, spread evenly over all failpoints and ways. */
export function planDeaths(kills: number, seed: number): Death[] {
  const random = randomOf(seed);
  const between = ([low, high]: readonly [number, number]): number => low + Math.floor(random() * (high - low + 1));
  const turn = (): Death[] => [
    ...FAILPOINTS.flatMap((failpoint) =>
      ACTIONS.map((action) => ({
        failpoint,
        action,
        fromPass: between(action === "kill" ? PASSES[failpoint] : earlyOf(PASSES[failpoint])),
        afterMs: between(AFTER_MS),
      })),
    ),
    ...Array.from({ length: PLAIN_KILLS }, () => ({
      failpoint: undefined,
      action: "kill" as const,
      fromPass: 1,
      afterMs: between(AFTER_MS),
    })),
  ];
  const deaths: Death[] = [];
  while (deaths.length < kills) {
    const order = turn().map((death) => ({ death, place: random() }));
    deaths.push(...order.sort((a, b) => a.place - b.place).map(({ death }) => death));
  }
  return deaths.slice(0, kills);
}

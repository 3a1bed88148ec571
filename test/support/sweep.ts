/**
 * How far a search through what could be goes. `npm test`, which is for every change, goes short; `.ci/run` sets
 * TOLLGATE_SWEEP=long for the same tests; TOLLGATE_SWEEP=all is a proof, for tests that a command names.
 */
const SWEEPS = ["short", "long", "all"] as const;
type Sweep = (typeof SWEEPS)[number];

const sweep = sweepOf(process.env["TOLLGATE_SWEEP"] ?? "short");

function sweepOf(asked: string): Sweep {
  const found = SWEEPS.find((one) => one === asked);
  if (found === undefined) throw new Error(`TOLLGATE_SWEEP is one of ${SWEEPS.join(", ")}, not "${asked}"`);
  return found;
}

/** The size for this run. */
export function bySweep<Size>(sizes: Readonly<Record<Sweep, Size>>): Size {
  return sizes[sweep];
}

/** How far apart the places are at which a recorded stream is cut in two, each in turn. */
export const CUT_STEP = bySweep({ short: 17, long: 1, all: 1 });
/** The same of those where it ends too early. */
export const END_STEP = bySweep({ short: 29, long: 7, all: 7 });

/**
 * By which steps a schema was made. A number alone does not tell two builds apart whose schemas were never released:
 * one would serve on the other's tables, and fail at the first column that is not there.
 */
import { digestOf, hexOf } from "./digest.js";

export interface SchemaStep {
  /** The version that it leads to: the first step's is 1, and there is no gap. */
  readonly version: number;
  readonly sql: string;
}

/** What a database keeps of each step. */
export function stepDigests(steps: readonly SchemaStep[]): string[] {
  return steps.map(({ sql }) => hexOf(digestOf(sql)));
}

/**
 * Throws an Error of one line where a database of that version was made by other steps than this program's, as far as
 * this program knows them. `found`: what it keeps of the steps that made it.
 */
export function checkSteps(
  version: number,
  found: readonly string[],
  steps: readonly SchemaStep[],
  refuse: (why: string) => Error,
): void {
  for (const [place, digest] of stepDigests(steps.slice(0, version)).entries())
    if (found[place] !== digest)
      throw refuse(
        `was made by another build, whose schema version ${place + 1} was never released. Keep it for that build, and` +
          " give this one a new one.",
      );
}

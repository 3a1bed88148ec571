/** What a process that is killed while it changes settings objects says of its commits. */
import type { ObjectSet } from "../../src/settings/object.js";

export interface ToldCommit {
  readonly id: string;
  /** The revision that it makes. */
  readonly revision: number;
  /** The resources of its audit records. */
  readonly resources: readonly string[];
  /** The set after it, by `shownSet`. */
  readonly set: string;
}

/** All of a set but its times: blocks, secrets, and the revision of each object. */
export function shownSet({ entries }: ObjectSet): string {
  const shown = [...entries].map(([id, { block, secrets, revision }]) => [id, block, secrets, revision]);
  return JSON.stringify(shown.toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)));
}

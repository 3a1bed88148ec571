/** Which topologies a test file runs over: most run over both in the long form alone. */
import { bySweep } from "./sweep.js";
import { TOPOLOGIES, type Topology } from "./world.js";

/**
 * For files whose subject is not the channel between front end and core. Over the channel,
 * `test/flow/operation/front-end-apart.test.ts` has a case of each of them, in the short form too.
 */
export const SWEPT_TOPOLOGIES: readonly Topology[] = bySweep({
  short: ["one process"],
  long: TOPOLOGIES,
  all: TOPOLOGIES,
});

/**
 * Random searches: `npm test` tries the same cases each time, so that none fails by chance; a long form tries others
 * each time. What fails prints its seed, with which TOLLGATE_SEED tries the same again. No other file imports
 * fast-check (`test/tidy.test.ts`).
 */
import { randomInt } from "node:crypto";
import fc from "fast-check";
import { bySweep } from "./sweep.js";

const NAMED = process.env["TOLLGATE_SEED"];
const drawn = (): number => randomInt(2 ** 31);

/** Of every search of this process. */
export const SEED: number =
  NAMED === undefined ? bySweep({ short: () => 20_261_121, long: drawn, all: drawn })() : Number(NAMED);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });

export { fc };

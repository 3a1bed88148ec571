/** However a request or an answer is spelled, it means the same. `npm run fuzz:formatting` runs more cases. */
import { expect, test } from "vitest";
import { recordingsNote } from "../conformance/recorded.js";
import { answers, requests } from "./corpus.js";
import { runCase } from "./spelled-case.js";
import { SEED } from "../support/seeds.js";
import { bySweep } from "../support/sweep.js";

const CASES = Number(process.env["TOLLGATE_FORMATTING_CASES"] ?? bySweep({ short: 80, long: 800, all: 800 }));
const FIRST = Number(process.env["TOLLGATE_FORMATTING_SEED"] ?? SEED);
const TIME_LIMIT_MS = 120_000 + CASES * 60;
const FAILURES_SHOWN = 12;

const said = `${requests.length} requests and ${answers.length} answers, with ${recordingsNote}`;

test(
  `${CASES} spellings of ${said} make no difference`,
  () => {
    const failures: string[] = [];
    for (let seed = FIRST; seed < FIRST + CASES && failures.length < FAILURES_SHOWN; seed++) {
      try {
        runCase(seed);
      } catch (error) {
        failures.push(`seed ${seed}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
    }
    expect(failures).toEqual([]);
  },
  TIME_LIMIT_MS,
);

/** Percentiles of times are near the exact ones, whichever rows were counted before the others, or came so. */
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import { ChunkBuilder } from "../../src/records/chunk.js";
import { storedTime } from "../../src/records/columns.js";
import { batchOf } from "../../src/records/row-batch.js";
import { SHARES } from "../../src/records/sketch.js";
import { TimeCounts, UsageTimes } from "../../src/records/usage-times.js";
import { rowWith } from "./row.js";

const time = fc.option(fc.double({ min: 0.1, max: 900_000, noNaN: true }), { nil: undefined });
const rows = fc.array(fc.record({ group: fc.nat(4), first: time, total: time }), { minLength: 1, maxLength: 80 });
const GROUPS = [3, 1, 4, 2];
/** Each group as it is, and nobody's. */
const SAME = Int32Array.from({ length: GROUPS.length + 1 }, (_, group) => group);

test("percentiles of every group are at most 2.5 % away from the exact ones", () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 100 }), fc.nat(2), (...given) => {
      // Every second part, or none, is counted before.
      const [some, each, waitingMax, counted] = given;

      const times = new UsageTimes(waitingMax);
      for (let at = 0; at < some.length; at += each) {
        const part = some.slice(at, at + each);
        const builder = new ChunkBuilder(part.length);
        builder.pushBatch(
          batchOf(part.map(({ first, total }) => rowWith({ firstToken: storedTime(first), total: storedTime(total) }))),
        );
        const groups = Int32Array.from(part, ({ group }) => group);
        const { facts } = builder.build();
        if ((at / each) % 2 === counted) times.merge(SAME, TimeCounts.of([{ groups, facts }], GROUPS.length + 1));
        else times.add(groups, GROUPS.length + 1, facts);
      }
      const found = times.of(Int32Array.from(GROUPS));
      for (const [at, group] of GROUPS.entries()) {
        const of = some.filter((row) => row.group === group);
        const near = (all: Float64Array, exact: readonly (number | undefined)[]): void => {
          expectNear([...all.subarray(at * SHARES.length, (at + 1) * SHARES.length)], exact);
        };
        near(
          found.firstTokenMs,
          of.map(({ first }) => first),
        );
        near(
          found.totalMs,
          of.map(({ total }) => total),
        );
      }
    }),
  );
});

function expectNear(found: readonly number[], times: readonly (number | undefined)[]): void {
  const sorted = times.filter((each) => each !== undefined).toSorted((a, b) => a - b);
  for (const [at, share] of SHARES.entries()) {
    const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1];
    const near = found[at] ?? Number.NaN;
    if (exact === undefined) expect(near).toBeNaN();
    // Times are kept in tenths of a millisecond.
    else expect(Math.abs(near - exact)).toBeLessThanOrEqual(exact * 0.0251 + 0.06);
  }
}

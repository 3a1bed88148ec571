/** Those that are under way now. */
import { describe, expect, it } from "vitest";
import { fc } from "../support/seeds.js";
import { Roster, type RosterEntry } from "../../src/base/roster.js";

interface Named extends RosterEntry {
  readonly name: number;
}

describe("a roster", () => {
  it("holds what a set would hold, whatever comes and goes", () => {
    const step = fc.record({ adds: fc.boolean(), which: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const entries: Named[] = Array.from({ length: 10 }, (_, name) => ({ name }));
        const roster = new Roster<Named>();
        const model = new Set<Named>();
        for (const { adds, which } of steps) {
          const entry = entries[which];
          if (entry === undefined) throw new Error("the test is wrong");
          if (adds) roster.add(entry);
          else roster.remove(entry);
          if (adds) model.add(entry);
          else model.delete(entry);
          expect(roster.size).toBe(model.size);
          expect(new Set(roster)).toEqual(model);
        }
      }),
    );
  });

  it("is walked as it was when the walk began", () => {
    const roster = new Roster<Named>();
    for (const name of [1, 2, 3]) roster.add({ name });
    const seen: number[] = [];
    for (const entry of roster) {
      seen.push(entry.name);
      roster.remove(entry);
      roster.add({ name: entry.name + 10 });
    }
    expect(seen).toEqual([1, 2, 3]);
    expect([...roster].map(({ name }) => name).toSorted()).toEqual([11, 12, 13]);
  });
});

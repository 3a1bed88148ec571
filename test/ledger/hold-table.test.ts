/** A table of holds answers as a map of them would, whatever comes and goes in whatever order. */
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import { HoldTable, type TableRow } from "../../src/ledger/hold-table.js";

interface Row extends TableRow<Row> {
  readonly value: number;
}

/** Ids of few signs, of which some share a bucket of the table, and so a chain. */
const SHARED = ["AaAaAaAaAaAaAaAa", "BBBBBBBBBBBBBBBB", "AaBBAaBBAaBBAaBB", "BBAaBBAaBBAaBBAa"];
const id = fc.oneof(fc.constantFrom(...SHARED), fc.string({ maxLength: 20 }), fc.nat(50).map(String));
const step = fc.record({ id, adds: fc.boolean() });

test("as a map does", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const table = new HoldTable<Row>();
      const map = new Map<string, Row>();
      for (const [value, { id: requestId, adds }] of steps.entries()) {
        const known = map.get(requestId);
        if (adds) {
          const row: Row = { requestId, value };
          expect(table.add(row)).toBe(known === undefined);
          if (known === undefined) map.set(requestId, row);
        } else if (known !== undefined) {
          table.remove(known);
          map.delete(requestId);
          expect([known.chained, known.older, known.newer]).toEqual([undefined, undefined, undefined]);
        }
        expect(table.get(requestId)).toBe(map.get(requestId));
        expect([table.size, table.oldest]).toEqual([map.size, map.values().next().value]);
        expect(Array.from(table.values(), (row) => row.value)).toEqual(Array.from(map.values(), (row) => row.value));
      }
      for (const row of map.values()) expect(table.get(row.requestId)).toBe(row);
    }),
    { numRuns: 300, seed: 1 },
  );
});

test("one of a chain goes without the others, wherever it stands in it", () => {
  for (const gone of SHARED) {
    const table = new HoldTable<Row>();
    for (const [value, requestId] of SHARED.entries()) table.add({ requestId, value });
    const row = table.get(gone);
    if (row !== undefined) table.remove(row);
    expect(SHARED.filter((requestId) => table.get(requestId) === undefined)).toEqual([gone]);
    expect(() => row && table.remove(row)).toThrow("is not in the table");
  }
});

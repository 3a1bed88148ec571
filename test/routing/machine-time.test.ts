/** The time of a machine that is paid by the hour, spread over requests. */
import { expect, test } from "vitest";
import { MachineTime, machineNanos } from "../../src/routing/machine-time.js";
import { fc } from "../support/seeds.js";

test("requests that run together share the time; idle time is nobody's", () => {
  const machine = new MachineTime();
  const one = machine.enter(1_000);
  const other = machine.enter(1_600);
  expect(machine.leave(one, 2_000)).toBe(600 + 200);
  expect(machine.leave(other, 2_100)).toBe(200 + 100);
  const later = machine.enter(9_000);
  expect(machine.leave(later, 9_500)).toBe(500);
});

test("the parts of all requests are the time in which any ran", () => {
  const span = fc.record({ startMs: fc.integer({ min: 0, max: 1_000 }), runMs: fc.integer({ min: 0, max: 300 }) });
  fc.assert(
    fc.property(fc.array(span, { maxLength: 20 }), (spans) => {
      const machine = new MachineTime();
      const entered = new Map<number, number>();
      let sumMs = 0;
      let busyMs = 0;
      for (let nowMs = 0; nowMs <= 1_300; nowMs += 1) {
        if (entered.size > 0) busyMs += 1;
        spans.forEach(({ startMs, runMs }, index) => {
          if (startMs === nowMs) entered.set(index, machine.enter(nowMs));
          if (startMs + runMs !== nowMs) return;
          sumMs += machine.leave(entered.get(index) ?? 0, nowMs);
          entered.delete(index);
        });
      }
      expect(sumMs).toBeCloseTo(busyMs, 6);
    }),
  );
});

test("a part costs its share of the hour, rounded up", () => {
  expect(machineNanos(1_800_000, 3_000_000_000n)).toBe(1_500_000_000n);
  expect(machineNanos(0.001, 1n)).toBe(1n);
  expect(machineNanos(0, 1_000_000_000n)).toBe(0n);
});

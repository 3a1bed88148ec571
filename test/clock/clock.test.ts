/** The time that decides days: as the store has it, and between looks as the monotonic clock counts. */
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Clock, type TimeSource } from "../../src/clock/clock.js";

const NOON_MS = Date.UTC(2026, 10, 29, 12);
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** The clocks of the world, which the test moves. */
let monotonicMs: number;
let machineAheadMs: number;
let serverAheadMs: number;
let suspendedMs: number;
/** How long a question and its answer take. */
let tripMs: number;
let isAway: boolean;
let told: string[];

beforeEach(() => {
  monotonicMs = 1_000;
  [machineAheadMs, serverAheadMs, suspendedMs, tripMs, isAway, told] = [0, 0, 0, 0, false, []];
});

const trueMs = (): number => NOON_MS + monotonicMs + suspendedMs;
const machineMs = (): number => trueMs() + machineAheadMs;

const SERVER: TimeSource = {
  kind: "server",
  name: "PostgreSQL",
  read: async () => {
    if (isAway) throw new Error("away");
    monotonicMs += tripMs / 2;
    const readMs = trueMs() + serverAheadMs;
    monotonicMs += tripMs / 2;
    return readMs;
  },
};

async function clockOf(source: TimeSource): Promise<Clock> {
  const tell =
    (level: string) =>
    (_: object, message: string): void =>
      void told.push(`${level}: ${message}`);
  const log = { debug: tell("debug"), info: tell("info"), warn: tell("warn"), error: tell("error") };
  const uptimeMs = (): number => monotonicMs + suspendedMs;
  const clock = await Clock.start({ source, machineMs, monotonicMs: () => monotonicMs, uptimeMs, log });
  onTestFinished(() => clock.close());
  return clock;
}

/** So much time passes, with a look every ten seconds. */
async function pass(clock: Clock, ms: number): Promise<void> {
  for (const endMs = monotonicMs + ms; monotonicMs < endMs;) {
    monotonicMs = Math.min(endMs, monotonicMs + 10_000);
    await clock.look();
  }
}

/** How far the clock is ahead of the time that is true. */
const offMs = (clock: Clock): number => clock.nowMs() - trueMs();

describe("with a database", () => {
  test.each([3 * DAY_MS, -3 * DAY_MS, 40 * DAY_MS])(
    "a machine that is %i ms off has the database's time",
    async (ms) => {
      machineAheadMs = ms;
      const clock = await clockOf(SERVER);
      expect(offMs(clock)).toBe(0);
      expect(clock.skewMs).toBe(ms);
      await pass(clock, 5 * MINUTE_MS);
      expect(offMs(clock)).toBe(0);
      // Once, however often it looks.
      expect(told).toEqual([expect.stringContaining("error: the machine's clock differs")]);
      machineAheadMs = 4_999;
      await pass(clock, 10_000);
      expect(told.at(-1)).toContain("agrees again");
    },
  );

  test("a machine's clock that is set moves nothing, between looks and at them", async () => {
    const clock = await clockOf(SERVER);
    for (const ms of [DAY_MS, -DAY_MS, 3_600_000, 0]) {
      machineAheadMs = ms;
      expect(offMs(clock)).toBe(0);
      await pass(clock, 10_000);
      expect(offMs(clock)).toBe(0);
    }
  });

  test("the time is right within half of what a look takes, and what is within that moves nothing", async () => {
    tripMs = 900;
    const clock = await clockOf({
      kind: "server",
      name: "PostgreSQL",
      read: async () => {
        // All of the trip is on the way back.
        const readMs = trueMs();
        monotonicMs += tripMs;
        return readMs;
      },
    });
    expect(offMs(clock)).toBe(-tripMs / 2);
    tripMs = 950;
    await clock.look();
    expect(offMs(clock)).toBe(-450);
    // A quicker look knows better.
    tripMs = 2;
    await clock.look();
    expect(Math.abs(offMs(clock))).toBeLessThanOrEqual(1);
  });

  test("a clock that is a little fast is corrected without going back", async () => {
    const clock = await clockOf(SERVER);
    serverAheadMs = -1_000;
    let lastMs = clock.nowMs();
    await clock.look();
    for (let step = 0; step < 40; step++) {
      monotonicMs += 100;
      expect(clock.nowMs()).toBeGreaterThan(lastMs);
      lastMs = clock.nowMs();
    }
    expect(offMs(clock)).toBe(-1_000);
    expect(told).toEqual([]);
  });

  test("one that is a little slow is corrected at once", async () => {
    const clock = await clockOf(SERVER);
    serverAheadMs = 1_000;
    await clock.look();
    expect(offMs(clock)).toBe(1_000);
  });

  test.each([DAY_MS, -DAY_MS])(
    "a database whose clock is set by %i ms is followed by all, and that is told",
    async (ms) => {
      const clocks = [await clockOf(SERVER), await clockOf(SERVER)];
      serverAheadMs = ms;
      for (const clock of clocks) {
        await clock.look();
        expect(offMs(clock)).toBe(ms);
      }
      expect(told.filter((line) => line.includes("moved"))).toHaveLength(2);
      expect(told.filter((line) => line.startsWith("error"))).toHaveLength(2);
    },
  );

  test("a database that is away is counted on from, and told of after a minute, once", async () => {
    const clock = await clockOf(SERVER);
    isAway = true;
    machineAheadMs = 1_000;
    await pass(clock, 50_000);
    expect(told).toEqual([]);
    await pass(clock, 10 * MINUTE_MS);
    expect(offMs(clock)).toBe(0);
    expect(clock.lookAgeMs).toBe(650_000);
    expect(told).toEqual([expect.stringContaining("warn: the database's time cannot be read")]);
    isAway = false;
    await pass(clock, 10_000);
    expect(clock.lookAgeMs).toBe(0);
  });

  test("no clock is had of a database that does not answer", async () => {
    isAway = true;
    await expect(clockOf(SERVER)).rejects.toThrow("away");
  });

  test("a machine that was suspended has the time with the next look", async () => {
    const clock = await clockOf(SERVER);
    suspendedMs = 8 * 3_600_000;
    await pass(clock, 10_000);
    expect(offMs(clock)).toBe(0);
  });
});

describe("on the embedded store", () => {
  const MACHINE: TimeSource = { kind: "machine", lastMs: undefined };

  test("a clock that is set ahead is told, and followed once it stood for ten minutes", async () => {
    const clock = await clockOf(MACHINE);
    machineAheadMs = 3 * DAY_MS;
    await pass(clock, 10 * MINUTE_MS);
    expect(offMs(clock)).toBe(0);
    expect(told).toEqual([expect.stringContaining("error: the machine's clock differs")]);
    await pass(clock, 10_000);
    expect(offMs(clock)).toBe(3 * DAY_MS);
    expect(told.slice(1)).toEqual([expect.stringContaining("moved"), expect.stringContaining("agrees again")]);
  });

  test("one that is set again and again is not followed", async () => {
    const clock = await clockOf(MACHINE);
    for (const days of [3, 4, -2, 9]) {
      machineAheadMs = days * DAY_MS;
      await pass(clock, 9 * MINUTE_MS);
      expect(offMs(clock)).toBe(0);
    }
  });

  test("one that is set back never takes the time back: it goes at half speed until they meet", async () => {
    const clock = await clockOf(MACHINE);
    machineAheadMs = -3_600_000;
    await pass(clock, 11 * MINUTE_MS);
    for (let lastMs = clock.nowMs(); clock.skewMs < -1; lastMs = clock.nowMs()) {
      await pass(clock, MINUTE_MS);
      expect(clock.nowMs()).toBeGreaterThanOrEqual(lastMs + MINUTE_MS / 2);
    }
    expect(offMs(clock)).toBe(-3_600_000);
  });

  test("a start behind what the store has seen begins there", async () => {
    const lastMs = trueMs();
    machineAheadMs = -3 * DAY_MS;
    const clock = await clockOf({ kind: "machine", lastMs });
    expect(clock.nowMs()).toBe(lastMs);
    await pass(clock, 2 * MINUTE_MS);
    expect(clock.nowMs()).toBe(lastMs + MINUTE_MS);
    expect(told).toEqual([expect.stringContaining("error: the machine's clock differs")]);
  });

  test("a start after what the store has seen goes by the machine's clock", async () => {
    const clock = await clockOf({ kind: "machine", lastMs: NOON_MS - 40 * DAY_MS });
    expect(offMs(clock)).toBe(0);
  });

  test("time in which the machine was suspended has passed, and nobody is told", async () => {
    const clock = await clockOf(MACHINE);
    suspendedMs = 9 * 3_600_000;
    await pass(clock, 10_000);
    expect(offMs(clock)).toBe(0);
    expect(told).toEqual([]);
  });

  test("what the time service corrects little by little is followed", async () => {
    const clock = await clockOf(MACHINE);
    for (const ms of [200, 900, -300, 4_000]) {
      machineAheadMs = ms;
      await pass(clock, 5 * MINUTE_MS);
      expect(offMs(clock)).toBe(ms);
    }
    expect(told).toEqual([]);
  });
});

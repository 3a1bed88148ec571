/** More requests than a process can work off, on a clock that their work moves: who begins, and who is refused when. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { listeningClock } from "../../../src/base/event-loop/listening-clock.js";
import { RequestQueue } from "../../../src/base/event-loop/request-queue.js";
import type { GatewayError } from "../../../src/base/errors.js";

/** What one request takes: two hundred of them are a second. */
const WORK_MS = 5;
const CAPACITY = 1_000 / WORK_MS;
/** What else a turn of the event loop takes. */
const TURN_MS = 1;
/** The longest that anybody may wait, with the turn in which that is found. */
const LATEST_MS = 1_600;

let nowMs: number;
/** What waits from an earlier test takes no time of another. */
let process: Process;
beforeEach(() => {
  nowMs = 10_000;
  process = new Process();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => void vi.useRealTimers());

interface Ended {
  readonly account: string;
  readonly waitedMs: number;
}

/** A process that is sent requests, each account at its own rate. */
class Process {
  begun: Ended[] = [];
  refused: Ended[] = [];
  heard = 0;
  /** How long the last that was refused was told to wait. */
  toldMs = 0;
  readonly queue = new RequestQueue({ monotonicMs: () => nowMs, onRefused: () => this.heard++ });
  readonly #owed = new Map<string, number>();

  /** Lets time pass, with so many requests a second of each account. */
  async run(seconds: number, perSecond: Readonly<Record<string, number>>): Promise<void> {
    const endMs = nowMs + seconds * 1_000;
    let readMs = nowMs;
    while (nowMs < endMs) {
      const passedMs = nowMs - readMs;
      readMs = nowMs;
      for (const [account, rate] of Object.entries(perSecond)) {
        const owed = (this.#owed.get(account) ?? 0) + (passedMs * rate) / 1_000;
        this.#owed.set(account, owed % 1);
        for (let count = 1; count <= owed; count++) this.comes(account);
      }
      nowMs += TURN_MS;
      await turn();
    }
  }

  comes(account: string, workMs = WORK_MS, onBegun = (): void => undefined): void {
    const sinceMs = nowMs;
    const ended = (): Ended => ({ account, waitedMs: nowMs - sinceMs });
    const start = (): void => {
      this.begun.push(ended());
      if (this !== process) return;
      nowMs += workMs;
      onBegun();
    };
    const refuse = ({ retryAfterMs = 0 }: GatewayError): void => {
      this.refused.push(ended());
      this.toldMs = retryAfterMs;
    };
    if (this.queue.isFree) start();
    else this.queue.push(account, { start, refuse });
  }

  forget(): void {
    [this.begun, this.refused] = [[], []];
  }
}

/** Until what this turn of the event loop brought was worked off, as far as it is. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function of(ended: readonly Ended[], account: string): number {
  return ended.filter((one) => one.account === account).length;
}

const longest = (ended: readonly Ended[]): number => Math.max(0, ...ended.map(({ waitedMs }) => waitedMs));

test("at what it can work off nothing is refused, and hardly anything waits", async () => {
  await process.run(20, { acme: CAPACITY * 0.7 });
  expect(process.refused).toEqual([]);
  expect(process.begun.length).toBeGreaterThan(20 * CAPACITY * 0.65);
  expect(longest(process.begun)).toBeLessThan(60);
});

test("a burst of a second's work is worked off whole", async () => {
  for (let count = 0; count < CAPACITY * 0.9; count++) process.comes("acme");
  await process.run(3, {});
  expect([process.refused.length, process.begun.length]).toEqual([0, CAPACITY * 0.9]);
});

test("what waits while the process is held up is not refused for that", async () => {
  let heldMs = 0;
  const clock = vi.spyOn(listeningClock, "at").mockImplementation((monotonicMs) => monotonicMs - heldMs);
  for (let count = 0; count < 20; count++) process.comes("acme");
  [heldMs, nowMs] = [5_000, nowMs + 5_000];
  await process.run(1, {});
  expect([process.refused, process.begun.length]).toEqual([[], 20]);
  clock.mockRestore();
});

describe("at three times what it can work off", () => {
  test("it works off as much, and refuses the rest soon", async () => {
    await process.run(30, { acme: CAPACITY * 3 });
    expect(process.begun.length).toBeGreaterThan(30 * CAPACITY * 0.75);
    expect(longest(process.refused)).toBeLessThan(LATEST_MS);
    expect(process.heard).toBe(process.refused.length);
    process.forget();
    await process.run(10, { acme: CAPACITY * 3 });
    expect([3_000, 4_000]).toContain(process.toldMs);
    // The queue is short by now: who begins has not waited long, and who is refused neither.
    expect(longest(process.begun)).toBeLessThan(300);
    expect(longest(process.refused)).toBeLessThan(350);
    expect(process.begun.length + process.refused.length).toBeGreaterThan(10 * CAPACITY * 2.8);
  });

  test.each([
    { name: "a trickle", others: 2 },
    { name: "a third of the capacity", others: CAPACITY / 3 },
  ])("an account with $name is refused nothing while another floods", async ({ others }) => {
    await process.run(5, { flood: CAPACITY * 3 });
    process.forget();
    await process.run(30, { flood: CAPACITY * 3, acme: others });
    expect(of(process.refused, "acme")).toBe(0);
    expect(of(process.begun, "acme")).toBeGreaterThan(30 * others * 0.9);
    expect(of(process.begun, "flood")).toBeGreaterThan(30 * (CAPACITY - others) * 0.7);
  });

  test("two that flood have the same, however much more one of them sends", async () => {
    await process.run(20, { flood: CAPACITY * 5, other: CAPACITY });
    const [most, less] = [of(process.begun, "flood"), of(process.begun, "other")];
    expect(most / less).toBeGreaterThan(0.9);
    expect(most / less).toBeLessThan(1.1);
  });

  test("callers whom nobody knows have the share of one account together", async () => {
    await process.run(20, { "": CAPACITY * 5, acme: CAPACITY / 3 });
    expect(of(process.refused, "acme")).toBe(0);
  });

  test("as soon as less comes nothing is refused any more", async () => {
    await process.run(10, { acme: CAPACITY * 3 });
    await process.run(1, { acme: CAPACITY / 2 });
    process.forget();
    await process.run(10, { acme: CAPACITY / 2 });
    expect(process.refused).toEqual([]);
    expect(longest(process.begun)).toBeLessThan(60);
  });
});

test("callers who wait for each answer are refused nothing, however slow the machine is", async () => {
  const sent = (): void => {
    if (process.begun.length + process.queue.size < 2_000) process.comes("acme", 50, sent);
  };
  for (let callers = 0; callers < 24; callers++) sent();
  await process.run(60, {});
  expect(process.refused).toEqual([]);
  expect(longest(process.begun)).toBeGreaterThan(1_000);
});

test("what an account waited for long ago counts no more: a burst is worked off", async () => {
  for (const pauseMs of [0, 30_000, 30_000]) {
    nowMs += pauseMs;
    for (let count = 0; count < CAPACITY / 2; count++) process.comes("acme");
    await process.run(2, {});
  }
  expect([process.refused.length, process.begun.length]).toEqual([0, (3 * CAPACITY) / 2]);
});

test("what runs already has the event loop again after a slice of what begins", async () => {
  for (let count = 0; count < 100; count++) process.comes("acme");
  const first = process.begun.length;
  expect(first).toBeLessThan(10);
  await turn();
  expect(process.begun.length - first).toBeLessThan(10);
  expect(process.queue.size).toBe(100 - process.begun.length);
});

/** What runs already takes a second of each turn, in which so many requests of each account come. */
async function slowTurns(count: number, perTurn: Readonly<Record<string, number>>): Promise<void> {
  for (let index = 0; index < count; index++) {
    nowMs += 1_000;
    // As the timers of the next turn do, before its sockets are read.
    vi.advanceTimersByTime(20);
    for (const [account, requests] of Object.entries(perTurn))
      for (let asked = 0; asked < requests; asked++) process.comes(account);
    await turn();
  }
}

test("a turn that took long once is no overload: what it brings is begun", async () => {
  process.comes("acme");
  await turn();
  await slowTurns(1, { acme: 40 });
  await process.run(2, {});
  expect([process.begun.length, process.refused.length]).toEqual([41, 0]);
});

test("where all turns take long, the account that begins most begins no more", async () => {
  await slowTurns(3, { flood: 40, acme: 1 });
  process.forget();
  for (let index = 0; index < 10; index++) {
    await slowTurns(1, { flood: 40, acme: 1 });
    await slowTurns(2, { flood: 40 });
  }
  expect(of(process.refused, "acme")).toBe(0);
  expect(of(process.refused, "flood")).toBeGreaterThan(30 * 40 * 0.9);
});

test("while connections wait to be accepted, turns are short, and requests begin all the same", async () => {
  const startMs = nowMs;
  let turns = 0;
  for (; turns < 1_000; turns++) {
    process.queue.accepted();
    process.comes("acme");
    nowMs += 1;
    await turn();
  }
  // Half of the time, or a little more, is what begins.
  expect((nowMs - startMs) / turns).toBeLessThan(3);
  expect(process.begun.length).toBeGreaterThan(turns / 8);
});

test("there are never more than so many that wait, and the longest queue pays for it", async () => {
  for (let count = 0; count < 5; count++) process.comes("acme");
  for (let count = 0; count < 10_000; count++) process.comes("flood");
  process.comes("acme");
  expect(process.queue.size).toBeLessThanOrEqual(8_192);
  expect(of(process.refused, "acme")).toBe(0);
  expect(of(process.refused, "flood")).toBeGreaterThan(1_000);
  await process.run(1, {});
  expect(of(process.begun, "acme")).toBe(6);
});

test("code that waits for its turn is told so, or refused", async () => {
  expect(process.queue.enter(() => "acme")).toBeUndefined();
  process.comes("acme", 100);
  const entering = process.queue.enter(() => "acme");
  expect(entering).toBeInstanceOf(Promise);
  await turn();
  await expect(entering).resolves.toBeUndefined();
  process.comes("acme", 100);
  const late = expect(process.queue.enter(() => "acme")).rejects.toMatchObject({
    reason: "ERROR_REASON_OVERLOADED",
  });
  nowMs += 2_000;
  await turn();
  await late;
});

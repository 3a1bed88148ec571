/** What upstreams stream is read in shares: in order, all of it, and with the turns of others between. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Intake } from "../../src/routing/intake.js";

const SHARE_BYTES = 16_384;

interface Read {
  readonly bytes: Buffer[];
  readonly intake: Intake;
  readonly isFull: () => boolean;
}

function reading(onTake: (chunk: Buffer, intake: Intake) => void = () => undefined): Read {
  const bytes: Buffer[] = [];
  let full = false;
  const intake: Intake = new Intake(
    (chunk) => {
      bytes.push(chunk);
      onTake(chunk, intake);
    },
    (isFull) => (full = isFull),
  );
  return { bytes, intake, isFull: () => full };
}

const counted = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, at) => at % 251));

/** How many turns of the loop passed until the work was done. */
async function turnsUntil(isDone: () => boolean): Promise<number> {
  let turns = 0;
  while (!isDone() && turns < 10_000) {
    await nextTurn();
    turns += 1;
  }
  return turns;
}

test("a large read is taken a share a turn, whole and in order", async () => {
  const { bytes, intake, isFull } = reading();
  const all = counted(40 * SHARE_BYTES + 5);
  let ended = false;
  intake.push(all);
  intake.end(() => (ended = true));
  expect([Buffer.concat(bytes).length, isFull(), ended]).toEqual([SHARE_BYTES, true, false]);
  // Whoever waits for a turn of the loop gets as many as there are shares.
  expect(await turnsUntil(() => ended)).toBeGreaterThanOrEqual(39);
  expect(Math.max(...bytes.map(({ length }) => length))).toBeLessThanOrEqual(SHARE_BYTES);
  expect(Buffer.concat(bytes).equals(all)).toBe(true);
  expect(isFull()).toBe(false);
});

test("a chunk that fits into the share is let by, and none overtakes one that waits", async () => {
  const { bytes, intake, isFull } = reading();
  expect([intake.admits(SHARE_BYTES), intake.admits(1)]).toEqual([true, false]);
  intake.push(counted(1));
  expect([bytes.length, intake.admits(1)]).toEqual([0, false]);
  await turnsUntil(() => bytes.length === 1);
  expect([intake.admits(SHARE_BYTES - 1), intake.admits(1), isFull()]).toEqual([true, false, false]);
  intake.hold();
  expect(intake.admits(0)).toBe(false);
});

test("short chunks are taken at once, and many of them in one turn are a large read too", async () => {
  const { bytes, intake, isFull } = reading();
  for (let at = 0; at < 16; at++) intake.push(counted(1_000));
  expect([bytes.length, isFull()]).toEqual([16, false]);
  for (let at = 0; at < 100; at++) intake.push(counted(1_000));
  expect([Buffer.concat(bytes).length, isFull()]).toEqual([SHARE_BYTES, true]);
  await turnsUntil(() => !isFull());
  expect(Buffer.concat(bytes).length).toBe(116_000);
});

test("two floods take turns with each other", async () => {
  const order: string[] = [];
  const first = reading(() => order.push("a"));
  const second = reading(() => order.push("b"));
  first.intake.push(counted(20 * SHARE_BYTES));
  second.intake.push(counted(3 * SHARE_BYTES));
  await turnsUntil(() => order.length === 23);
  // The short one does not wait for the long one.
  expect(order.lastIndexOf("b")).toBeLessThan(8);
});

test("nothing is taken while who reads wants no more, and all of it then", async () => {
  const { bytes, intake } = reading((_chunk, self) => self.hold());
  let ended = false;
  intake.push(counted(10));
  intake.push(counted(20));
  intake.end(() => (ended = true));
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  expect([bytes.length, ended]).toEqual([1, false]);
  intake.release();
  expect([bytes.length, ended]).toEqual([2, false]);
  intake.release();
  expect(ended).toBe(true);
});

test("nothing that waits is taken any more once it is dropped", async () => {
  const { bytes, intake, isFull } = reading();
  intake.push(counted(10 * SHARE_BYTES));
  intake.drop();
  let ended = false;
  intake.end(() => (ended = true));
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  expect([Buffer.concat(bytes).length, ended, isFull()]).toEqual([SHARE_BYTES, false, true]);
});

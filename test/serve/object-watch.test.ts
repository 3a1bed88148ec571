/** A caller who must see what another node committed waits for a look that began after the call, and not for ever. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ObjectWatch } from "../../src/serve/object-watch.js";

/** Looks that a test ends one by one. */
class Looks {
  readonly open: (() => void)[] = [];
  count = 0;
  readonly look = (): Promise<void> => {
    this.count += 1;
    return new Promise((resolve) => void this.open.push(resolve));
  };

  async endFirst(): Promise<void> {
    this.open.shift()?.();
    await vi.advanceTimersByTimeAsync(0);
  }
}

let looks: Looks;
let watch: ObjectWatch;
beforeEach(() => {
  vi.useFakeTimers();
  looks = new Looks();
  watch = new ObjectWatch(looks.look);
});
afterEach(() => {
  watch.close();
  vi.useRealTimers();
});

const noted = (promise: Promise<void>): { isOver: boolean } => {
  const note = { isOver: false };
  void promise.then(() => (note.isOver = true));
  return note;
};

test("those who call while a look runs share the next one, since the running one may have read too early", async () => {
  const first = noted(watch.catchUp());
  const [second, third] = [noted(watch.catchUp()), noted(watch.catchUp())];
  await looks.endFirst();
  expect([first.isOver, second.isOver, third.isOver]).toEqual([true, false, false]);
  await looks.endFirst();
  expect([second.isOver, third.isOver]).toEqual([true, true]);
  expect(looks.count).toBe(2);
});

test("nobody waits longer than a second for a database that is away", async () => {
  const waiting = noted(watch.catchUp());
  await vi.advanceTimersByTimeAsync(999);
  expect(waiting.isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(waiting.isOver).toBe(true);
});

test("it looks twice a second, and never twice at once", async () => {
  watch.start();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(looks.count).toBe(1);
  await looks.endFirst();
  await vi.advanceTimersByTimeAsync(500);
  expect(looks.count).toBe(2);
});

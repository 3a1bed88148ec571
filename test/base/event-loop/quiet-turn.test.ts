/** The moment in which a socket closes: nothing has arrived since the turn before, and the turn was short. */
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { inQuietTurn } from "../../../src/base/event-loop/quiet-turn.js";

test("what arrives turn by turn is waited for", async () => {
  let arrivals = 0;
  let seen = 0;
  const acted = inQuietTurn(
    () => arrivals,
    () => (seen = arrivals),
  );
  for (let count = 0; count < 20; count++) {
    await turn();
    arrivals++;
  }
  await acted;
  expect(seen).toBe(20);
});

test("turns that run for long are waited for, while there is hope of a shorter one", async () => {
  let turns = 0;
  const acted = inQuietTurn(
    () => 0,
    () => undefined,
  );
  void acted.then(() => (turns = -turns));
  for (let count = 0; count < 20; count++) {
    const endMs = performance.now() + 2;
    while (performance.now() < endMs);
    expect(turns).toBeGreaterThanOrEqual(0);
    turns++;
    await turn();
  }
  await acted;
  expect(turns).toBe(-20);
});

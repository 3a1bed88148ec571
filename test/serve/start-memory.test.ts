/** What a start left in memory is given back. */
import { expect, test } from "vitest";
import { giveBackStartMemory } from "../../src/serve/start-memory.js";

test("what nothing holds any more is gone after it, however often it is asked for", async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    const left = new WeakRef({ bytes: Array.from({ length: 1000 }, () => 0) });
    // A WeakRef holds its object until the end of the turn that made it.
    await new Promise((resolve) => setImmediate(resolve));
    await giveBackStartMemory();
    expect(left.deref()).toBeUndefined();
  }
});

/** What was asked of other nodes beside a message counts for one request of the very caller that was let in. */
import { describe, expect, test } from "vitest";
import { UNLIMITED } from "../../../src/limits/limit-decision.js";
import { Admitted } from "../../../src/rpc/call/admitted.js";
import { NOBODY } from "../../../src/rpc/call/callers.js";

const CHANGES = 7;
const ANOTHER = Object.create(NOBODY) as typeof NOBODY;

describe("a caller that was let in", () => {
  const admitted = (): Admitted => new Admitted(NOBODY, "192.0.2.1", CHANGES, UNLIMITED);

  // A machine that stands still for longer than the answer counts is looked at again.
  test("has what was asked of it for its request", async () => {
    await expect.poll(() => admitted().takeDecision(NOBODY, CHANGES)).toBe(UNLIMITED);
  });

  test.each([
    { what: "the second request", taken: NOBODY, caller: NOBODY, changes: CHANGES },
    { what: "a caller who was looked up anew", taken: undefined, caller: ANOTHER, changes: CHANGES },
    { what: "a request after news of a change", taken: undefined, caller: NOBODY, changes: CHANGES + 1 },
  ])("has nothing for $what", ({ taken, caller, changes }) => {
    const one = admitted();
    if (taken !== undefined) one.takeDecision(taken, CHANGES);
    expect(one.takeDecision(caller, changes)).toBeUndefined();
  });
});

/** For which requests a node needs its journal: until the database has each of them, and not for what no disk took. */
import { describe, expect, test } from "vitest";
import { Journal } from "../../src/ledger/journal.js";
import { checkpointOf, holdOf, settleOf } from "./operations.js";

interface Disk {
  readonly journal: Journal;
  /** What the journal did with its file, and whether it said that it is used. */
  readonly did: string[];
  fails: boolean;
}

function disk(): Disk {
  const did: string[] = [];
  const file = {
    hasRoom: true,
    lines: 0,
    append: async () => {
      if (made.fails) throw new Error("ENOSPC");
    },
    clear: () => void did.push("clear"),
  };
  const journal = new Journal({
    file,
    epoch: () => "node_1",
    isAway: () => true,
    onError: (error) => void did.push(String(error)),
    onUse: (isUsed) => void did.push(isUsed ? "used" : "unused"),
  });
  const made: Disk = { journal, did, fails: false };
  return made;
}

const next = (requestId: string) => holdOf({ requestId });

describe("the journal is needed", () => {
  test("from the first request that it has until the database has the last", async () => {
    const { journal, did } = disk();
    await journal.admit(next("r1"));
    await journal.admit(next("r2"));
    expect([journal.size, did]).toEqual([2, ["used"]]);
    journal.held("r1");
    expect([journal.size, did]).toEqual([1, ["used"]]);
    journal.ended("r2");
    expect([journal.size, did]).toEqual([0, ["used", "clear", "unused"]]);
    journal.ended("r2");
    expect(did).toHaveLength(3);
  });

  test("for an end that is only there, though the database has the hold", async () => {
    const { journal } = disk();
    await journal.admit(next("r1"));
    expect(await journal.note(settleOf())).toBe(true);
    journal.held("r1");
    expect(journal.size).toBe(1);
    journal.ended("r1");
    expect(journal.size).toBe(0);
  });

  test("not for a request that the disk did not take", async () => {
    const made = disk();
    made.fails = true;
    await expect(made.journal.admit(next("r1"))).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
    expect([made.journal.size, made.did]).toEqual([0, ["used", "Error: ENOSPC", "clear", "unused"]]);
  });

  test("as before where the disk did not take a later line", async () => {
    const made = disk();
    const { journal } = made;
    await journal.admit(next("r1"));
    made.fails = true;
    expect(await journal.note(checkpointOf())).toBe(false);
    expect(await journal.note(settleOf())).toBe(false);
    expect(journal.size).toBe(1);
    journal.held("r1");
    expect(journal.size).toBe(0);
  });

  test("for no checkpoint after the end", async () => {
    const made = disk();
    await made.journal.note(settleOf());
    made.fails = true;
    expect(await made.journal.note(checkpointOf())).toBe(true);
    expect(made.did).toEqual(["used"]);
  });
});

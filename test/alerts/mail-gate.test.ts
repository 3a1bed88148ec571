/** How many mails the alerts of one account send, and to whom: over a real store, with a clock that the test drives. */
import { expect, test } from "vitest";
import { MailGate } from "../../src/alerts/mail-gate.js";
import { openPeople } from "../identity/people-world.js";
import { onEachStore, openStore } from "../support/stores.js";

const HOUR_MS = 3_600_000;

onEachStore((driver) => {
  test("an account tells its own members, so many times an hour, and takes no other's share", async () => {
    const { store, person, clock } = await openPeople(await openStore(driver));
    const { user } = await person("ann", "member");
    const gate = new MailGate(store, () => clock.nowMs);
    expect(await gate.strangers("acme", [user.email.toUpperCase(), "x@example.com"])).toEqual(["x@example.com"]);
    expect(await gate.strangers("other", [user.email])).toEqual([user.email]);
    expect(await gate.strangers("", ["x@example.com"])).toEqual([]);
    expect(await gate.problemOf("acme", "x@example.com")).toBe("gone");

    const sent = [];
    for (let count = 0; count < 70; count += 1) sent.push(await gate.problemOf("acme", user.email));
    expect(sent.slice(0, 60)).toEqual(Array(60).fill(undefined));
    expect(sent.slice(60).every((told) => typeof told === "object" && told.problem.includes("within the hour"))).toBe(
      true,
    );
    // The operator's own alerts are the operator's to bound.
    expect(await gate.problemOf("", "pager@example.com")).toBeUndefined();
    clock.nowMs += HOUR_MS;
    expect(await gate.problemOf("acme", user.email)).toBeUndefined();
  });
});

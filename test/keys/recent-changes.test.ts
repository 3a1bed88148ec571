/** Changes are told apart by name, in bounded memory: what is not known any more counts as a change. */
import { expect, test } from "vitest";
import { NAMES_MAX, RecentChanges } from "../../src/keys/recent-changes.js";
import { pick, randomOf } from "../support/random.js";

test("as a list of all of them says, whatever comes in whatever order", () => {
  const random = randomOf(245);
  const names = ["key_a", "key_b", "key_c", "account:acme", "account:other"];
  const changes = new RecentChanges();
  const all: (string | undefined)[] = [];
  for (let turn = 0; turn < 3_000; turn += 1) {
    const name = random() < 0.02 ? undefined : pick(random, names);
    changes.add(name);
    all.push(name);
    expect(changes.count).toBe(all.length);
    const since = Math.max(0, all.length - Math.floor(random() * 12));
    const asked = names.filter(() => random() < 0.4);
    const concerned = all.slice(since).some((one) => one === undefined || asked.includes(one));
    expect(changes.mayHaveChanged(asked, since), `${since} of ${all.length}: ${asked.join(" ")}`).toBe(concerned);
  }
});

test("none was before the first", () => {
  expect(new RecentChanges().mayHaveChanged(["key_a"], 0)).toBe(false);
});

test("of more names than are remembered, the oldest count for everybody", () => {
  const changes = new RecentChanges();
  const before = changes.count;
  for (let index = 0; index < NAMES_MAX; index += 1) changes.add(`key_${index}`);
  expect(changes.mayHaveChanged(["key_none"], before)).toBe(false);
  changes.add("key_more");
  expect(changes.mayHaveChanged(["key_none"], before)).toBe(true);
  expect(changes.mayHaveChanged(["key_none"], before + 1)).toBe(false);
  expect(changes.mayHaveChanged(["key_1"], before + 1)).toBe(true);
});

/** Guessing: slowed for strangers, the same for addresses that nobody has, and never at the cost of the person. */
import { expect, test } from "vitest";
import { type Hashing, Passwords } from "../../src/identity/passwords.js";
import { quickHashing } from "../support/quick-hashing.js";
import { openStore, SQLITE } from "../support/stores.js";
import { bySweep } from "../support/sweep.js";
import { act, NO_FACTOR, openPeople, PASSWORD, type PeopleWorld, reasonOf } from "./people-world.js";

/** Within some three hours, however many they are. */
const GUESSING_MS = 10_000_000;
const GUESSES = bySweep({ short: 2_000, long: 10_000, all: 10_000 });

/** Counts its work. */
function countedHashing(): Hashing & { runs: number } {
  const counted: Hashing & { runs: number } = {
    runs: 0,
    hash: (...asked) => ((counted.runs += 1), quickHashing.hash(...asked)),
    verify: (...asked) => ((counted.runs += 1), quickHashing.verify(...asked)),
  };
  return counted;
}

async function open(): Promise<PeopleWorld & { readonly hashing: ReturnType<typeof countedHashing> }> {
  const hashing = countedHashing();
  const world = await openPeople(await openStore(SQLITE), { hashing: () => Promise.resolve(hashing) });
  await world.person("ada");
  return { ...world, hashing };
}

/** Addresses of strangers, each used a few times. */
const stranger = (count: number): string => `198.18.${Math.floor(count / 256) % 256}.${count % 256}`;

test(`${GUESSES} guesses open no account, cost next to no hashing, and keep the person out of nothing`, async () => {
  const { hashing, clock, signIn } = await open();
  const before = hashing.runs;
  const reasons = new Map<string, number>();
  for (let count = 0; count < GUESSES; count++) {
    clock.nowMs += GUESSING_MS / GUESSES;
    const reason = await reasonOf(() => signIn("ada@example.com", `guess ${count}`, "", stranger(count)));
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  expect([...reasons.keys()].sort()).toEqual(["RATE_LIMITED", "SIGN_IN_REFUSED"]);
  // Ten at once, and then one at each doubled wait, up to one in 15 minutes.
  expect(reasons.get("SIGN_IN_REFUSED")).toBeLessThan(50);
  expect(hashing.runs - before).toBeLessThan(50);
  // The person, where she signed in before, while the guessing goes on.
  expect((await signIn("ada@example.com", PASSWORD)).user.email).toBe("ada@example.com");
  // And elsewhere once it pauses for as long as the longest wait.
  expect(await reasonOf(() => signIn("ada@example.com", PASSWORD, "", "203.0.113.77"))).toBe("RATE_LIMITED");
  clock.nowMs += 15 * 60_000;
  expect((await signIn("ada@example.com", PASSWORD, "", "203.0.113.77")).user.email).toBe("ada@example.com");
});

test("an address that the person used before is slowed too where somebody guesses there", async () => {
  const { clock, signIn } = await open();
  const reasons: string[] = [];
  for (let count = 0; count < 100; count++) {
    clock.nowMs += 6_000;
    reasons.push(await reasonOf(() => signIn("ada@example.com", `guess ${count}`)));
  }
  expect(reasons.filter((reason) => reason === "SIGN_IN_REFUSED").length).toBeLessThan(25);
});

test("one address that guesses for many people is slowed by itself", async () => {
  const { signIn, hashing } = await open();
  const before = hashing.runs;
  const reasons: string[] = [];
  for (let count = 0; count < 200; count++)
    reasons.push(await reasonOf(() => signIn(`person-${count}@example.com`, "Winter 2026", "", "198.18.0.1")));
  expect(reasons.filter((reason) => reason === "SIGN_IN_REFUSED")).toHaveLength(60);
  expect(hashing.runs - before).toBeLessThanOrEqual(61);
});

test("a known and an unknown address are answered alike, guess for guess, after as much hashing", async () => {
  const { signIn, clock, hashing } = await open();
  // What a password is compared with where nobody has one is made once.
  await reasonOf(() => signIn("first@example.com", "x", "", "198.18.9.9"));
  const told = async (email: string, from: number): Promise<readonly [string, number][]> => {
    const answers: [string, number][] = [];
    // Nothing that was before counts any more.
    clock.nowMs += 120_000;
    for (let count = 0; count < 40; count++) {
      clock.nowMs += 5_000;
      const before = hashing.runs;
      const reason = await reasonOf(() => signIn(email, "a wrong password", "", stranger(from + count)));
      answers.push([reason, hashing.runs - before]);
    }
    return answers;
  };
  expect(await told("ada@example.com", 0)).toEqual(await told("nobody@example.com", 1_000));
});

test("whoever is signed in may change the password while strangers guess", async () => {
  const world = await open();
  const ada = await world.signIn("ada@example.com");
  for (let count = 0; count < 30; count++)
    await reasonOf(() => world.signIn("ada@example.com", "x", "", stranger(count)));
  const { open: session } = await world.caller(ada);
  await world.identity.prove(session, PASSWORD, NO_FACTOR, act());
});

test("a password is kept as OWASP asks: argon2id with 19 MiB and two passes", async () => {
  const passwords = new Passwords();
  const kept = await passwords.hash(PASSWORD);
  expect(kept).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await passwords.verify(kept, PASSWORD)).toBe(true);
  expect(await passwords.verify(kept, `${PASSWORD}.`)).toBe(false);
  expect(await passwords.verify(undefined, PASSWORD)).toBe(false);
});

/** What is kept for accounts: each keeps what it has up to an equal share, whatever the others do. */
import { fc } from "../../support/seeds.js";
import { expect, test } from "vitest";
import { BytePool, type Pooled } from "../../../src/base/bytes/byte-pool.js";
import { Shares } from "../../../src/gateway/replay/shares.js";

/** An answer of a pool, as a tape is one. */
class Answer implements Pooled {
  bytes = 0;
  released = false;

  constructor(
    readonly pool: BytePool,
    readonly accountId: string,
  ) {}

  grow(bytes: number): boolean {
    const taken = !this.released && this.pool.take(this, bytes);
    if (taken) this.bytes += bytes;
    return taken;
  }

  release(): void {
    this.pool.give(this, this.bytes);
    this.released = true;
  }
}

test("one account may record as much as there is room, until another needs its share", () => {
  const pool = new BytePool(100, () => undefined);
  const many = Array.from({ length: 10 }, () => new Answer(pool, "many"));
  for (const answer of many) expect(answer.grow(10)).toBe(true);
  const one = new Answer(pool, "one");
  expect(one.grow(30)).toBe(true);
  expect(many.map(({ released }) => released)).toEqual([true, true, true, ...Array.from({ length: 7 }, () => false)]);
  // The account with the most takes from nobody.
  expect(new Answer(pool, "many").grow(10)).toBe(false);
  expect(one.released).toBe(false);
});

test("no account loses what lies within its equal share, and the pool never grows over its bound", () => {
  const accounts = ["a", "b", "c", "d"];
  const step = fc.record({
    account: fc.constantFrom(...accounts, "d", "d", "d", "d", "d"),
    bytes: fc.integer({ min: 1, max: 60 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
      let used = 0;
      const pool = new BytePool(400, (bytes) => (used = bytes));
      const answers: Answer[] = [];
      const sumOf = (account: string): number =>
        answers.reduce((sum, one) => sum + (one.accountId === account && !one.released ? one.bytes : 0), 0);
      for (const { account, bytes } of steps) {
        const before = new Map(accounts.map((name) => [name, sumOf(name)]));
        const answer = new Answer(pool, account);
        answers.push(answer);
        const grew = answer.grow(bytes);
        // Nor is anybody refused within it, whoever has the room now.
        if ((before.get(account) ?? 0) + bytes <= 100) expect(grew).toBe(true);
        expect(used).toBeLessThanOrEqual(400);
        for (const [name, had] of before) if (had <= 100) expect(sumOf(name)).toBeGreaterThanOrEqual(had);
      }
    }),
  );
});

test("where too many are kept the account with the most loses its oldest", () => {
  const shares = new Shares<string>(4);
  for (const item of ["x1", "x2", "x3"]) expect(shares.add("x", item)).toBeUndefined();
  expect(shares.add("y", "y1")).toBeUndefined();
  expect(shares.add("y", "y2")).toBe("x1");
  expect(shares.add("x", "x4")).toBe("x2");
  expect([...shares.of("x")]).toEqual(["x3", "x4"]);
  expect([...shares.of("y")]).toEqual(["y1", "y2"]);
  expect(shares.delete("y", "y1")).toBe(true);
  expect([shares.size, shares.has("y", "y1")]).toEqual([3, false]);
});

test("of what is kept nobody loses anything within an equal share, whoever came first", () => {
  // One floods.
  const step = fc.constantFrom("a", "b", "c", "d", "d", "d", "d", "d", "d", "d");
  fc.assert(
    fc.property(fc.array(step, { minLength: 40, maxLength: 80 }), (steps) => {
      const shares = new Shares<string>(20);
      const countOf = (account: string): number => [...shares.of(account)].length;
      for (const [place, account] of steps.entries()) {
        const before = ["a", "b", "c", "d"].map((name) => ({ name, had: countOf(name) }));
        shares.add(account, `${place}`);
        expect(shares.size).toBeLessThanOrEqual(20);
        expect(shares.has(account, `${place}`)).toBe(true);
        for (const { name, had } of before) if (had <= 5) expect(countOf(name)).toBeGreaterThanOrEqual(had);
      }
    }),
  );
});

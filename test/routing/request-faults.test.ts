/** A request that an upstream cannot serve is told so, and takes no target from anybody: swept over all families. */
import { describe, expect, test } from "vitest";
import type { Family } from "../../src/families/family.js";
import { families } from "../../src/families/index.js";
import { inWords, type Refusal } from "../support/refusals.js";
import { Bench, requestOf } from "./refusing-model.js";

/** What upstreams answer to a request that breaks them; no table knows the words. */
const FAULTS: readonly (readonly [status: number, words: string])[] = [
  [500, "Internal Server Error"],
  [500, "list index out of range"],
  [500, "The server had an error while processing your request."],
  [404, "no such thing"],
  [409, "a conflict"],
  [505, "not this version"],
];
const BAD = "bad-thing";
const GOOD = requestOf('"Hello"');
const bad = (sign: string | number) => requestOf(JSON.stringify(`${BAD} ${sign}`));
const onBad =
  (refusal: Refusal) =>
  (body: string): Refusal | undefined =>
    body.includes(BAD) ? refusal : undefined;

function* faultsOf(family: Family): Iterable<readonly [string, Refusal]> {
  for (const [status, words] of FAULTS) yield [`${status} '${words}'`, inWords(family, status, words)];
}

describe.each(families)("$name", (family) => {
  test("a hostile tenant among healthy traffic has its own failures, and nobody else any", async () => {
    for (const [what, refusal] of faultsOf(family))
      for (const isSame of [true, false]) {
        const bench = new Bench(family);
        bench.says = onBad(refusal);
        for (let round = 0; round < 20; round += 1) {
          const asks = [bench.ask("mallory", bad(isSame ? "same" : round)), bench.ask("trent", bad(`${round} too`))];
          await Promise.all([...asks, bench.ask(`tenant ${round % 3}`, GOOD)]);
          expect(await bench.ask(`tenant ${round % 3}`, GOOD), `${what} in round ${round}`).toBeUndefined();
          expect(await bench.ask("mallory", GOOD), `${what} in round ${round}, its own good ones`).toBeUndefined();
        }
        expect(bench.healthOf(0).state(bench.nowMs), what).toBe("healthy");
      }
  });

  test("a request that fails again and again while others are served is told what the upstream said", async () => {
    for (const [what, refusal] of faultsOf(family)) {
      const bench = new Bench(family);
      bench.says = onBad(refusal);
      await bench.ask("alice", GOOD);
      const errors = [];
      for (let round = 0; round < 4; round += 1) {
        errors.push(await bench.ask("mallory", bad("same")));
        await bench.ask("alice", GOOD);
      }
      const before = bench.asked;
      errors.push(await bench.ask("mallory", bad("same")));
      expect(bench.asked, `${what} is tried once by then`).toBe(before + 1);
      expect(errors.at(-1), what).toMatchObject({ http: 400, retry: false });
      expect(errors.at(-1)?.reason).toBe("ERROR_REASON_UPSTREAM_REJECTED");
      expect(errors.at(-1)?.message, what).toMatch(
        refusal.body.toString("utf8").includes("list index") ? /list index/ : /./,
      );
    }
  });

  test("where another target stands it is tried there, once", async () => {
    const [, refusal] = [...faultsOf(family)][0] ?? expect.unreachable();
    const bench = new Bench(family, 4);
    bench.says = onBad(refusal);
    for (const { health } of bench.targets) health.faults.served({ nowMs: 0, token: 1, accountId: "alice" });
    for (let round = 0; round < 3; round += 1) await bench.ask("mallory", bad("same"));
    const before = bench.asked;
    expect(await bench.ask("mallory", bad("same"))).toMatchObject({ http: 400 });
    expect(bench.asked).toBe(before + 2);
    bench.says = (body, place) => (place === 0 ? onBad(refusal)(body) : undefined);
    expect(await bench.ask("mallory", bad("same")), "served by the other").toBeUndefined();
    expect(bench.healthOf(0).state(bench.nowMs)).toBe("healthy");
  });

  test("a server that fails most requests, which another serves then, is ejected all the same", async () => {
    const [, refusal] = [...faultsOf(family)][0] ?? expect.unreachable();
    const bench = new Bench(family, 2);
    bench.says = (body, place) => (place === 0 ? onBad(refusal)(body) : undefined);
    await bench.ask("alice", GOOD);
    let states = "";
    for (let round = 0; round < 40; round += 1) {
      const account = `tenant ${round % 3}`;
      // Others are served while the other target answers the bad one.
      await Promise.all([bench.ask(account, bad(round)), ...(round % 6 === 5 ? [bench.ask(account, GOOD)] : [])]);
      bench.nowMs += 10;
      states += ` ${bench.healthOf(0).state(bench.nowMs)}`;
    }
    expect(states).toMatch(/ (?!healthy)/);
  });

  test("what an upstream says that it lacks is tried once elsewhere, and told", async () => {
    const refusal = inWords(family, 501, "no vectors here");
    const alone = new Bench(family);
    alone.says = refusal;
    expect(await alone.ask("mallory")).toMatchObject({ http: 400, message: "no vectors here" });
    expect(alone.asked).toBe(1);
    const bench = new Bench(family, 3);
    bench.says = refusal;
    expect(await bench.ask("mallory")).toMatchObject({ http: 400, message: "no vectors here" });
    expect(bench.asked).toBe(2);
    for (let round = 0; round < 20; round += 1) for (const account of ["mallory", "trent"]) await bench.ask(account);
    bench.says = undefined;
    expect(await bench.ask("alice")).toBeUndefined();
    expect(bench.healthOf(0).state(bench.nowMs)).toBe("healthy");
  });

  test("a server that breaks is ejected all the same, and its clients are not blamed", async () => {
    for (const [what, refusal] of faultsOf(family)) {
      const bench = new Bench(family, 2);
      for (let round = 0; round < 5; round += 1) await bench.ask(`tenant ${round}`, GOOD);
      bench.says = (_, place) => (place === 0 ? refusal : undefined);
      for (let round = 0; round < 8; round += 1)
        expect(await bench.ask(`tenant ${round}`, requestOf(`"Hello ${round}"`)), what).toBeUndefined();
      expect(bench.healthOf(0).state(bench.nowMs), what).toBe("cooling");
      const alone = new Bench(family);
      await alone.ask("alice", GOOD);
      alone.says = refusal;
      const told = [];
      for (let round = 0; round < 8; round += 1) told.push(await alone.ask(`tenant ${round}`, bad(round)));
      expect(
        told.slice(1).map((error) => error?.retry),
        what,
      ).not.toContain(false);
      expect(alone.healthOf(0).state(alone.nowMs), what).toBe("cooling");
      alone.says = undefined;
      expect(await alone.ask("carol", GOOD), "who has not met it is let in").toBeUndefined();
    }
  });
});

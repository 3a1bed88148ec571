/** What probes are told while the ledger's database is away, and while it does not answer. */
import { expect, test } from "vitest";
import { readinessOf } from "../../src/serve/readiness.js";

function bench(check: () => Promise<void>) {
  const state = { isAway: false, servesByJournal: false, looks: 0, nowMs: 0 };
  const store = {
    check: () => {
      state.looks += 1;
      return check();
    },
  };
  return { state, isReady: readinessOf({ store, outage: state, ledger: state, monotonicMs: () => state.nowMs }) };
}

test.each([
  { name: "the database is there", isAway: false, servesByJournal: false, ready: true },
  {
    name: "the database is away, and leases live that the journal serves",
    isAway: true,
    servesByJournal: true,
    ready: true,
  },
  { name: "the database is away, and no lease is left", isAway: true, servesByJournal: false, ready: false },
])("where $name, ready is $ready", async ({ isAway, servesByJournal, ready }) => {
  const { state, isReady } = bench(() => (isAway ? Promise.reject(new Error("away")) : Promise.resolve()));
  Object.assign(state, { isAway, servesByJournal });
  expect(await isReady()).toBe(ready);
});

test("probes that come while the database does not answer share one look, and are answered", async () => {
  const { state, isReady } = bench(() => new Promise(() => undefined));
  expect(await Promise.all([isReady(), isReady(), isReady()])).toEqual([true, true, true]);
  expect(await isReady()).toBe(true);
  state.isAway = true;
  expect(await isReady()).toBe(false);
  expect(state.looks).toBe(1);
});

test("a database that neither answers nor fails is away after five seconds", async () => {
  const { state, isReady } = bench(() => new Promise(() => undefined));
  expect(await isReady()).toBe(true);
  state.nowMs = 4_999;
  expect(await isReady()).toBe(true);
  state.nowMs = 5_000;
  expect(await isReady()).toBe(false);
  state.servesByJournal = true;
  expect(await isReady()).toBe(true);
});

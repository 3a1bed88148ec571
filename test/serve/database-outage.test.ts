/** An outage of the ledger's database is logged once when it begins and once when it ends, whatever fails meanwhile. */
import { expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import type { Log } from "../../src/observe/log.js";
import { DatabaseOutage, type Writes } from "../../src/serve/database-outage.js";

const away = (): GatewayError =>
  new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause: new Error("connect ECONNREFUSED") });
const BEAT = { kind: "beat", nodeId: "node_1", nowMs: 0, isLast: false } as const;

function bench() {
  const lines: string[] = [];
  const write = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${message}${"problem" in fields ? `: ${String(fields.problem)}` : ""}`);
  const log: Log = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  let timeMs = 0;
  let failure: Error | undefined;
  const outage = new DatabaseOutage(log, () => timeMs);
  const ends = <Result>(result: Result): Promise<Result> =>
    failure === undefined ? Promise.resolve(result) : Promise.reject(failure);
  const store = outage.watch<Writes>({ ledger: { commit: () => ends([]) }, check: () => ends(undefined) });
  return {
    lines,
    outage,
    store,
    pass: (ms: number) => (timeMs += ms),
    fail: (error: Error | undefined) => (failure = error),
  };
}

test("an outage has one line at its start and one at its end, and its stacks are for level debug", async () => {
  const { lines, outage, store, fail, pass } = bench();
  await store.ledger.commit([BEAT]);
  fail(away());
  for (let calls = 0; calls < 3; calls += 1) {
    await expect(store.ledger.commit([BEAT])).rejects.toThrow();
    await expect(store.check()).rejects.toThrow();
    outage.log.error({ err: away() }, "the node's lease was not kept");
    outage.log.warn({ err: away() }, "last uses of keys could not be written");
  }
  expect(outage.isAway).toBe(true);
  fail(undefined);
  pass(42_000);
  await store.check();
  await store.ledger.commit([BEAT]);
  expect(outage.isAway).toBe(false);
  expect(lines.filter((line) => !line.startsWith("debug"))).toEqual([
    "error the ledger's database takes no writes: calls that cost money get 503 LEDGER_UNAVAILABLE: connect ECONNREFUSED",
    "warn the ledger's database takes writes again",
  ]);
  fail(away());
  await expect(store.check()).rejects.toThrow();
  expect(lines.filter((line) => line.startsWith("error"))).toHaveLength(2);
});

test("what is not of an outage is logged as it is, also while one lasts", async () => {
  const { lines, outage, store, fail } = bench();
  outage.log.error({ err: away() }, "before any write failed");
  fail(new GatewayError("ERROR_REASON_INTERNAL"));
  await expect(store.ledger.commit([BEAT])).rejects.toThrow();
  expect(outage.isAway).toBe(false);
  fail(away());
  await expect(store.ledger.commit([BEAT])).rejects.toThrow();
  outage.log.error({ err: new Error("something else") }, "another fault");
  outage.log.info({}, "a change");
  expect(lines.filter((line) => !line.includes("takes no writes"))).toEqual([
    "error before any write failed: connect ECONNREFUSED",
    "error another fault",
    "info a change",
  ]);
});

/** The log of a request's attempts comes back as it was written, and stays small. */
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import { type Attempt, decodeAttempts, decodeServed, encodeAttempts } from "../../src/ledger/attempt-log.js";

const RECORDED = { upstream: "first", model: "gpt-1" };
const PLAIN: Attempt = {
  ...RECORDED,
  reason: "",
  status: 200,
  startMs: 1,
  durationMs: 20,
  firstBatchMs: 5,
  failureMessage: "",
};

const name = fc.oneof(fc.constantFrom("first", "gpt-1"), fc.string({ minLength: 1, maxLength: 256, unit: "binary" }));
const whole = fc.nat();
const attempt: fc.Arbitrary<Attempt> = fc.record({
  upstream: name,
  model: name,
  reason: fc.constantFrom("", "ERROR_REASON_UPSTREAM_FAILED"),
  status: fc.constantFrom(0, 200, 503),
  startMs: whole,
  durationMs: whole,
  firstBatchMs: fc.option(whole),
  failureMessage: fc.oneof(fc.constant(""), fc.string({ maxLength: 500, unit: "binary" })),
});

test("any attempts come back as they were", () => {
  const check = (attempts: readonly Attempt[]): void => {
    expect(decodeAttempts(encodeAttempts(attempts, RECORDED), RECORDED)).toEqual(attempts);
  };
  fc.assert(fc.property(fc.array(attempt, { maxLength: 16 }), check), { numRuns: 500 });
});

test("how the answer was served comes back with its attempt, and takes no room where it says nothing new", () => {
  const served = { model: "gpt-1-2026", serviceTier: "priority", toolUses: [{ name: "web_search", calls: 3n }] };
  const log = encodeAttempts([PLAIN, PLAIN], RECORDED, served);
  expect(decodeServed(log, RECORDED)).toEqual(served);
  expect(decodeAttempts(log, RECORDED)).toEqual([PLAIN, PLAIN]);
  const nothingNew = { model: "", serviceTier: "", toolUses: [] };
  const plain = encodeAttempts([PLAIN], RECORDED, nothingNew);
  expect(plain).toBe(encodeAttempts([PLAIN], RECORDED));
  expect(decodeServed(plain, RECORDED)).toEqual({ ...nothingNew, model: RECORDED.model });
  expect(decodeServed(encodeAttempts([{ ...PLAIN, reason: "x" }], RECORDED), RECORDED)).toBeUndefined();
  expect(decodeServed("", RECORDED)).toBeUndefined();
  const failed = { ...PLAIN, reason: "x", failureMessage: "no such model" };
  const both = encodeAttempts([failed], RECORDED, served);
  expect([decodeServed(both, RECORDED), decodeAttempts(both, RECORDED)]).toEqual([served, [failed]]);
});

test("one that answered takes few characters, since its record has its names", () => {
  expect(encodeAttempts([PLAIN], RECORDED)).toBe('[["","","",200,1,20,5]]');
});

test("times are whole milliseconds, never below zero", () => {
  const given = { ...PLAIN, startMs: -0.2, durationMs: 20.6, firstBatchMs: 4.4 };
  const log = encodeAttempts([given], RECORDED);
  expect(decodeAttempts(log, RECORDED)).toEqual([{ ...PLAIN, startMs: 0, durationMs: 21, firstBatchMs: 4 }]);
});

test("more and longer than it keeps: the newest sixteen, with their names cut", () => {
  const long = "n".repeat(300);
  const many = Array.from({ length: 20 }, (_, startMs) => ({ ...PLAIN, model: long, startMs }));
  const kept = decodeAttempts(encodeAttempts(many, RECORDED), RECORDED);
  expect(kept?.map(({ startMs }) => startMs)).toEqual(Array.from({ length: 16 }, (_, index) => index + 4));
  expect(kept?.[0]?.model).toBe("n".repeat(256));
});

test.each(["{", "{}", "[[]]", '[["","","",200,1,20]]', '[["","","",200,-1,20,5]]', '[["","","",200,1,20,"5"]]'])(
  "%s is no log",
  (log) => {
    expect(decodeAttempts(log, RECORDED)).toBeUndefined();
  },
);

/** What of an answer is held back: an opening until the first output, or all of it until its end. */
import { expect, test } from "vitest";
import type { Event } from "../../src/api/index.js";
import { GatewayError } from "../../src/errors.js";
import { HeldBack } from "../../src/routing/held-back.js";
import type { Batch } from "../../src/wire/wire.js";

const event = (text: string): Event => ({ kind: { $case: "text", value: { candidate: 0, text } } });
const batch = (source: string, visible: boolean, events: Event[] = []): Batch => ({
  events,
  source: Buffer.from(source),
  visible,
  error: undefined,
});

test("an opening goes out in front of the first output", () => {
  const held = new HeldBack(false);
  expect(held.take(batch("role ", false))).toBeUndefined();
  expect(held.take(batch("ping ", false))).toBeUndefined();
  expect(held.take(batch("word", true))?.source.toString()).toBe("role ping word");
});

test("the first output alone goes out as it is", () => {
  const first = batch("word", true);
  expect(new HeldBack(false).take(first)).toBe(first);
});

test.each([
  { name: "too many bytes", bytes: 40_000, events: 0 },
  { name: "too many events", bytes: 1, events: 40 },
])("an opening of $name goes out, whatever it is", ({ bytes, events }) => {
  const held = new HeldBack(false);
  const part = batch(
    "x".repeat(bytes),
    false,
    Array.from({ length: events }, () => event("a")),
  );
  expect(held.take(part)).toBeUndefined();
  const out = held.take(part);
  expect(out?.source.length).toBe(2 * bytes);
  expect(out?.events.length).toBe(2 * events);
});

test("an answer that is an opening alone is the answer at its end, and nothing is none", () => {
  const held = new HeldBack(false);
  expect(held.end()).toBeUndefined();
  held.take(batch("role", false));
  expect(held.end()).toMatchObject({ source: Buffer.from("role"), visible: true });
});

test("an error before the first output is no part of the answer", () => {
  const held = new HeldBack(false);
  const error = new GatewayError("ERROR_REASON_UPSTREAM_FAILED");
  expect(held.take({ ...batch("data: error", true), error })).toBeUndefined();
  expect(held.end()).toBeUndefined();
});

test("what is wanted whole comes as one batch, of nothing too", () => {
  const held = new HeldBack(true);
  expect(held.take(batch("", true, [event("a")]))).toBeUndefined();
  expect(held.take(batch("", true, [event("b")]))).toBeUndefined();
  expect(held.end()?.events).toEqual([event("a"), event("b")]);
  expect(new HeldBack(true).end()).toMatchObject({ events: [], visible: true });
});

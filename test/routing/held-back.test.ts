/** What of an answer is held back: an opening until the first output, or all of it until its end. */
import { expect, test } from "vitest";
import type { Event } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { Deadline, REQUEST_TIMEOUTS } from "../../src/routing/deadline.js";
import { GatheredSteps } from "../../src/routing/gathered-steps.js";
import { HeldBack } from "../../src/routing/held-back.js";
import { wire } from "../../src/wire/openai-chat/index.js";
import type { Batch, WireRequest } from "../../src/wire/wire.js";

const asked = (): WireRequest =>
  wire.readRequest({
    wire: "openai-chat",
    body: Buffer.from('{"model":"m","messages":[{"role":"user","content":"hi"}]}'),
    headers: {},
  });
const event = (text: string): Event => ({ kind: { $case: "text", value: { candidate: 0, text } } });
const batch = (source: string, visible: boolean, events: Event[] = []): Batch => ({
  events,
  source: Buffer.from(source),
  visible,
  error: undefined,
});

test("an opening goes out in front of the first output", () => {
  const held = new HeldBack();
  expect(held.take(batch("role ", false))).toBeUndefined();
  expect(held.take(batch("ping ", false))).toBeUndefined();
  expect(held.take(batch("word", true))?.source.toString()).toBe("role ping word");
});

test("the first output alone goes out as it is", () => {
  const first = batch("word", true);
  expect(new HeldBack().take(first)).toBe(first);
});

test.each([
  { name: "too many bytes", bytes: 40_000, events: 0 },
  { name: "too many events", bytes: 1, events: 40 },
])("an opening of $name goes out, whatever it is", ({ bytes, events }) => {
  const held = new HeldBack();
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
  const held = new HeldBack();
  expect(held.end()).toBeUndefined();
  held.take(batch("role", false));
  expect(held.end()).toMatchObject({ source: Buffer.from("role"), visible: true });
});

test("an error before the first output is no part of the answer", () => {
  const held = new HeldBack();
  const error = new GatewayError("ERROR_REASON_UPSTREAM_FAILED");
  expect(held.take({ ...batch("data: error", true), error })).toBeUndefined();
  expect(held.end()).toBeUndefined();
});

const deadline = new Deadline(performance.now(), Infinity, REQUEST_TIMEOUTS);
const WHOLE = { request: asked(), accountId: "acme", deadline, long: undefined };

test("what is wanted whole comes as one batch, of nothing too", () => {
  const held = new HeldBack(new GatheredSteps({ ...WHOLE, acceptWire: "openai-chat" }));
  expect(held.take(batch("", true, [event("a")]))).toBeUndefined();
  expect(held.take(batch("", true, [event("b")]))).toBeUndefined();
  expect(held.end()).toMatchObject({ events: [event("a"), event("b")] });
  const empty = new HeldBack(new GatheredSteps({ ...WHOLE, acceptWire: "" }));
  expect(empty.end()).toMatchObject({ events: [], visible: true });
});

test("what is wanted whole in steps, and is long, is made of steps again in turns, up to 8 MiB", async () => {
  const held = new HeldBack(new GatheredSteps({ ...WHOLE, acceptWire: "" }));
  const events = Array.from({ length: 30 }, (_, at) => event(`${at} `.repeat(20_000)));
  for (const one of events) held.take(batch("", true, [one]));
  const ending = held.end();
  expect(ending).toBeInstanceOf(Promise);
  expect((await ending)?.events).toEqual(events);
  const longer = new HeldBack(new GatheredSteps({ ...WHOLE, acceptWire: "" }));
  for (let at = 0; at < 9; at++) longer.take(batch("", true, [event("a".repeat(1024 * 1024))]));
  await expect(longer.end()).rejects.toMatchObject({ reason: "ERROR_REASON_UPSTREAM_FAILED" });
});

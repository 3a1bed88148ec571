/** A dropped upstream closes once what runs there has ended, and no later than a request may last. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openaiCompatible } from "../../src/families/openai-compatible.js";
import { UpstreamHealth } from "../../src/routing/upstream-health.js";
import type { ServedUpstream } from "../../src/routing/model.js";
import { Retirement } from "../../src/routing/retirement.js";

const BOUND_MS = 660_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** An upstream that only knows whether it was closed. */
function make(closed: string[], id: string): ServedUpstream {
  const upstream = {
    send: () => expect.unreachable("nothing is sent here"),
    close: () => Promise.resolve(void closed.push(id)),
  };
  const rest = { baseUrl: "", headers: {}, credential: undefined, health: new UpstreamHealth() };
  return { id, family: openaiCompatible, upstream, ...rest };
}

test("one with nothing running closes after a pause in which a request could have tried again", () => {
  const closed: string[] = [];
  const retirement = new Retirement(BOUND_MS);
  retirement.add(make(closed, "idle"));
  vi.advanceTimersByTime(9_000);
  expect(closed).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(closed).toEqual(["idle"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("one that is busy closes after its last answer has ended, each by itself", () => {
  const closed: string[] = [];
  const retirement = new Retirement(BOUND_MS);
  const [busy, idle] = [make(closed, "busy"), make(closed, "idle")];
  const target = busy.health.of("model");
  target.begin(0, "acme");
  target.begin(0, "acme");
  for (const served of [busy, idle]) retirement.add(served);
  vi.advanceTimersByTime(300_000);
  target.end();
  vi.advanceTimersByTime(60_000);
  expect(closed).toEqual(["idle"]);
  target.end();
  vi.advanceTimersByTime(10_000);
  expect(closed).toEqual(["idle", "busy"]);
});

test("one that never ends is cut at the bound", () => {
  const closed: string[] = [];
  const retirement = new Retirement(BOUND_MS);
  const stuck = make(closed, "stuck");
  stuck.health.of("model").begin(0, "acme");
  retirement.add(stuck);
  vi.advanceTimersByTime(BOUND_MS - 1_000);
  expect(closed).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(closed).toEqual(["stuck"]);
});

test("all close at once where the gateway ends", async () => {
  const closed: string[] = [];
  const retirement = new Retirement(BOUND_MS);
  for (const id of ["one", "two"]) retirement.add(make(closed, id));
  await retirement.close();
  expect(closed).toEqual(["one", "two"]);
  expect(vi.getTimerCount()).toBe(0);
});

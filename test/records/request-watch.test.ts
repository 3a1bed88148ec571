/** Who watches requests is told what passes the filter, in its order, and how many it missed. */
import { describe, expect, test } from "vitest";
import { Cancellation } from "../../src/base/cancellation.js";
import { GatewayError } from "../../src/base/errors.js";
import type { RecordFilter } from "../../src/records/filter.js";
import { RequestFeed } from "../../src/records/request-record.js";
import { RequestWatch } from "../../src/records/request-watch.js";

const ALL: RecordFilter = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, names: {} };
const LEFT = new GatewayError("ERROR_REASON_CANCELLED");

function openFeed(): { feed: RequestFeed; end(id: string, failure?: GatewayError, model?: string): void } {
  const feed = new RequestFeed({ nowMs: () => 5, onError: (error) => expect.unreachable(String(error)) });
  const end = (id: string, failure?: GatewayError, model = "m"): void => {
    const record = feed.begin(id, "/some", { "x-tollgate-tags": "team=a", "x-tollgate-user": "ann" });
    record.model = model;
    record.askedBy({ accountId: "acme", keyId: "k" }, "192.0.2.1");
    record.end(failure);
  };
  return { feed, end };
}

interface Watching {
  readonly ids: string[];
  readonly missed: number[];
  end(): Promise<void>;
}

function watching(watch: RequestWatch, filter: RecordFilter, wait?: () => Promise<void> | undefined): Watching {
  const signal = new Cancellation();
  const ids: string[] = [];
  const missed: number[] = [];
  const over = watch.watch(filter, signal, (rows, missedCount) => {
    ids.push(...rows.map(({ id }) => id));
    if (missedCount > 0) missed.push(missedCount);
    return wait?.();
  });
  over.catch(() => undefined);
  return {
    ids,
    missed,
    end: async () => {
      signal.abort(LEFT);
      await expect(over).rejects.toBe(LEFT);
    },
  };
}

describe("a watcher", () => {
  test.each<{ name: string; filter: Partial<RecordFilter>; want: string[] }>([
    { name: "everything", filter: {}, want: ["req_1", "req_2", "req_3"] },
    { name: "a model", filter: { names: { model: "other" } }, want: ["req_3"] },
    { name: "a reason", filter: { names: { reason: "RATE_LIMITED" } }, want: ["req_2"] },
    { name: "a status", filter: { statusMin: 429, statusMax: 429 }, want: ["req_2"] },
    { name: "a class of statuses", filter: { statusMin: 500, statusMax: 599 }, want: [] },
    { name: "what failed", filter: { isFailed: true }, want: ["req_2"] },
    { name: "a tag", filter: { tag: "team=a" }, want: ["req_1", "req_2", "req_3"] },
    { name: "another tag", filter: { tag: "team" }, want: [] },
    { name: "an end user", filter: { names: { endUser: "bob" } }, want: [] },
    { name: "another account", filter: { names: { account: "other" } }, want: [] },
    { name: "a part of an id", filter: { id: "_3" }, want: ["req_3"] },
    { name: "what cost something", filter: { costMinNanos: 1 }, want: [] },
    { name: "what was charged", filter: { charge: "settled" }, want: [] },
    { name: "what was not charged", filter: { charge: "uncharged" }, want: ["req_1", "req_2", "req_3"] },
  ])("of $name is told that alone", async ({ filter, want }) => {
    const { feed, end } = openFeed();
    const watch = new RequestWatch(feed);
    const one = watching(watch, { ...ALL, ...filter });
    const all = watching(watch, ALL);
    end("req_1");
    end("req_2", new GatewayError("ERROR_REASON_RATE_LIMITED"));
    end("req_3", undefined, "other");
    await expect.poll(() => all.ids).toEqual(["req_1", "req_2", "req_3"]);
    expect(one.ids).toEqual(want);
    await one.end();
    await all.end();
  });

  test("that is slow holds up to a thousand, and is told how many more it missed, in their place", async () => {
    const { feed, end } = openFeed();
    let goOn = (): void => undefined;
    let isSlow = true;
    const slow = watching(new RequestWatch(feed), ALL, () =>
      isSlow ? new Promise((resolve) => (goOn = resolve)) : undefined,
    );
    end("first");
    await expect.poll(() => slow.ids).toEqual(["first"]);
    for (let at = 0; at < 1_500; at++) end(`req_${at}`);
    isSlow = false;
    goOn();
    await expect.poll(() => slow.missed).toEqual([500]);
    expect(slow.ids).toEqual(["first", ...Array.from({ length: 1_000 }, (_, at) => `req_${at}`)]);
    end("last");
    await expect.poll(() => slow.ids.at(-1)).toBe("last");
    await slow.end();
  });

  test("is told of the account that it watches, or of all of them, however many watch", async () => {
    const { feed, end } = openFeed();
    const watch = new RequestWatch(feed);
    const many = Array.from({ length: 500 }, () => watching(watch, { ...ALL, names: { account: "other" } }));
    const [mine, all] = [watching(watch, { ...ALL, names: { account: "acme" } }), watching(watch, ALL)];
    end("req_1");
    await expect.poll(() => [mine.ids, all.ids]).toEqual([["req_1"], ["req_1"]]);
    await mine.end();
    end("req_2");
    await expect.poll(() => all.ids).toEqual(["req_1", "req_2"]);
    for (const each of [...many, all]) await each.end();
    expect(many.flatMap(({ ids }) => ids)).toEqual([]);
  });
});

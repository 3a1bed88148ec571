/** Who is counted next: fair by account, short work first, settlements apart, bounded. */
import { fc } from "../support/seeds.js";
import { afterAll, describe, expect, test } from "vitest";
import { FairQueue, type QueuedJob } from "../../src/base/fair-queue.js";
import { closeTokenCounter, countTokens } from "../../src/pricing/tokens.js";

type CountLane = "settlement" | "question";

const BOUND = { jobs: 100, size: 1_000_000, accountJobs: 50, accountSize: 500_000 };
const SLICE_CHARS = 1_000;

class Text implements QueuedJob<CountLane> {
  constructor(
    readonly name: string,
    readonly account: string,
    public sizeLeft: number,
    readonly lane: CountLane = "question",
  ) {}
}

const queueOf = (bounds: Partial<typeof BOUND> = {}): FairQueue<CountLane, Text> =>
  new FairQueue<CountLane, Text>({ settlement: { ...BOUND, ...bounds }, question: { ...BOUND, ...bounds } });

/** Serves one slice, as the thread would be given it. Returns the name of its text. */
function serve(queue: FairQueue<CountLane, Text>): string | undefined {
  const job = queue.next();
  if (job === undefined) return undefined;
  const chars = Math.min(SLICE_CHARS, job.sizeLeft);
  job.sizeLeft -= chars;
  queue.took(job, chars, job.sizeLeft === 0);
  return job.name;
}

const serveAll = (queue: FairQueue<CountLane, Text>, most = 1_000): (string | undefined)[] => {
  const served: (string | undefined)[] = [];
  while (!queue.isEmpty && served.length < most) served.push(serve(queue));
  return served;
};

describe("the next piece", () => {
  test("is of another account, however much the first has waiting", () => {
    const queue = queueOf();
    queue.add(new Text("long 1", "a", 100_000));
    queue.add(new Text("long 2", "a", 100_000));
    expect(serve(queue)).toBe("long 1");
    queue.add(new Text("hello", "b", 5));
    expect(serve(queue)).toBe("hello");
    expect(serve(queue)).toBe("long 1");
  });

  test("of two long texts goes to each in turn", () => {
    const queue = queueOf();
    queue.add(new Text("a", "a", 3_000));
    queue.add(new Text("b", "b", 3_000));
    expect(serveAll(queue)).toEqual(["a", "b", "a", "b", "a", "b"]);
  });

  test("of one account is of its shortest text", () => {
    const queue = queueOf();
    queue.add(new Text("long", "a", 3_000));
    queue.add(new Text("short", "a", 10));
    expect(serveAll(queue)).toEqual(["short", "long", "long", "long"]);
  });

  test("goes to settlements and to questions in turn, so that neither stops the other", () => {
    const queue = queueOf();
    for (let index = 0; index < 3; index++) queue.add(new Text("asked", `q${index}`, 1_000));
    for (let index = 0; index < 3; index++) queue.add(new Text("settled", `s${index}`, 1_000, "settlement"));
    expect(serveAll(queue)).toEqual(["settled", "asked", "settled", "asked", "settled", "asked"]);
  });

  test("is not always of those who keep coming: a long text goes on beside endless short ones", () => {
    const queue = queueOf();
    queue.add(new Text("long", "a", 5_000));
    const served: (string | undefined)[] = [];
    for (let index = 0; index < 40; index++) {
      queue.add(new Text("short", `b${index % 2}`, 1_000));
      served.push(serve(queue));
    }
    expect(served.filter((name) => name === "long")).toHaveLength(5);
  });
});

test("a lane that is full takes no more, nor does an account beyond its share; the other lane has room", () => {
  const queue = queueOf({ jobs: 3, accountJobs: 2, size: 10_000, accountSize: 9_000 });
  expect(queue.add(new Text("1", "a", 10))).toBe(true);
  expect(queue.add(new Text("too long", "a", 9_000))).toBe(false);
  expect(queue.add(new Text("2", "a", 10))).toBe(true);
  expect(queue.add(new Text("too many", "a", 10))).toBe(false);
  expect(queue.add(new Text("too long in all", "b", 9_990))).toBe(false);
  expect(queue.add(new Text("3", "b", 10))).toBe(true);
  expect(queue.add(new Text("full", "c", 10))).toBe(false);
  expect(queue.add(new Text("settled", "c", 10, "settlement"))).toBe(true);
});

test("every text is served whole and once, and its room comes back", () => {
  const texts = fc.array(
    fc.record({
      account: fc.constantFrom("a", "b", "c"),
      chars: fc.integer({ min: 1, max: 6_000 }),
      lane: fc.constantFrom<CountLane>("question", "settlement"),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(texts, (given) => {
      const queue = queueOf();
      const slices = new Map<string, number>();
      given.forEach(({ account, chars, lane }, index) => {
        expect(queue.add(new Text(String(index), account, chars, lane))).toBe(true);
        slices.set(String(index), Math.ceil(chars / SLICE_CHARS));
      });
      for (const name of serveAll(queue)) slices.set(name ?? "", (slices.get(name ?? "") ?? 0) - 1);
      expect([...slices.values()].every((left) => left === 0)).toBe(true);
      expect(queue.jobs()).toEqual([]);
      expect(queue.add(new Text("all of it", "a", BOUND.accountSize))).toBe(true);
    }),
  );
});

describe("with the thread itself", () => {
  afterAll(closeTokenCounter);
  const LONG = "It is exact, and it is long; ".repeat(120_000);

  test("a neighbour's short text is counted long before another's long one", async () => {
    const order: string[] = [];
    const note = (name: string, counting: Promise<number>): Promise<unknown> => counting.then(() => order.push(name));
    const long = [1, 2].map(() => note("long", countTokens(LONG, "gpt-4o", { account: "a", lane: "question" })));
    const short = note("hello", countTokens("hello", "gpt-4o", { account: "b", lane: "question" }));
    await Promise.all([...long, short]);
    expect(order).toEqual(["hello", "long", "long"]);
  });

  test("what fills the context is counted no further", async () => {
    const countFor = { account: "a", lane: "question", tokensMax: 1_000 } as const;
    const tokens = await countTokens(LONG, "gpt-4o", countFor);
    expect(tokens).toBeGreaterThanOrEqual(1_000);
    // One slice, not the four million characters.
    expect(tokens).toBeLessThan(40_000);
  });

  test("a settlement is never refused: where no more may wait, it is estimated at once", async () => {
    const counts = Array.from({ length: 8 }, () => countTokens(LONG, "gpt-4o", { account: "a", lane: "settlement" }));
    const all = await Promise.all(counts.map((counting) => Promise.race([counting, counting])));
    for (const tokens of all) expect(Math.abs(tokens - (all[0] ?? 0)) / tokens).toBeLessThan(0.5);
  });
});

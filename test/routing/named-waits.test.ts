/** What clients are told to wait while upstreams ask for it. */
import { describe, expect, test } from "vitest";
import { families } from "../../src/families/index.js";
import { inWords, type Refusal } from "../support/refusals.js";
import { Bench } from "./refusing-model.js";

describe.each(families)("$name", (family) => {
  const limited = (seconds: number): Refusal => ({
    ...inWords(family, 429, "Told."),
    headers: { "retry-after": String(seconds) },
  });

  test.each([5, 30, 60, 61, 3_600, 86_400])("every refusal names what is left of %i seconds", async (seconds) => {
    const bench = new Bench(family);
    bench.says = limited(seconds);
    for (let index = 0; index < 6; index += 1) {
      const error = await bench.ask(index % 3 === 2 ? "bolt" : "acme");
      expect(error).toMatchObject({ http: 429, retryAfterMs: seconds * 1000, retry: seconds <= 60 });
    }
    // Probes are refused as well: what they are told is the upstream's newest word.
    bench.nowMs += 1_500;
    bench.says = limited(seconds - 1);
    for (let index = 0; index < 4; index += 1) {
      const waitMs = (await bench.ask("acme"))?.retryAfterMs ?? 0;
      expect([seconds * 1000 - 1_500, seconds * 1000 - 1_000]).toContain(waitMs);
    }
  });

  test.each([
    { first: 3_600, second: 30 },
    { first: 30, second: 3_600 },
  ])("of $first and $second seconds the earliest is told", async ({ first, second }) => {
    const bench = new Bench(family, 2);
    bench.says = (_, place) => limited(place === 0 ? first : second);
    for (let index = 0; index < 6; index += 1)
      expect(await bench.ask("acme")).toMatchObject({ http: 429, retryAfterMs: 30_000, retry: true });
  });

  test("a target that only its operator can bring back is no earlier one", async () => {
    const bench = new Bench(family, 2);
    bench.says = (_, place) => (place === 0 ? inWords(family, 401, "Told.") : limited(3_600));
    for (let index = 0; index < 6; index += 1)
      expect(await bench.ask("acme")).toMatchObject({ http: 429, retryAfterMs: 3_600_000, retry: false });
  });

  test("a wait that nobody named is short", async () => {
    const bench = new Bench(family);
    bench.says = inWords(family, 429, "Told.");
    for (let index = 0; index < 6; index += 1) {
      const error = await bench.ask("acme");
      expect(error).toMatchObject({ http: 429, retry: true });
      expect(error?.retryAfterMs ?? 0).toBeLessThanOrEqual(2_000);
    }
  });
});

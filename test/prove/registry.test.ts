/** A registry that does not answer is asked again twice, and then called broken. */
import { expect, test } from "vitest";
import { askAgain } from "./registry.mjs";

test.each([
  { failures: 0, want: "package", pauses: [] },
  { failures: 2, want: "package", pauses: [5_000, 30_000] },
  { failures: 3, want: "away", pauses: [5_000, 30_000] },
])("after $failures failures it is $want", ({ failures, want, pauses }) => {
  const paused: number[] = [];
  let attempts = 0;
  const ask = (): string => {
    attempts += 1;
    if (attempts <= failures) throw new Error("away");
    return "package";
  };
  const answer = (): string => askAgain(ask, { pause: (ms) => paused.push(ms) });
  if (want === "away") expect(answer).toThrow(want);
  else expect(answer()).toBe(want);
  expect(paused).toEqual(pauses);
});

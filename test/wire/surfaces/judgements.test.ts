/** What is a judgement of content, and what is none: an answer that says nothing must not pass as "harmless". */
import { expect, test } from "vitest";
import { moderations } from "../../../src/wire/openai-moderations/index.js";

const read = (results: unknown): ReturnType<typeof moderations.decodeAnswer> =>
  moderations.decodeAnswer(Buffer.from(JSON.stringify({ id: "1", results })));

test.each([
  [null],
  [{}],
  [{ flagged: null, categories: {} }],
  [{ flagged: "no" }],
  [{ category_scores: { a: 0 } }],
  [{ flagged: "true", categories: { a: false } }],
  [{ categories: { a: "true", b: false } }],
  [{ categories: { a: { flagged: true }, b: false } }],
])("%j is none", (result) => {
  expect(() => read([result])).toThrow("its results hold no judgement");
});

test("what says whether it is flagged is handed on as it came", () => {
  expect(read([{ flagged: false }, { flagged: true, categories: { a: true } }]).source).toBeUndefined();
});

test("what says categories alone, or denies them, is flagged by them", () => {
  const told = [{ categories: { a: false } }, { categories: { a: true } }, { flagged: false, categories: { a: true } }];
  const { results } = JSON.parse(String(read(told).source)) as { results: { flagged: boolean }[] };
  expect(results.map(({ flagged }) => flagged)).toEqual([false, true, true]);
});

/** Gemini's answers of vectors: what of them is read. */
import { expect, test } from "vitest";
import { decodeAnswer } from "../../../src/wire/gemini/embeddings/answer/read.js";

test.each([
  { name: "beside the vectors", body: `{"embeddings":[{"values":[1]}],"x":[${"{},".repeat(3_000_000)}{}]}` },
  { name: "as vectors", body: `{"embeddings":[${"{},".repeat(3_000_000)}{}]}` },
])("millions of values $name are not read", ({ body }) => {
  expect(() => decodeAnswer(Buffer.from(body))).toThrow(/too many values/);
});

test("a hundred vectors of 3,072 numbers are read", () => {
  const vector = `{"values":[${"0.5,".repeat(3_071)}0.5]}`;
  const answer = decodeAnswer(Buffer.from(`{"embeddings":[${`${vector},`.repeat(99)}${vector}]}`));
  expect(answer.embeddings?.().map(({ values }) => values.length)).toEqual(Array.from({ length: 100 }, () => 3_072));
});

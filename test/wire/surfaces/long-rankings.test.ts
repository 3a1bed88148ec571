/** A ranking that is longer than its documents explain: what no client reads of it is not handed on. */
import { expect, test } from "vitest";
import { rerank } from "../../../src/wire/rerank/index.js";

const asked = rerank.readRequest({
  wire: rerank.name,
  body: Buffer.from(JSON.stringify({ model: "asked", query: "x", documents: ["a", "b"] })),
  headers: {},
});

test.each([{ model: "served" }, {}])("a long answer keeps its ranking, its model and its counts: %j", (named) => {
  const results = [{ index: 1, relevance_score: 0.5, extra: "x".repeat(2_000_000) }];
  const answer = { ...named, results, extra: [0], meta: { billed_units: { search_units: 1 } } };
  const { source } = rerank.decodeAnswer(Buffer.from(JSON.stringify(answer)), asked);
  expect(JSON.parse(String(source))).toEqual({
    model: named.model ?? "asked",
    results: [{ index: 1, relevance_score: 0.5 }],
    meta: { api_version: { version: "2" }, billed_units: { search_units: 1 } },
  });
});

/** What a ranking can cost at most, and what of its body decides that. */
import { describe, expect, test } from "vitest";
import { planByBytes } from "../../../src/pricing/hold-plan.js";
import { rerank } from "../../../src/wire/rerank/index.js";
import type { WireRequest } from "../../../src/wire/wire.js";
import { FREE } from "../../pricing/prices.js";

function asked(body: object): WireRequest {
  const said = { model: "m", query: "x", documents: ["a"], ...body };
  return rerank.readRequest({ wire: rerank.name, body: Buffer.from(JSON.stringify(said)), headers: {} });
}

const unitsMax = (body: object): number => Number(asked(body).facts.metersMax?.[0]?.quantity);
const unitsExpected = (body: object): number => Number(asked(body).facts.metersExpected?.[0]?.quantity);

describe("units", () => {
  const documents = Array.from({ length: 100 }, () => "x y ".repeat(5_000));

  test("are bound by what a server reads that does not know the request's limit", () => {
    // 5,000 tokens are ten pieces, and the query makes them eleven.
    expect(unitsMax({ documents, max_tokens_per_doc: 1 })).toBe(unitsMax({ documents }));
    expect(unitsMax({ documents })).toBe(11);
    expect(unitsExpected({ documents, max_tokens_per_doc: 1 })).toBe(1);
  });

  test.each([
    { said: { max_tokens_per_doc: 20_000 }, units: 40 },
    { said: { max_chunks_per_doc: 30 }, units: 30 },
  ])("rise with what the request allows of each document: $said", ({ said, units }) => {
    expect(unitsMax({ documents, ...said })).toBeGreaterThanOrEqual(units);
  });
});

describe("tokens", () => {
  const inputTokensMax = (request: WireRequest): number => {
    const model = {
      price: FREE,
      contextTokens: 0,
      outputTokensMax: 0,
      targets: [{ model: "m", served: { family: { tokenizerIsClose: false } } }],
    };
    const question = {
      request,
      model,
      outputTokensMax: undefined,
      limitIsSent: false,
      mayClamp: false,
      accountId: "a",
    };
    return planByBytes(question).inputTokensMax;
  };

  test("hold a template around each document, as long as rerankers have them", () => {
    const one = inputTokensMax(asked({ documents: ["a"] }));
    const many = inputTokensMax(asked({ documents: Array.from({ length: 101 }, () => "a") }));
    expect(many - one).toBeGreaterThanOrEqual(100 * 90);
  });

  test("hold the query for each document, as long as its tokenizer may make it", () => {
    // This sign of three bytes becomes 33 in the form that some tokenizers read.
    const query = "\ufdfa".repeat(10);
    const documents = Array.from({ length: 50 }, () => "a");
    expect(inputTokensMax(asked({ query, documents }))).toBeGreaterThanOrEqual(50 * 330);
  });

  test("of a query without a report are more of signs than of letters", () => {
    const again = (query: string): number => asked({ query, documents: ["a", "b"] }).readText?.().repeatedTokens ?? 0;
    expect(again("\u{12000}".repeat(40))).toBeGreaterThanOrEqual(80);
    expect(again("x".repeat(40))).toBeLessThan(15);
  });
});

/** Sums of usage as files, where something else than tokens was sold. */
import { expect, test } from "vitest";
import type { Meter, UsageSummary } from "../../src/api/index.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { USAGE_FORMS } from "../../src/api/usage-export.js";

const UNITS: Meter = { unit: "search_unit", variant: "", quantity: 3n };

function summary(inputTokens: bigint, meters: Meter[]): UsageSummary {
  return {
    day: "2026-11-30",
    accountId: "acme",
    keyId: "key_1",
    model: "rerank-v4",
    requestCount: 2n,
    costNanos: 6_000_000n,
    refundedNanos: 0n,
    operatorCostNanos: undefined,
    marginNanos: undefined,
    usage: { ...NO_USAGE, inputTokens, meters },
  };
}

/** The cells of a line of FOCUS, by their columns. */
function focusOf(one: UsageSummary): ReadonlyMap<string, string> {
  const columns = USAGE_FORMS.focus.head.trimEnd().split(",");
  const cells = USAGE_FORMS.focus.line(one).trimEnd().split(",");
  expect(cells).toHaveLength(columns.length);
  return new Map(columns.map((column, at) => [column, cells[at] ?? ""]));
}

test.each([0n, 700n])("FOCUS names the unit that was sold, with %d tokens told beside it", (tokens) => {
  const cells = focusOf(summary(tokens, [UNITS]));
  expect([cells.get("ConsumedQuantity"), cells.get("ConsumedUnit")]).toEqual(["3", "Search Units"]);
  expect([cells.get("PricingQuantity"), cells.get("PricingUnit")]).toEqual(["3", "Search Units"]);
  expect(cells.get("x_InputTokens")).toBe(String(tokens));
});

test("FOCUS names tokens where those were sold", () => {
  const cells = focusOf(summary(700n, []));
  expect([cells.get("ConsumedQuantity"), cells.get("ConsumedUnit")]).toEqual(["700", "Tokens"]);
});

test("the other forms tell units beside tokens", () => {
  expect(USAGE_FORMS.csv.line(summary(0n, [UNITS]))).toContain("search_unit=3");
  const { meters } = JSON.parse(USAGE_FORMS.jsonl.line(summary(0n, [UNITS]))) as { meters: unknown };
  expect(meters).toEqual([{ unit: "search_unit", variant: "", quantity: 3 }]);
});

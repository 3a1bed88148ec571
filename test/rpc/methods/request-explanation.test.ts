/** A failed request says what happened, whose limit it was, until when, and what to do. */
import { expect, test } from "vitest";
import { GatewayError, type ReasonName, reasonWord } from "../../../src/base/errors.js";
import { detailOf } from "../../../src/records/record-row.js";
import { explanationOf } from "../../../src/rpc/methods/request-explanation.js";
import { rowWith } from "../../records/row.js";

const END_MS = Date.parse("2026-11-21T10:00:00Z");

function explained(reason: ReasonName, detail: string): ReturnType<typeof explanationOf> {
  return explanationOf(rowWith({ id: "req_1", endTimeMs: END_MS, reason: reasonWord(reason), detail }));
}

test("a limit names its owner, its amount and when it resets", () => {
  const facts = "limit requests_per_minute, limit_value 60, owner key key_1, remaining 0, reset_ms 30000";
  expect(explained("ERROR_REASON_RATE_LIMITED", facts)).toEqual({
    explanation:
      "The limit of the key, 60 requests per minute, was reached. Send the request again later, or raise the limit.",
    mayRetry: true,
    limitOwner: "key key_1",
    resetTime: new Date(END_MS + 30_000),
  });
});

test("a budget says its period and its amounts in USD", () => {
  const amounts = "limit_nanos 5000000000, needed_nanos 86000, remaining_nanos 0";
  const facts = `owner account acme, budget day, ${amounts}, reset_time 2026-11-22T00:00:00.000Z`;
  const { explanation, limitOwner, resetTime } = explained("ERROR_REASON_BUDGET_EXCEEDED", facts);
  expect(explanation).toContain("The daily budget of the account, 5.00 USD, was too low");
  expect(explanation).toContain("could cost up to 0.000086 USD, and 0.00 USD remained");
  expect([limitOwner, resetTime?.toISOString()]).toEqual(["account acme", "2026-11-22T00:00:00.000Z"]);
});

test.each<ReasonName>([
  "ERROR_REASON_BALANCE_TOO_LOW",
  "ERROR_REASON_MODEL_UNKNOWN",
  "ERROR_REASON_UPSTREAM_FAILED",
  "ERROR_REASON_RATE_LIMITED",
  "ERROR_REASON_SIGN_IN_REFUSED",
])("%s is a whole sentence also where an older record lacks its facts", (reason) => {
  const { explanation, mayRetry } = explained(reason, "");
  expect(explanation).toMatch(/^[A-Z].*\.$/);
  expect(explanation).not.toMatch(/undefined|''/);
  expect(mayRetry).toBe(new GatewayError(reason).retry);
});

test("a request that ended well has no explanation", () => {
  expect(explanationOf(rowWith({ id: "req_1", endTimeMs: END_MS })).explanation).toBe("");
});

test.each(["model x, reset_time zzz", "model x, reset_ms zzz", "needed_nanos zzz, reset_ms 1e300"])(
  "an unreadable fact, %j, is no time and no amount",
  (detail) => {
    const { resetTime, explanation } = explained("ERROR_REASON_BALANCE_TOO_LOW", detail);
    expect(resetTime).toBeUndefined();
    expect(explanation).toContain("an amount that was not recorded");
  },
);

test("a name that a client chose reads as no other fact", () => {
  const refusal = new GatewayError("ERROR_REASON_MODEL_UNKNOWN", { model: "x, owner account a, reset_time 2026" });
  const { limitOwner, resetTime } = explained("ERROR_REASON_MODEL_UNKNOWN", detailOf(refusal));
  expect({ limitOwner, resetTime }).toEqual({ limitOwner: "", resetTime: undefined });
});

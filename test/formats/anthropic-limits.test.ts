/** The limits of a key as clients of messages read them. */
import { expect, test } from "vitest";
import { anthropicLimits } from "../../src/formats/anthropic-limits.js";

const NOW = Date.parse("2026-11-21T12:00:00.250Z");

test.each([
  { reset: "0s", at: "2026-11-21T12:00:01Z" },
  { reset: "120ms", at: "2026-11-21T12:00:01Z" },
  { reset: "1.2s", at: "2026-11-21T12:00:02Z" },
  { reset: "6m0s", at: "2026-11-21T12:06:01Z" },
  { reset: "1h0m0s", at: "2026-11-21T13:00:01Z" },
])("a reset in $reset is told as a time", ({ reset, at }) => {
  expect(anthropicLimits({ "x-ratelimit-reset-tokens": reset }, NOW)).toEqual({
    "anthropic-ratelimit-tokens-reset": at,
  });
});

test("what is limited is told, and nothing else", () => {
  const headers = { "x-request-id": "r", "x-ratelimit-limit-requests": "7", "x-ratelimit-remaining-requests": "6" };
  expect(anthropicLimits(headers, NOW)).toEqual({
    "anthropic-ratelimit-requests-limit": "7",
    "anthropic-ratelimit-requests-remaining": "6",
  });
});

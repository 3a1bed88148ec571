/** Whether a name that an answer tells is another model's. */
import { expect, test } from "vitest";
import { isSameModel } from "../../src/routing/answered.js";

test.each([
  { asked: "gpt-5.4-mini", told: "gpt-5.4-mini", want: true },
  { asked: "gpt-5.4-mini", told: "gpt-5.4-mini-2026-03-17", want: true },
  { asked: "claude-sonnet-4-5", told: "claude-sonnet-4-5-20250929", want: true },
  { asked: "claude-3-5-sonnet-latest", told: "claude-3-5-sonnet-20241022", want: true },
  { asked: "mistral-large-latest", told: "mistral-large-2512", want: true },
  { asked: "models/gemini-2.5-flash", told: "gemini-2.5-flash-preview-05-20", want: true },
  { asked: "gpt-4", told: "gpt-4-0613", want: true },
  { asked: "claude-sonnet-4-5-20250929", told: "claude-sonnet-4-5", want: true },
  { asked: "Qwen/Qwen3-8B", told: "qwen3-8b", want: true },
  { asked: "gpt-5.4", told: "gpt-5.4-mini", want: false },
  { asked: "gpt-5.4", told: "gpt-5.4-pro-2026-03-05", want: false },
  { asked: "gpt-5.4-mini", told: "gpt-5.4", want: false },
  { asked: "gpt-4o-2024-08-06", told: "gpt-4o-2024-05-13", want: false },
  { asked: "claude-opus-4-5", told: "claude-sonnet-4-5", want: false },
  { asked: "deepseek-chat", told: "deepseek-reasoner", want: false },
])("asked $asked, told $told: the same is $want", ({ asked, told, want }) => {
  expect(isSameModel(asked, told)).toBe(want);
});

test.each(["-12", "-2024-05-06", ":12", "-v1:12", "@latest", "-12:3"])(
  "a name of many pieces %s that ends otherwise is told from the asked one at once",
  (piece) => {
    expect(isSameModel("gpt-5", `gpt-5${piece.repeat(70)}x`)).toBe(false);
    expect(isSameModel("gpt-5", `gpt-5${piece}`)).toBe(true);
  },
);

/** What is known of models by their names: the tables, and what the tokenizer's package adds. */
import { describe, expect, test } from "vitest";
import { knownFacts, tabledFacts } from "../../src/models/facts.js";

describe("a model's facts", () => {
  test.each([
    { model: "gpt-5", want: { efforts: ["minimal", "low", "medium", "high"], sampling: "none" } },
    { model: "gpt-5-mini-2025-08-07", want: { efforts: ["minimal", "low", "medium", "high"] } },
    { model: "gpt-5-pro", want: { efforts: ["high"] } },
    { model: "gpt-5-codex", want: { efforts: ["low", "medium", "high"] } },
    { model: "gpt-5-chat-latest", want: { thinking: "none", sampling: "both" } },
    { model: "gpt-5.1", want: { efforts: ["none", "low", "medium", "high"] } },
    { model: "gpt-5.1-codex-max", want: { efforts: ["low", "medium", "high", "xhigh"] } },
    { model: "openai/gpt-5.5", want: { efforts: ["none", "low", "medium", "high", "xhigh"] } },
    { model: "gpt-5.6-terra", want: { efforts: ["none", "low", "medium", "high", "xhigh", "max"] } },
    { model: "gpt-6-sol", want: { efforts: ["none", "low", "medium", "high", "xhigh", "max"] } },
    { model: "gpt-6-terra", want: { efforts: ["low", "medium", "high", "xhigh", "max"] } },
    { model: "gpt-4o", want: { thinking: "none", sampling: "both" } },
    { model: "o3-mini", want: { efforts: ["low", "medium", "high"], sampling: "none" } },
    { model: "us.anthropic.claude-opus-4-5-20251101-v1:0", want: { thinking: "budget", outputTokensMax: 64_000 } },
    { model: "anthropic/claude-sonnet-5", want: { systemTurns: false, forcedTools: true, sampling: "none" } },
    { model: "models/gemini-2.5-pro", want: { thinking: "budget", signedCalls: false } },
    { model: "gemini-3-pro-preview", want: { efforts: ["low", "high"], signedCalls: true } },
    { model: "gemini-3-flash", want: { efforts: ["minimal", "low", "medium", "high"] } },
    { model: "deepseek-chat", want: { thinking: "switch", efforts: ["low", "high", "max"] } },
    { model: "kimi-k2.7-code-highspeed", want: { thinking: "always", forcedTools: false } },
    { model: "qwq-plus", want: { thinking: "always", streamOnly: true } },
    { model: "qwen3.5-plus", want: { thinking: "switch" } },
    { model: "grok-4.20-non-reasoning", want: { thinking: "none" } },
    { model: "grok-4.5", want: { efforts: ["low", "medium", "high"] } },
  ])("of $model", ({ model, want }) => {
    expect(tabledFacts(model)).toMatchObject(want);
  });

  test.each(["llama3", "toString", "claude-saga-9", "gpt", ""])("are none for %j", (model) => {
    expect(tabledFacts(model)).toEqual({});
  });

  test("come from the tokenizer's package where the table is silent", async () => {
    const facts = await knownFacts("gpt-5.4");
    expect(facts).toMatchObject({
      images: true,
      tools: true,
      schemas: true,
      sampling: "none",
      contextTokens: 1_050_000,
    });
    expect(await knownFacts("o3-mini")).toMatchObject({ images: false, outputTokensMax: 100_000 });
    expect(await knownFacts("gpt-nobody-knows")).toEqual({});
  });
});

test.each([
  { id: "gpt-4o", want: 16_384 },
  { id: "openai/gpt-4o", want: 16_384 },
  { id: "claude-3-haiku-20240307", want: 4_096 },
  { id: "claude-sonnet-4-20250514", want: 64_000 },
  { id: "claude-opus-4-1-20250805", want: 32_000 },
  { id: "claude-opus-4-6", want: 128_000 },
  { id: "claude-sonnet-5-5", want: 128_000 },
  { id: "gemini-2.5-flash", want: 65_536 },
  { id: "llama3", want: undefined },
  { id: "toString", want: undefined },
])("the longest answer of $id is $want", async ({ id, want }) => {
  expect((await knownFacts(id)).outputTokensMax).toBe(want);
});

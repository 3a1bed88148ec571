/** The bound of the input: bytes, pictures, what is unknown, and the context above all. */
import { fc } from "../support/seeds.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import {
  CONTEXT_TOKENS_UNKNOWN,
  IMAGE_TOKENS_MAX,
  imageTokensMax,
  inputTokensMax,
} from "../../src/pricing/input-bound.js";

const TEXT = { textBytes: 1_000, imageCount: 0, fileCount: 0, audioCount: 0 };
const MODEL = { id: "gpt-4o", contextTokens: 128_000 };

test.each([
  { name: "text counts its bytes", facts: TEXT, model: MODEL, want: 1_000 },
  {
    name: "a picture counts its model's most",
    facts: { ...TEXT, imageCount: 2 },
    model: MODEL,
    want: 1_000 + 2 * 1_445,
  },
  {
    name: "on an unknown model, the dearest",
    facts: { ...TEXT, imageCount: 1 },
    model: { id: "x", contextTokens: 0 },
    want: 1_000 + IMAGE_TOKENS_MAX,
  },
  { name: "tools count their preamble", facts: { ...TEXT, toolCount: 3 }, model: MODEL, want: 1_000 + 1_024 },
  {
    name: "tools of the upstream's own count what it says of them",
    facts: { ...TEXT, toolCount: 3, definedToolCount: 2 },
    model: MODEL,
    want: 1_000 + 3 * 1_024,
  },
  { name: "a file fills the context", facts: { ...TEXT, fileCount: 1 }, model: MODEL, want: 128_000 },
  { name: "a sound fills the context", facts: { ...TEXT, audioCount: 1 }, model: MODEL, want: 128_000 },
  {
    name: "an unknown context is the longest",
    facts: { ...TEXT, fileCount: 1 },
    model: { id: "x", contextTokens: 0 },
    want: 1_000 + CONTEXT_TOKENS_UNKNOWN,
  },
  { name: "text never counts more than the context", facts: { ...TEXT, textBytes: 1e7 }, model: MODEL, want: 128_000 },
  {
    name: "without a context, text counts its bytes",
    facts: { ...TEXT, textBytes: 1e7 },
    model: { id: "x", contextTokens: 0 },
    want: 1e7,
  },
])("$name", ({ facts, model, want }) => {
  expect(inputTokensMax(facts, model)).toBe(want);
});

test.each([
  { id: "gpt-4o", want: 1_445 },
  { id: "openai/GPT-4o-2024-11-20", want: 1_445 },
  { id: "gpt-4o-mini", want: 48_169 },
  { id: "gpt-4.1-nano-2025-04-14", want: 3_779 },
  { id: "claude-opus-4-6", want: 5_000 },
  { id: "gpt-9", want: IMAGE_TOKENS_MAX },
])("a picture on $id counts at most $want", ({ id, want }) => {
  expect(imageTokensMax(id)).toBe(want);
});

// OpenAI's own counting of a chat: three tokens for each message and three for the start of the answer.
test("the bytes of a body cover the tokens of its chat, whatever is said", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 40 }), { minLength: 1, maxLength: 8 }), (texts) => {
      const body = JSON.stringify({ model: "m", messages: texts.map((content) => ({ role: "user", content })) });
      const plain = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
      const tokens = texts.reduce((sum, text) => sum + 4 + countTokens(text, plain), 3);
      const textBytes = Buffer.byteLength(body);
      expect(tokens).toBeLessThanOrEqual(inputTokensMax({ ...TEXT, textBytes }, { id: "x", contextTokens: 0 }));
    }),
  );
});

/** What each recording of a real upstream used, worked out by hand from what it reports. */

/** Tokens in normal form: input without what was read from a cache, output without reasoning. */
export interface RecordedTokens {
  readonly input: number;
  readonly cacheRead?: number;
  readonly output: number;
  readonly reasoning?: number;
}

type Table = Readonly<Record<string, RecordedTokens>>;

export const recordedChatTokens: Table = {
  "openai/chat-openai-text.chunks.txt": { input: 16, output: 300 },
  "openai/chat-openai-text.json": { input: 16, output: 363 },
  "groq/groq-reasoning.chunks.txt": { input: 17, output: 144, reasoning: 963 },
  "groq/groq-reasoning.json": { input: 17, output: 79, reasoning: 570 },
  "groq/groq-text.chunks.txt": { input: 45, output: 662 },
  "groq/groq-text.json": { input: 45, output: 607 },
  "groq/groq-tool-call.chunks.txt": { input: 210, output: 15 },
  "groq/groq-tool-call.json": { input: 218, output: 15 },
  "deepseek/deepseek-json.json": { input: 175, cacheRead: 320, output: 26, reasoning: 118 },
  "deepseek/deepseek-reasoning.chunks.txt": { input: 18, output: 14, reasoning: 205 },
  "deepseek/deepseek-reasoning.json": { input: 18, output: 30, reasoning: 315 },
  "deepseek/deepseek-text.chunks.txt": { input: 13, output: 400 },
  "deepseek/deepseek-text.json": { input: 13, output: 300 },
  "deepseek/deepseek-tool-call.chunks.txt": { input: 19, cacheRead: 320, output: 44, reasoning: 39 },
  "deepseek/deepseek-tool-call.json": { input: 19, cacheRead: 320, output: 44, reasoning: 48 },
  "mistral/mistral-reasoning.chunks.txt": { input: 10, output: 46 },
  "mistral/mistral-reasoning.json": { input: 10, output: 46 },
  "mistral/mistral-text.chunks.txt": { input: 13, output: 8 },
  "mistral/mistral-text.json": { input: 13, output: 434 },
  "mistral/mistral-tool-call.chunks.txt": { input: 124, output: 22 },
  "mistral/mistral-tool-call.json": { input: 124, output: 22 },
  "cassettes/chat-basic.yaml#0": { input: 8, output: 57, reasoning: 320 },
  "cassettes/chat-parallel-tools.yaml#0": { input: 162, output: 27, reasoning: 192 },
  "cassettes/chat-reasoning.yaml#0": { input: 27, output: 75, reasoning: 192 },
  "cassettes/chat-streaming-detailed-usage.yaml#0": { input: 12, output: 0, reasoning: 100 },
  "cassettes/chat-tools.yaml#0": { input: 162, output: 31, reasoning: 256 },
};

export const recordedAnthropicTokens: Table = {
  "anthropic-claude-opus-5-reasoning-high.1.json": { input: 51, output: 1560, reasoning: 139 },
  "anthropic-clear-thinking.1.chunks.txt": { input: 69, output: 53 },
  "anthropic-clear-thinking.1.json": { input: 69, output: 33 },
  "anthropic-json-output-format.1.chunks.txt": { input: 313, output: 305 },
  "anthropic-json-output-format.1.json": { input: 371, output: 629 },
  "anthropic-json-tool.1.chunks.txt": { input: 849, output: 47 },
  "anthropic-json-tool.1.json": { input: 1151, output: 87 },
  // The end tells another input than the beginning, and counts.
  "anthropic-message-delta-input-tokens.chunks.txt": { input: 61, output: 2 },
  "anthropic-refusal.chunks.txt": { input: 18, output: 5 },
  "anthropic-refusal.json": { input: 18, output: 5 },
  "anthropic-text.chunks.txt": { input: 12, output: 30 },
  "anthropic-text.json": { input: 12, output: 29 },
  "anthropic-tool-no-args.chunks.txt": { input: 565, output: 48 },
  "anthropic-tool-no-args.json": { input: 602, output: 93 },
};

export const recordedGeminiTokens: Table = {
  "google-reasoning.chunks.txt": { input: 9, output: 29, reasoning: 256 },
  "google-reasoning.json": { input: 9, output: 29, reasoning: 282 },
  "google-text.chunks.txt": { input: 9, output: 23, reasoning: 185 },
  "google-text.json": { input: 9, output: 28, reasoning: 244 },
  "google-tool-call.chunks.txt": { input: 29, output: 15, reasoning: 45 },
  "google-tool-call.json": { input: 29, output: 15, reasoning: 893 },
};

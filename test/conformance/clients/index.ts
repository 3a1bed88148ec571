/** Every client of the matrix. */
import { aiAnthropic, aiOpenAiChat, aiOpenAiResponses } from "./ai-sdk.js";
import { anthropic, olderAnthropic } from "./anthropic.js";
import type { Client } from "./client.js";
import { googleGenai } from "./google-genai.js";
import { openAiChat } from "./openai-chat.js";
import { openAiResponses } from "./openai-responses.js";

export const clients: readonly Client[] = [
  openAiChat,
  aiOpenAiChat,
  anthropic,
  olderAnthropic,
  aiAnthropic,
  openAiResponses,
  aiOpenAiResponses,
  googleGenai,
];

/** One client of each format. */
export const firstOfFormats: readonly Client[] = clients.filter(
  ({ format }, place) => clients.findIndex((other) => other.format === format) === place,
);

/** Every client of the matrix. */
import { aiAnthropic, aiOpenAiChat } from "./ai-sdk.js";
import { anthropic, olderAnthropic } from "./anthropic.js";
import type { Client } from "./client.js";
import { googleGenai } from "./google-genai.js";
import { openAiChat } from "./openai-chat.js";

export const clients: readonly Client[] = [
  openAiChat,
  aiOpenAiChat,
  anthropic,
  olderAnthropic,
  aiAnthropic,
  googleGenai,
];

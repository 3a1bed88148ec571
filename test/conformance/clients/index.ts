/** Every client of the matrix. */
import { anthropic, olderAnthropic } from "./anthropic.js";
import type { Client } from "./client.js";
import { googleGenai } from "./google-genai.js";
import { openAiChat } from "./openai-chat.js";

export const clients: readonly Client[] = [openAiChat, anthropic, olderAnthropic, googleGenai];

/** Every wire that answers are generated on, by its name. */
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { createWire } from "../../src/wire/bedrock-converse/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import { wire as openAiCompletions } from "../../src/wire/openai-completions/index.js";
import { wire as openAiResponses } from "../../src/wire/openai-responses/index.js";

/** Those that clients speak, too. */
export const CLIENT_WIRES = {
  "openai-chat": openAiChat,
  "openai-completions": openAiCompletions,
  "openai-responses": openAiResponses,
  anthropic,
  gemini,
} as const;

export const WIRES = { ...CLIENT_WIRES, "bedrock-converse": createWire(() => "answer-1") } as const;

/** Every model family that the gateway knows. */
import { anthropic } from "./anthropic.js";
import { azure } from "./azure/index.js";
import { bedrock } from "./bedrock/index.js";
import { cohere } from "./cohere.js";
import { deepseek } from "./deepseek.js";
import type { Family } from "./family.js";
import { gemini } from "./gemini.js";
import { groq } from "./groq.js";
import { jina } from "./jina.js";
import { llamacpp } from "./llamacpp.js";
import { mistral } from "./mistral.js";
import { moonshot } from "./moonshot.js";
import { ollama } from "./ollama.js";
import { openaiCompatible } from "./openai-compatible.js";
import { openaiResponses } from "./openai-responses.js";
import { openai } from "./openai.js";
import { openrouter } from "./openrouter.js";
import { qwen } from "./qwen.js";
import { sim } from "./sim/index.js";
import { voyage } from "./voyage.js";
import { vertex } from "./vertex/index.js";
import { vllm } from "./vllm.js";
import { xai } from "./xai.js";

export const families: readonly Family[] = [
  openai,
  openaiResponses,
  anthropic,
  openaiCompatible,
  gemini,
  vertex,
  bedrock,
  deepseek,
  mistral,
  groq,
  xai,
  qwen,
  moonshot,
  openrouter,
  cohere,
  jina,
  voyage,
  azure,
  ollama,
  vllm,
  llamacpp,
  sim,
];

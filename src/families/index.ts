/** Every model family that the gateway knows. */
import { anthropic } from "./anthropic.js";
import type { Family } from "./family.js";
import { gemini } from "./gemini.js";
import { openaiCompatible } from "./openai-compatible.js";
import { openai } from "./openai.js";
import { sim } from "./sim/index.js";

export const families: readonly Family[] = [openai, anthropic, openaiCompatible, gemini, sim];

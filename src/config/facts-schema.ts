/** What a settings file may say of a model, over what is known of it by its name. */
import { z } from "zod";
import type { ModelFacts } from "../wire/wire.js";
import { block, oneOf, reading, truth, wholeNumber } from "./values.js";

const EFFORTS_MAX = 16;
const BUDGET_TOKENS_MAX = 10_000_000;
const EFFORT = /^[a-z][a-z0-9_]{0,31}$/;
const EFFORT_RULE = "must be an effort such as low, in small letters";

const effort = reading(EFFORT_RULE, (value) => (EFFORT.test(value) ? value : undefined));

/** Facts of a model. What is left out stays as it is known. */
export const facts = block({
  images: truth.optional().describe("It reads images"),
  tools: truth.optional().describe("It calls tools"),
  forced_tools: truth.optional().describe("A request may force a call of a tool"),
  schemas: truth.optional().describe("It keeps to a JSON Schema of its answer"),
  sampling: oneOf(["both", "one", "none"]).optional().describe("Which of `temperature` and `top_p` it takes at once"),
  thinking: oneOf(["adaptive", "effort", "budget", "switch", "always", "none"])
    .optional()
    .describe("How it is told how much to think"),
  without_thinking: oneOf(["disabled", "between_tools", "effort"]).optional().describe("How it is told not to think"),
  efforts: z
    .array(effort, "must be a list of efforts, from the lowest, such as [low, medium, high]")
    .max(EFFORTS_MAX, `must be at most ${EFFORTS_MAX} efforts`)
    .optional()
    .describe("Its efforts, from the lowest"),
  budgets: z
    .record(z.string().regex(EFFORT, EFFORT_RULE), wholeNumber(0, BUDGET_TOKENS_MAX), {
      error: () => "must be a block of efforts and their tokens, such as { low: 1024 }",
    })
    .optional()
    .describe("The tokens of thinking for each effort"),
  prefill: truth.optional().describe("It goes on from a begun answer"),
  system_turns: truth.optional().describe("System messages may stand between the others"),
  signed_calls: truth.optional().describe("Its calls of tools carry signatures that must come back"),
  result_images: truth.optional().describe("Results of tools may hold images"),
  cache_marks: truth.optional().describe("It takes marks of what to cache"),
  stream_only: truth.optional().describe("It only streams; whole answers are folded from a stream"),
}).transform((said): ModelFacts => {
  const told: ModelFacts = {
    images: said.images,
    tools: said.tools,
    forcedTools: said.forced_tools,
    schemas: said.schemas,
    sampling: said.sampling,
    thinking: said.thinking,
    withoutThinking: said.without_thinking,
    efforts: said.efforts,
    budgets: said.budgets,
    prefill: said.prefill,
    systemTurns: said.system_turns,
    signedCalls: said.signed_calls,
    resultImages: said.result_images,
    cacheMarks: said.cache_marks,
    streamOnly: said.stream_only,
  };
  // What is not said must not stand over what is known.
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined));
});

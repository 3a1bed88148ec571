/** What a settings file may say of a model, over what is known of it by its name. */
import { z } from "zod";
import type { ModelFacts } from "../wire/wire.js";
import { block, reading, truth, wholeNumber } from "./values.js";

const EFFORTS_MAX = 16;
const BUDGET_TOKENS_MAX = 10_000_000;
const EFFORT = /^[a-z][a-z0-9_]{0,31}$/;
const EFFORT_RULE = "must be an effort such as low, in small letters";

function oneOf<Word extends string>(words: readonly Word[]) {
  return reading(`must be one of ${words.join(", ")}`, (value) => words.find((word) => word === value));
}

const effort = reading(EFFORT_RULE, (value) => (EFFORT.test(value) ? value : undefined));

/** Facts of a model. What is left out stays as it is known. */
export const facts = block({
  images: truth.optional(),
  tools: truth.optional(),
  forced_tools: truth.optional(),
  schemas: truth.optional(),
  sampling: oneOf(["both", "one", "none"]).optional(),
  thinking: oneOf(["adaptive", "effort", "budget", "switch", "always", "none"]).optional(),
  without_thinking: oneOf(["disabled", "between_tools", "effort"]).optional(),
  efforts: z
    .array(effort, "must be a list of efforts, from the lowest, such as [low, medium, high]")
    .max(EFFORTS_MAX, `must be at most ${EFFORTS_MAX} efforts`)
    .optional(),
  budgets: z
    .record(z.string().regex(EFFORT, EFFORT_RULE), wholeNumber(0, BUDGET_TOKENS_MAX), {
      error: () => "must be a block of efforts and their tokens, such as { low: 1024 }",
    })
    .optional(),
  prefill: truth.optional(),
  system_turns: truth.optional(),
  signed_calls: truth.optional(),
  result_images: truth.optional(),
  cache_marks: truth.optional(),
  stream_only: truth.optional(),
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

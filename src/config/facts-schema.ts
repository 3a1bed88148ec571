/** What a settings file may say of a model, over what is known of it by its name. */
import { defined } from "../base/defined.js";
import { z } from "zod";
import type { ModelFacts } from "../wire/wire.js";
import { block, oneOf, reading, truth, wholeNumber } from "./values.js";

const EFFORTS_MAX = 16;
const BUDGET_TOKENS_MAX = 10_000_000;
const TOKENS_MAX = 1_000_000_000;
const EFFORT = /^[a-z][a-z0-9_]{0,31}$/;
const EFFORT_RULE = "must be an effort such as low, in lower case";

const effort = reading(EFFORT_RULE, (value) => (EFFORT.test(value) ? value : undefined));

/** Facts of a model. What is left out stays as it is known. */
export const facts = block({
  images: truth.optional().describe("The model accepts images"),
  files: truth.optional().describe("The model accepts files, such as PDF"),
  tools: truth.optional().describe("The model can call tools"),
  forced_tools: truth.optional().describe("A request may force a tool call"),
  schemas: truth.optional().describe("The model supports a JSON Schema for its answer (structured output)"),
  sampling: oneOf(["both", "one", "none"])
    .optional()
    .describe("Which of `temperature` and `top_p` a request may set: both, only one of them, or none"),
  thinking: oneOf(["adaptive", "effort", "budget", "switch", "always", "none"])
    .optional()
    .describe(
      "How a request controls reasoning: `adaptive` (the model decides; an effort guides it), `effort` (a named " +
        "effort), `budget` (a number of tokens), `switch` (on or off), `always` (the model always reasons) or `none` " +
        "(it never does)",
    ),
  without_thinking: oneOf(["disabled", "between_tools", "effort"])
    .optional()
    .describe(
      "How a request turns reasoning off: `disabled` and `between_tools` are values of Anthropic's `thinking.type`; " +
        "with `effort`, the gateway requests the lowest effort, because reasoning cannot be turned off",
    ),
  efforts: z
    .array(effort, "must be a list of efforts, from the lowest, such as [low, medium, high]")
    .max(EFFORTS_MAX, `must be at most ${EFFORTS_MAX} efforts`)
    .optional()
    .describe("The reasoning efforts that the model supports, from the lowest"),
  budgets: z
    .record(z.string().regex(EFFORT, EFFORT_RULE), wholeNumber(0, BUDGET_TOKENS_MAX), {
      error: () => "must be a block of efforts and their tokens, such as { low: 1024 }",
    })
    .optional()
    .describe("The reasoning tokens for each effort"),
  prefill: truth.optional().describe("The model continues an assistant message that the request begins (prefill)"),
  system_turns: truth.optional().describe("System messages may stand anywhere in the conversation"),
  signed_calls: truth.optional().describe("Tool calls carry signatures that the client must send back"),
  result_images: truth.optional().describe("Tool results may contain images"),
  cache_marks: truth.optional().describe("The model accepts cache marks (`cache_control`)"),
  stream_only: truth
    .optional()
    .describe("The upstream only streams; the gateway assembles whole answers from a stream"),
  context_tokens: wholeNumber(1, TOKENS_MAX)
    .optional()
    .describe("The context size, for a target that differs from its model"),
  output_tokens_max: wholeNumber(1, TOKENS_MAX)
    .optional()
    .describe("The maximum number of output tokens, for a target that differs from its model"),
}).transform((said): ModelFacts => {
  const told: ModelFacts = {
    contextTokens: said.context_tokens,
    outputTokensMax: said.output_tokens_max,
    images: said.images,
    files: said.files,
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
  return defined(told);
});

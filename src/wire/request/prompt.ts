/** Makes typed prompts, of which every wire can say only some fields. */
import type { Prompt } from "../../api/index.js";

const NOTHING_ASKED: Omit<Prompt, "messages" | "tools" | "stop" | "logitBias" | "metadata"> = {
  toolChoice: undefined,
  parallelToolCalls: undefined,
  outputFormat: undefined,
  reasoning: undefined,
  temperature: undefined,
  topP: undefined,
  topK: undefined,
  presencePenalty: undefined,
  frequencyPenalty: undefined,
  seed: undefined,
  candidateCount: undefined,
  logprobs: undefined,
  topLogprobs: undefined,
  user: undefined,
  serviceTier: undefined,
  verbosity: undefined,
  promptCacheKey: undefined,
  extra: undefined,
};

/**
 * The prompt that asks for these fields and nothing else. `rest` are the members of the body without a typed home, as
 * an object; absent where there are none.
 */
export function promptOf(
  asked: Partial<Prompt> & Pick<Prompt, "messages">,
  wire: string,
  rest: string | undefined,
): Prompt {
  const extra = rest === undefined ? undefined : { wire, json: rest };
  return { ...NOTHING_ASKED, tools: [], stop: [], logitBias: {}, metadata: {}, ...asked, extra };
}

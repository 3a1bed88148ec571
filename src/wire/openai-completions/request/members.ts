/** What the gateway does with the members of a request to go on with a text. */
import { memberTable } from "../../request/members.js";
import { CACHE_MEMBERS } from "../../request/prompt-cache.js";
import { GENERATED, LIMIT_NAMES } from "../../openai/request/members.js";

const { best_of: _owned, ...refused } = GENERATED.refused ?? {};

export const MEMBERS = memberTable({
  ...GENERATED,
  refused,
  owned: [
    "model",
    "prompt",
    "stream",
    "stream_options",
    "n",
    // As many answers are held for and charged.
    "best_of",
    "max_tokens",
    "max_completion_tokens",
    ...LIMIT_NAMES,
    ...CACHE_MEMBERS,
  ],
  plain: [
    "suffix",
    "echo",
    "logprobs",
    "stop",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "seed",
    "user",
  ],
});

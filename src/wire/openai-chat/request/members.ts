/** What the gateway does with the members of a chat on OpenAI's wire. */
import { toolTable } from "../../request/hosted-tools.js";
import { ownWords } from "../../request/kept-ids.js";
import { memberTable } from "../../request/members.js";
import { CACHE_MEMBERS } from "../../request/prompt-cache.js";
import { GENERATED, LIMIT_NAMES, ROUTES } from "../../openai/request/members.js";

const TEMPLATE = "what the template reads is the request's own: its messages and tools";

export const MEMBERS = memberTable({
  ...GENERATED,
  routes: ROUTES,
  owned: [
    "model",
    "messages",
    "stream",
    "stream_options",
    "n",
    "max_completion_tokens",
    "max_tokens",
    ...LIMIT_NAMES,
    "tools",
    "functions",
    ...CACHE_MEMBERS,
  ],
  plain: [
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "logprobs",
    "seed",
    "stop",
    "parallel_tool_calls",
    "store",
    "tool_choice",
    "function_call",
    "response_format",
    "logit_bias",
    "metadata",
    "audio",
    "prediction",
    "moderation",
    "modalities",
    "reasoning_effort",
    "verbosity",
    "prompt_cache_options",
    "prompt_cache_retention",
    "user",
    "safety_identifier",
    // Of those that follow OpenAI.
    "cache_control",
    "top_k",
    "min_p",
    "top_a",
    "min_tokens",
    "repetition_penalty",
    "random_seed",
    "ignore_eos",
    "stop_token_ids",
    "include_reasoning",
    "reasoning",
    "reasoning_format",
    "thinking",
    "enable_thinking",
    "thinking_budget",
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
    "structured_outputs",
    "grammar",
    "json_schema",
    "safe_prompt",
    "prompt_mode",
    "prefix",
    "usage",
    "session_id",
  ],
  objects: {
    chat_template_kwargs: {
      plain: [
        "enable_thinking",
        "thinking",
        "thinking_budget",
        "reasoning_effort",
        "clear_thinking",
        "preserve_thinking",
      ],
      // A server hands them to its own function, whose arguments these are as well.
      refused: {
        chat_template: TEMPLATE,
        tokenize: TEMPLATE,
        tools: TEMPLATE,
        conversation: TEMPLATE,
        documents: TEMPLATE,
      },
    },
  },
});

export const TOOLS = toolTable({
  client: ["function", "custom"],
  free: ["datetime"],
  priced: {
    web_search: "web_search",
    // Moonshot's, of which `$web_search` is the one that costs.
    builtin_function: "web_search",
    // Groq's.
    browser_search: "browser_search",
    code_interpreter: "code_interpreter",
    code_execution: "code_execution",
    live_search: "live_search",
    x_search: "x_search",
    file_search: "file_search",
    image_generation: "image_generation",
    mcp: "mcp",
  },
  refused: {},
});

/** Where names of members are no ids: in schemas and calls, and in what a client notes for itself. */
export const OWN_WORDS = ownWords({
  anywhere: ["parameters", "schema", "json_schema"],
  beside: ["metadata", "guided_json", "structured_outputs"],
});

/** What the gateway does with the members of a request on OpenAI's Responses wire, and with its tools. */
import { toolTable } from "../../request/hosted-tools.js";
import { ownWords } from "../../request/kept-ids.js";
import { memberTable } from "../../request/members.js";
import { CACHE_MEMBERS } from "../../request/prompt-cache.js";
import { GENERATED, LIMIT_NAMES, ROUTES } from "../../openai/request/members.js";

const LIMIT = "write the limit of the output as 'max_output_tokens'";
const limits = ["max_tokens", "max_completion_tokens", ...LIMIT_NAMES].filter((name) => name !== "max_output_tokens");

export const MEMBERS = memberTable({
  ...GENERATED,
  routes: ROUTES,
  refused: {
    ...GENERATED.refused,
    ...Object.fromEntries(limits.map((name) => [name, LIMIT])),
    n: "only one answer is supported",
    prompt: "this gateway keeps no prompts; send its text in 'instructions'",
    access_programs: "they are the operator's",
    background_options: "this gateway keeps no answers; the answer comes to whoever waits for it",
  },
  owned: [
    "model",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "stream",
    "stream_options",
    "tools",
    ...CACHE_MEMBERS,
  ],
  plain: [
    "temperature",
    "top_p",
    "top_logprobs",
    "store",
    "parallel_tool_calls",
    "include",
    "tool_choice",
    "text",
    "personality",
    "reasoning",
    "metadata",
    "truncation",
    "prompt_cache_options",
    "prompt_cache_retention",
    "user",
    "safety_identifier",
    "context_management",
    "moderation",
    "image",
    "client_metadata",
  ],
});

export const TOOLS = toolTable({
  client: [
    "function",
    "custom",
    "namespace",
    "local_shell",
    "shell",
    "apply_patch",
    "tool_search",
    "computer",
    "computer_use",
    "programmatic_tool_calling",
  ],
  free: [],
  priced: {
    web_search: "web_search",
    file_search: "file_search",
    code_interpreter: "code_interpreter",
    image_generation: "image_generation",
    mcp: "mcp",
  },
  refused: {},
  // Agents offer it with every request, and could not work at all where it is refused.
  offeredUnasked: ["web_search"],
});

/** Where names of members are no ids: in schemas and calls, and in what a client notes for itself. */
export const OWN_WORDS = ownWords({
  anywhere: ["parameters", "schema", "input_schema", "arguments"],
  beside: ["metadata", "client_metadata"],
});

/** What the gateway does with the members of a request on Anthropic's wire, with its tools, and with its betas. */
import { toolTable } from "../../request/hosted-tools.js";
import { ownWords } from "../../request/kept-ids.js";
import { memberTable } from "../../request/members.js";
import { BETA_HEADER } from "../facts.js";

const ONE_MODEL = "the request's 'model' names the one model that is asked";
const LIMIT = "write the limit of the output as 'max_tokens'";

export const MEMBERS = memberTable({
  owned: ["model", "max_tokens", "stream", "messages", "system", "tools"],
  plain: [
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "tool_choice",
    "thinking",
    "output_config",
    "output_format",
    "metadata",
    "cache_control",
    "compaction",
    "context_management",
    "diagnostics",
  ],
  tiers: { service_tier: [], speed: [], inference_geo: ["global", "not_available"] },
  tools: { mcp_servers: "mcp" },
  containers: ["container"],
  refused: {
    fallbacks: ONE_MODEL,
    fallback_credit_token: ONE_MODEL,
    models: ONE_MODEL,
    billing_policy: "the account of the key pays",
    user_profile_id: "the account of the key pays",
    workspace_id: "the account of the key pays",
    max_tokens_to_sample: LIMIT,
    max_output_tokens: LIMIT,
    max_completion_tokens: LIMIT,
  },
  // What any of these allows has a member, a tool or a limit of its own, which decide.
  headers: {
    [BETA_HEADER]: [
      "advisor-tool-2026-03-01",
      "cache-diagnosis-2026-04-07",
      "claude-code-20250219",
      "code-execution-2025-05-22",
      "code-execution-2025-08-25",
      "compact-2026-01-12",
      "compact-2026-09-04",
      "computer-use-2024-10-22",
      "computer-use-2025-01-24",
      "computer-use-2025-11-24",
      "context-1m-2025-08-07",
      "context-management-2025-06-27",
      "dev-full-thinking-2025-05-14",
      "effort-2025-11-24",
      "extended-cache-ttl-2025-04-11",
      "fallback-credit-2026-06-01",
      "fallback-credit-2026-07-01",
      "fast-mode-2026-02-01",
      "files-api-2025-04-14",
      "fine-grained-tool-streaming-2025-05-14",
      "inline-tools-2026-09-15",
      "interleaved-thinking-2025-05-14",
      "max-tokens-3-5-sonnet-2024-07-15",
      "mcp-client-2025-04-04",
      "mcp-client-2025-11-20",
      "mcp-client-2026-09-15",
      "message-batches-2024-09-24",
      "message-threads-2026-08-12",
      "mid-conversation-output-config-2026-07-01",
      "mid-conversation-system-2026-04-07",
      "mid-conversation-system-clear-at-2026-08-21",
      "mid-conversation-tool-changes-2026-07-01",
      "model-context-window-exceeded-2025-08-26",
      "oauth-2025-04-20",
      "output-128k-2025-02-19",
      "output-300k-2026-03-24",
      "pdfs-2024-09-25",
      "prompt-caching-2024-07-31",
      "prompt-caching-scope-2026-01-05",
      "server-side-fallback-2026-06-01",
      "server-side-fallback-2026-07-01",
      "skills-2025-10-02",
      "structured-outputs-2025-11-13",
      "task-budgets-2026-03-13",
      "thinking-binding-controls-2026-08-01",
      "thinking-display-updates-2026-08-18",
      "thinking-token-count-2026-05-13",
      "token-counting-2024-11-01",
      "token-efficient-tools-2025-02-19",
      "user-profiles-2026-03-24",
      "user-profiles-2026-08-18",
      "user-profiles-2026-09-04",
      "user-profiles-billing-2026-10-01",
      "web-fetch-2025-09-10",
    ],
  },
});

export const TOOLS = toolTable({
  client: ["custom", "bash", "text_editor", "computer", "computer_toolset", "browser_toolset", "memory"],
  free: ["web_fetch", "tool_search_tool_bm25", "tool_search_tool_regex"],
  priced: { web_search: "web_search", code_execution: "code_execution", mcp_toolset: "mcp" },
  // The tools that it would search are offered all at once where there is no search.
  offeredUnasked: ["tool_search_tool_bm25", "tool_search_tool_regex"],
  refused: { advisor: "it asks another model; only the request's own 'model' is asked" },
});

/** Tools whose definition takes `max_uses`. */
export const BOUNDED: ReadonlySet<string> = new Set(["web_search"]);

/** Where names of members are no ids: in schemas and calls, and in what a client notes for itself. */
export const OWN_WORDS = ownWords({
  anywhere: ["input_schema", "input_examples", "schema"],
  // A container has a gate of its own, which knows whose it is.
  beside: ["metadata", "container"],
  inCalls: { member: "input", typeEnd: "tool_use" },
});

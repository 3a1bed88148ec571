/** How streams of every wire tell calls of tools that the upstream runs: one for each tool that has a price. */
type Json = Readonly<Record<string, unknown>>;

/** A tool by the name of its price. */
export interface ToolShape {
  readonly tool: string;
  /** The events of one call, of which the first already tells that it runs. Absent: its calls are told with the end. */
  readonly write?: (place: number) => readonly Json[];
  /** What the end of a stream tells of so many calls, as members of its usage, or of the candidate on Google's wire. */
  readonly told?: (calls: number) => Json;
  /** True where the end tells it beside its usage. */
  readonly isInCandidate?: boolean;
  /** True where it tells that there was any, and no more. */
  readonly isOnce?: boolean;
}

const item = (tool: string, type: string, done: Json = {}): ToolShape => ({
  tool,
  write: (place) => [
    { type: "response.output_item.added", output_index: place, item: { id: `i${place}`, type, status: "in_progress" } },
    { type: `response.${type}.in_progress`, output_index: place, item_id: `i${place}` },
    {
      type: "response.output_item.done",
      output_index: place,
      item: { id: `i${place}`, type, status: "completed", ...done },
    },
  ],
});

const block = (tool: string, type: string, name: string): ToolShape => ({
  tool,
  write: (index) => [
    { type: "content_block_start", index, content_block: { type, id: `s${index}`, name, input: {} } },
    { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: "{}" } },
    { type: "content_block_stop", index },
  ],
});

const chunk = (delta: Json): Json => ({ id: "x", choices: [{ index: 0, finish_reason: null, delta }] });
/** Of Groq: as it starts, and once more with what it gave back. */
const executed = (tool: string, type: string): ToolShape => ({
  tool,
  write: (index) => [
    chunk({ executed_tools: [{ index, type, arguments: "{}" }] }),
    chunk({ executed_tools: [{ index, type, arguments: "{}", output: "It gave this back." }] }),
  ],
});
/** Of xAI. */
const counted = (tool: string): ToolShape => ({
  tool,
  told: (calls) => ({ server_side_tool_usage_details: { [`${tool}_calls`]: calls, unheard_of_calls: 0 } }),
});

const grounded = (tool: string): ToolShape => ({
  tool,
  isInCandidate: true,
  told: (calls) => ({ groundingMetadata: { webSearchQueries: Array.from({ length: calls }, (_, at) => `q${at}`) } }),
});

export const TOOL_SHAPES = {
  "openai-chat": [
    executed("browser_search", "browser_search"),
    executed("web_search", "search"),
    executed("code_interpreter", "python"),
    executed("code_execution", "python"),
    {
      // Of Moonshot: the client is told to send its arguments back.
      tool: "web_search",
      write: (index) => [
        chunk({
          tool_calls: [{ index, id: `c${index}`, type: "builtin_function", function: { name: "$web_search" } }],
        }),
      ],
    },
    { tool: "web_search", told: (calls) => ({ num_search_queries: calls }) },
    { tool: "web_search", told: (calls) => ({ server_tool_use: { web_search_requests: calls } }) },
    { tool: "web_search", told: (calls) => ({ plugins: { search: { count: calls } } }) },
    { tool: "live_search", told: (calls) => ({ num_sources_used: calls }) },
    ...["web_search", "x_search", "code_interpreter", "file_search", "image_generation", "mcp"].map(counted),
  ],
  "openai-completions": ["web_search", "live_search", "code_interpreter", "mcp"].map(counted),
  "openai-responses": [
    item("web_search", "web_search_call", { action: { type: "search", query: "q" } }),
    item("file_search", "file_search_call", { queries: ["q"] }),
    item("code_interpreter", "code_interpreter_call", { code: "1" }),
    item("image_generation", "image_generation_call", { result: "aGk=" }),
    item("mcp", "mcp_call", { name: "f", arguments: "{}" }),
    item("shell_container", "shell_call", { environment: { type: "container_reference", container_id: "c" } }),
    // Of xAI.
    { tool: "live_search", told: (calls) => ({ num_sources_used: calls }) },
  ],
  anthropic: [
    block("web_search", "server_tool_use", "web_search"),
    block("code_execution", "server_tool_use", "bash_code_execution"),
    block("mcp", "mcp_tool_use", "f"),
    {
      ...block("web_search", "server_tool_use", "web_search"),
      told: (calls) => ({ server_tool_use: { web_search_requests: calls, web_fetch_requests: 3 } }),
    },
  ],
  gemini: [
    grounded("web_search"),
    grounded("enterprise_web_search"),
    grounded("exa_ai_search"),
    grounded("parallel_ai_search"),
    {
      tool: "web_search",
      isInCandidate: true,
      isOnce: true,
      told: (calls) => ({
        groundingMetadata: calls === 0 ? {} : { groundingChunks: [{ web: { uri: "https://a.b" } }] },
      }),
    },
    {
      tool: "google_maps",
      isInCandidate: true,
      isOnce: true,
      told: (calls) => ({
        groundingMetadata: calls === 0 ? {} : { groundingChunks: [{ maps: { title: "The gate" } }] },
      }),
    },
    // No answer tells of it.
    { tool: "mcp" },
  ],
  "bedrock-converse": [],
} as const satisfies Record<string, readonly ToolShape[]>;

/** One request that uses what chat clients use, and how each family on OpenAI's wire wants it: as differences. */

/** As an OpenAI client sends it. */
export const FULL = {
  model: "asked",
  messages: [
    { role: "developer", content: "Be brief." },
    { role: "user", name: "ann", content: "What is the weather in Rome?" },
    {
      role: "assistant",
      content: null,
      reasoning_content: "I need the tool.",
      tool_calls: [
        { id: "call_0123456789abcdef", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } },
      ],
    },
    { role: "tool", tool_call_id: "call_0123456789abcdef", content: "Sunny." },
    { role: "user", content: "And in Oslo?" },
  ],
  tools: [{ type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } }],
  tool_choice: "required",
  parallel_tool_calls: false,
  max_completion_tokens: 400,
  temperature: 0.5,
  seed: 7,
  stop: ["END"],
  reasoning_effort: "low",
  user: "u-1",
  stream: true,
  x_unknown: { kept: [1, 2.5] },
} as const;

/** What a family changes in the messages of `FULL`. */
export interface MessageChanges {
  readonly developer?: "developer" | "system";
  readonly name?: false;
  /** Where the thought of the assistant stands; false where it is gone. */
  readonly thought?: string | false;
  readonly callId?: string;
  /** What the assistant says between a result and the user, where the upstream lets nobody else follow. */
  readonly bridge?: string;
  /** What the model is told first, where it cannot be made to call. */
  readonly nudge?: string;
}

/** The messages with the changes made. */
export function messagesWith(changes: MessageChanges): object[] {
  const [developer, user, assistant, tool, last] = FULL.messages;
  const { name, ...unnamed } = user;
  const { reasoning_content: thought, ...rest } = assistant;
  const callId = changes.callId ?? tool.tool_call_id;
  const field = changes.thought ?? "reasoning_content";
  const first = changes.nudge === undefined ? [] : [{ role: "system", content: changes.nudge }];
  return [
    ...first,
    { ...developer, role: changes.developer ?? developer.role },
    changes.name === false ? unnamed : { ...unnamed, name },
    {
      ...rest,
      ...(field === false ? {} : { [field]: thought }),
      tool_calls: [{ ...assistant.tool_calls[0], id: callId }],
    },
    { ...tool, tool_call_id: callId },
    ...(changes.bridge === undefined ? [] : [{ role: "assistant", content: changes.bridge }]),
    last,
  ];
}

/** How one family gets the request of an OpenAI client for one of its models. */
export interface Expected {
  readonly name: string;
  readonly model: string;
  /** Address and path, for a family without an address of its own under `http://there`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly messages: MessageChanges;
  /** Members beside the messages that are there, or are otherwise. */
  readonly set: Readonly<Record<string, unknown>>;
  readonly without: readonly (keyof typeof FULL)[];
  readonly dropped: readonly string[];
}

const USAGE = { stream_options: { include_usage: true } };
const BEARER = { authorization: "Bearer sk-own", "content-type": "application/json" };
const OLD_LIMIT = { max_tokens: 400 };
const SYSTEM: MessageChanges = { developer: "system" };

/** By hand, from what is known of each upstream. */
export const EXPECTED: readonly Expected[] = [
  {
    name: "openai",
    model: "gpt-5.4",
    url: "https://api.openai.com/v1/chat/completions",
    headers: BEARER,
    messages: {},
    set: USAGE,
    without: [],
    dropped: [],
  },
  {
    name: "openai-compatible",
    model: "own",
    url: "http://there/chat/completions",
    headers: BEARER,
    messages: {},
    set: { ...USAGE },
    without: [],
    dropped: [],
  },
  {
    name: "deepseek",
    model: "deepseek-v4-pro",
    url: "https://api.deepseek.com/chat/completions",
    headers: BEARER,
    // It thinks, so no call can be forced.
    messages: { ...SYSTEM, nudge: "You must answer by calling one of the tools." },
    set: { ...USAGE, ...OLD_LIMIT, thinking: { type: "enabled" }, reasoning_effort: "low", tool_choice: "auto" },
    without: ["max_completion_tokens"],
    dropped: ["tool_choice"],
  },
  {
    name: "cohere",
    model: "a-model",
    url: "https://api.cohere.com/compatibility/v1/chat/completions",
    headers: BEARER,
    messages: { ...SYSTEM },
    set: { ...USAGE, ...OLD_LIMIT },
    without: ["max_completion_tokens", "user"],
    dropped: ["user"],
  },
  {
    name: "jina",
    model: "a-model",
    url: "https://api.jina.ai/v1/chat/completions",
    headers: BEARER,
    messages: { ...SYSTEM },
    set: { ...USAGE, ...OLD_LIMIT },
    without: ["max_completion_tokens"],
    dropped: [],
  },
  {
    name: "voyage",
    model: "a-model",
    url: "https://api.voyageai.com/v1/chat/completions",
    headers: BEARER,
    messages: { ...SYSTEM },
    set: { ...USAGE, ...OLD_LIMIT },
    without: ["max_completion_tokens"],
    dropped: [],
  },
  {
    name: "mistral",
    model: "mistral-large-latest",
    url: "https://api.mistral.ai/v1/chat/completions",
    headers: BEARER,
    // printf call_0123456789abcdef | sha256sum
    messages: { ...SYSTEM, name: false, thought: false, callId: "aff2e571f", bridge: "OK." },
    set: { ...OLD_LIMIT, random_seed: 7, tool_choice: "any" },
    without: ["max_completion_tokens", "seed", "user"],
    dropped: ["user"],
  },
  {
    name: "groq",
    model: "openai/gpt-oss-120b",
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: BEARER,
    messages: { ...SYSTEM, name: false },
    set: USAGE,
    without: [],
    dropped: [],
  },
  {
    name: "xai",
    model: "grok-4.5",
    url: "https://api.x.ai/v1/chat/completions",
    headers: BEARER,
    messages: SYSTEM,
    set: USAGE,
    without: [],
    dropped: [],
  },
  {
    name: "qwen",
    model: "qwen-plus",
    url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions",
    headers: BEARER,
    messages: SYSTEM,
    set: { ...USAGE, ...OLD_LIMIT, enable_thinking: true },
    without: ["max_completion_tokens", "reasoning_effort"],
    dropped: [],
  },
  {
    name: "moonshot",
    model: "kimi-k3",
    url: "https://api.moonshot.ai/v1/chat/completions",
    headers: BEARER,
    messages: SYSTEM,
    set: USAGE,
    without: ["temperature"],
    dropped: ["temperature"],
  },
  {
    name: "openrouter",
    model: "anthropic/claude-opus-5",
    url: "https://openrouter.ai/api/v1/chat/completions",
    headers: BEARER,
    messages: SYSTEM,
    set: { ...USAGE, reasoning: { effort: "low" } },
    without: ["reasoning_effort"],
    dropped: [],
  },
  {
    name: "azure",
    model: "my deployment",
    url: "http://there/openai/deployments/my%20deployment/chat/completions?api-version=2024-10-21",
    headers: { "api-key": "sk-own", "content-type": "application/json" },
    messages: {},
    set: USAGE,
    without: [],
    dropped: [],
  },
  {
    name: "ollama",
    model: "qwen3:8b",
    url: "http://127.0.0.1:11434/v1/chat/completions",
    headers: BEARER,
    messages: SYSTEM,
    set: { ...USAGE, ...OLD_LIMIT },
    without: ["max_completion_tokens"],
    dropped: [],
  },
  {
    name: "vllm",
    model: "org/own",
    url: "http://127.0.0.1:8000/v1/chat/completions",
    headers: BEARER,
    messages: SYSTEM,
    set: { ...USAGE, chat_template_kwargs: { enable_thinking: true } },
    without: ["reasoning_effort"],
    dropped: [],
  },
  {
    name: "llamacpp",
    model: "own",
    url: "http://there/chat/completions",
    headers: BEARER,
    messages: SYSTEM,
    set: { ...USAGE, ...OLD_LIMIT, chat_template_kwargs: { enable_thinking: true } },
    without: ["max_completion_tokens", "reasoning_effort"],
    dropped: [],
  },
];

/** The SDKs and frameworks that run as clients: the program of each, what it does, and how it finds the gateway. */
import { GREETING, REPORT } from "./saying.js";

const STRUCTURED = { city: "Oslo", degrees: 21 };

/** When all of them last ran. */
export const RAN_ON = "2026-11-29";

/** Clients that people use and the tests do not run, each with the reason. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  "`xai-sdk` (Python)": "uses gRPC to xAI's own servers, not HTTP",
  promptfoo: "uses the SDKs of many providers as optional packages, which the tests do not install",
  "`@kilocode/cli` 7.8.1": "its binaries are not in the registry; 7.7.7 ran",
  "Instructor over `google-genai`": "needs another package; the other providers of Instructor were tested",
};

/** What a program can do, and what comes of it. */
const OUTCOMES = {
  whole: GREETING,
  stream: GREETING,
  tools: REPORT,
  streamedTools: REPORT,
  /** A conversation that the server is to keep. */
  thread: REPORT,
  /** One that is not to go on where the server keeps none. */
  refusedThread: "thread_unsupported_request",
  structured: STRUCTURED,
  /** Structured, in pieces that grow. */
  partial: STRUCTURED,
  vectors: 2,
} as const;
export type Doing = keyof typeof OUTCOMES;

/**
 * Folders of Python's packages: some ask for older SDKs than the newest, and Aider for exact versions of all that it
 * runs with.
 */
export type Environment = "clients" | "older" | "aider";

export interface Client {
  /** The file of `programs`: a module of Node, or one of Python. */
  readonly program: string;
  /** Which of the program's ways, as its makers name it. */
  readonly name: string;
  /** What of the pinned packages it runs. */
  readonly packages: readonly string[];
  /** The folder of `python` whose packages it runs with. Default: `clients`. */
  readonly environment?: Environment;
  readonly does: readonly Doing[];
  /** How it finds the gateway, as docs/clients.md tells it. */
  readonly told: string;
}

/** What the program of a client prints. */
export function outcomeOf({ does }: Pick<Client, "does">): object {
  return Object.fromEntries(does.map((doing) => [doing, OUTCOMES[doing]]));
}

const NODE: readonly Doing[] = ["stream", "tools", "structured", "vectors"];
const NO_VECTORS: readonly Doing[] = ["stream", "tools", "structured"];
const TALK: readonly Doing[] = ["whole", "stream", "tools", "streamedTools"];
const SHAPED: readonly Doing[] = [...TALK, "structured"];
const ALL: readonly Doing[] = [...SHAPED, "vectors"];

const V1 = '"https://llm.example.com/v1"';
const BARE = '"https://llm.example.com"';
const V1BETA = '"https://llm.example.com/v1beta"';

export const NODE_CLIENTS: readonly Client[] = [
  ...["ChatOpenAI", "ChatOpenAI, responses"].map((name) => ({
    program: "langchain.mjs",
    name,
    packages: ["langchain", "@langchain/core", "@langchain/openai"],
    does: NODE,
    told: `\`configuration: { baseURL: ${V1} }\``,
  })),
  {
    program: "langchain.mjs",
    name: "ChatAnthropic",
    packages: ["langchain", "@langchain/anthropic"],
    does: NODE,
    told: `\`anthropicApiUrl: ${BARE}\``,
  },
  {
    program: "langchain.mjs",
    name: "ChatGoogleGenerativeAI",
    packages: ["langchain", "@langchain/google-genai"],
    does: NODE,
    told: `\`baseUrl: ${BARE}\``,
  },
  ...["openai", "openai-compatible", "mistral"].map((name) => aiSdk(`@ai-sdk/${name}`, V1)),
  aiSdk("@ai-sdk/google", V1BETA),
  ...["anthropic", "xai", "deepseek"].map((name) => aiSdk(`@ai-sdk/${name}`, V1, NO_VECTORS)),
  aiSdk("@openrouter/ai-sdk-provider", V1),
  {
    program: "openai-agents.mjs",
    name: "OpenAI Agents",
    packages: ["@openai/agents"],
    does: NO_VECTORS,
    told: `\`OPENAI_BASE_URL=https://llm.example.com/v1\``,
  },
  {
    program: "instructor.mjs",
    name: "Instructor",
    packages: ["@instructor-ai/instructor"],
    does: ["structured", "partial"],
    told: `\`OPENAI_BASE_URL=https://llm.example.com/v1\``,
  },
  {
    program: "llamaindex.mjs",
    name: "LlamaIndex",
    packages: ["llamaindex", "@llamaindex/openai", "@llamaindex/workflow"],
    does: NODE,
    told: `\`new OpenAI({ baseURL: ${V1} })\``,
  },
  {
    program: "genkit.mjs",
    name: "@genkit-ai/compat-oai",
    packages: ["genkit", "@genkit-ai/compat-oai"],
    does: NODE,
    told: `\`openAI({ baseURL: ${V1} })\``,
  },
  {
    program: "genkit.mjs",
    name: "@genkit-ai/google-genai",
    packages: ["genkit", "@genkit-ai/google-genai"],
    does: NODE,
    told: `\`googleAI({ baseUrl: ${BARE} })\``,
  },
  {
    program: "langgraph.mjs",
    name: "a graph over ChatOpenAI",
    packages: ["@langchain/langgraph", "@langchain/openai"],
    does: ["tools", "streamedTools"],
    told: `\`configuration: { baseURL: ${V1} }\``,
  },
  {
    program: "mastra.mjs",
    name: "Agent",
    packages: ["@mastra/core"],
    does: SHAPED,
    told: `\`model: { id: "openai/<identifier>", url: ${V1}, apiKey }\``,
  },
  {
    program: "adk.mjs",
    name: "LlmAgent",
    packages: ["@google/adk"],
    does: TALK,
    told: "`GOOGLE_GEMINI_BASE_URL=https://llm.example.com`",
  },
  {
    program: "acp.mjs",
    name: "claude-agent-acp",
    packages: ["@agentclientprotocol/claude-agent-acp"],
    does: ["stream"],
    told: "`ANTHROPIC_BASE_URL=https://llm.example.com`, `ANTHROPIC_API_KEY`, `ANTHROPIC_MODEL=<identifier>`",
  },
  {
    program: "claude-agent-sdk.mjs",
    name: "query",
    packages: ["@anthropic-ai/claude-agent-sdk"],
    does: ["whole", "stream", "tools"],
    told: '`env: { ANTHROPIC_BASE_URL: "https://llm.example.com", ANTHROPIC_API_KEY }`',
  },
];

function aiSdk(name: string, address: string, does: readonly Doing[] = NODE): Client {
  return { program: "ai.mjs", name, packages: ["ai", name], does, told: `\`baseURL: ${address}\`` };
}

export const PYTHON_CLIENTS: readonly Client[] = [
  ...["chat", "responses"].map((name) => ({
    program: "openai_sdk.py",
    name,
    packages: ["openai"],
    does: ALL,
    told: `\`OpenAI(base_url=${V1})\``,
  })),
  {
    program: "anthropic_sdk.py",
    name: "messages",
    packages: ["anthropic"],
    does: [...SHAPED, "thread", "refusedThread"],
    told: `\`Anthropic(base_url=${BARE})\``,
  },
  {
    program: "google_sdk.py",
    name: "google-genai",
    packages: ["google-genai"],
    does: ALL,
    told: `\`genai.Client(http_options={"base_url": ${BARE}})\``,
  },
  ...[
    { name: "openai", address: V1, does: ALL },
    { name: "anthropic", address: BARE, does: SHAPED },
    { name: "gemini", address: V1BETA, does: ALL },
  ].map(({ name, address, does }) => ({
    program: "litellm_sdk.py",
    name,
    packages: ["litellm"],
    does,
    told: `\`model="${name}/<identifier>", api_base=${address}\``,
  })),
  ...[
    { name: "OpenAIChatModel", told: `OpenAIProvider(base_url=${V1})` },
    { name: "OpenAIResponsesModel", told: `OpenAIProvider(base_url=${V1})` },
    { name: "AnthropicModel", told: `AnthropicProvider(base_url=${BARE})` },
    { name: "GoogleModel", told: `GoogleProvider(base_url=${BARE})` },
  ].map(({ name, told }) => ({
    program: "pydantic_agents.py",
    name,
    packages: ["pydantic-ai-slim"],
    does: SHAPED,
    told: `\`${told}\``,
  })),
  ...["openai", "anthropic"].map((name) => ({
    program: "instructor_models.py",
    name,
    packages: ["instructor"],
    environment: "older" as const,
    does: ["structured", "partial"] as const,
    told: `as \`${name}\``,
  })),
  ...[
    { name: "ChatOpenAI", packages: ["langchain", "langchain-openai"], address: V1, does: ALL },
    { name: "ChatOpenAI, responses", packages: ["langchain", "langchain-openai"], address: V1, does: ALL },
    { name: "ChatAnthropic", packages: ["langchain", "langchain-anthropic"], address: BARE, does: SHAPED },
    { name: "ChatGoogleGenerativeAI", packages: ["langchain", "langchain-google-genai"], address: BARE, does: ALL },
  ].map(({ name, packages, address, does }) => ({
    program: "langchain_models.py",
    name,
    packages,
    does,
    told: `\`base_url=${address}\``,
  })),
  {
    program: "langgraph_graph.py",
    name: "a graph over ChatOpenAI",
    packages: ["langgraph", "langchain-openai"],
    does: ["tools", "streamedTools"],
    told: `\`base_url=${V1}\``,
  },
  {
    program: "llamaindex_agent.py",
    name: "OpenAILike",
    packages: ["llama-index-core", "llama-index-llms-openai-like", "llama-index-embeddings-openai-like"],
    environment: "older",
    does: ALL,
    told: `\`OpenAILike(api_base=${V1}, is_chat_model=True, is_function_calling_model=True)\``,
  },
  ...[
    { name: "openai", address: V1 },
    { name: "anthropic", address: V1 },
    { name: "gemini", address: V1BETA },
  ].map(({ name, address }) => ({
    program: "dspy_program.py",
    name,
    packages: ["dspy"],
    does: ["whole", "structured"] as const,
    told: `\`dspy.LM("${name}/<identifier>", api_base=${address})\``,
  })),
  {
    program: "smolagents_agent.py",
    name: "OpenAIModel",
    packages: ["smolagents"],
    does: TALK,
    told: `\`OpenAIModel(api_base=${V1})\``,
  },
  ...["chat_completions", "responses"].map((name) => ({
    program: "openai_agents_py.py",
    name,
    packages: ["openai-agents"],
    does: SHAPED,
    told: `\`set_default_openai_client(AsyncOpenAI(base_url=${V1}))\`, \`set_default_openai_api("${name}")\``,
  })),
  {
    program: "haystack_generator.py",
    name: "OpenAIChatGenerator",
    packages: ["haystack-ai"],
    does: [...TALK, "vectors"],
    told: `\`OpenAIChatGenerator(api_base_url=${V1})\``,
  },
  {
    program: "llm_models.py",
    name: "extra-openai-models.yaml",
    packages: ["llm"],
    does: TALK,
    told:
      `in its file: \`model_id\`, \`model_name\`, \`api_base: ${V1}\`, \`api_key_name: openai\`, ` +
      "`supports_tools: true`",
  },
  {
    program: "aider_coder.py",
    name: "openai",
    packages: ["aider-chat"],
    environment: "aider",
    does: ["whole", "stream"],
    told: "`OPENAI_API_BASE=https://llm.example.com/v1`, `OPENAI_API_KEY`, `--model openai/<identifier>`",
  },
];

/** Answers of every wire that report what they used in all the parts that a price has, and what each must cost. */
import { fc } from "../../support/seeds.js";
import { messagesOf } from "../../support/fake-bedrock.js";

type Json = Readonly<Record<string, unknown>>;

/** Tokens of each kind, and calls of a search that the upstream ran. */
export const PARTS = [
  "input",
  "cache_read",
  "cache_write",
  "cache_write_1h",
  "image",
  "audio_input",
  "output",
  "reasoning",
  "audio_output",
] as const;
export type Part = (typeof PARTS)[number];
const READ: readonly Part[] = ["input", "cache_read", "cache_write", "cache_write_1h", "image", "audio_input"];

export interface Used {
  readonly parts: Readonly<Record<Part, number>>;
  readonly searches: number;
  /** Empty: the ordinary one. */
  readonly tier: string;
}

/** USD per million tokens, no two alike. */
export const SHORT = {
  input: 3,
  cache_read: 1,
  cache_write: 5,
  cache_write_1h: 7,
  image: 17,
  audio_input: 19,
  output: 11,
  reasoning: 13,
  audio_output: 23,
} as const;
export const LONG = {
  input: 29,
  cache_read: 31,
  cache_write: 37,
  cache_write_1h: 41,
  image: 53,
  audio_input: 59,
  output: 43,
  reasoning: 47,
  audio_output: 61,
} as const;
/** An input above this has the second price. */
export const LONG_ABOVE = 400;
/** In halves of the price around it. */
const TIER_HALVES: Readonly<Record<string, bigint>> = { "": 2n, priority: 4n, batch: 1n };
/** USD for a thousand. */
export const SEARCHES_USD = 10;
const NANOS_PER_SEARCH = 10_000_000n;

/** As a person would reckon it, with nothing of the gateway's. */
export function costOf({ parts, searches, tier }: Used): bigint {
  const prices = inputOf(parts) > LONG_ABOVE ? LONG : SHORT;
  let nanos = 0n;
  for (const part of PARTS) nanos += BigInt(parts[part]) * BigInt(prices[part]) * 1_000n;
  return (nanos * (TIER_HALVES[tier] ?? 0n)) / 2n + BigInt(searches) * NANOS_PER_SEARCH;
}

function inputOf(parts: Used["parts"]): number {
  return sumOf(parts, READ);
}

function sumOf(parts: Used["parts"], names: readonly Part[]): number {
  return names.reduce((sum, name) => sum + parts[name], 0);
}

/** How a wire tells what was used, and what a client of it asks. */
export interface ChargedWire {
  readonly name: string;
  /** The parts that its reports have. */
  readonly tells: readonly Part[];
  readonly tiers: readonly string[];
  readonly searchesMax: number;
  readonly path: (stream: boolean) => string;
  /** What a client sends that says this. */
  ask(text: string, used: Used, stream: boolean): Json;
  whole(used: Used): Json;
  /** Undefined where the wire has no streams. */
  readonly stream?: (used: Used) => Buffer;
}

const OUTPUT_MAX = 3_000;
const says = (content: string): Json[] => [{ role: "user", content }];
const sse = (events: readonly Json[], end = ""): Buffer =>
  Buffer.from(
    events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("") + end,
  );

function openAiUsage({ parts, searches }: Used): Json {
  const prompt = inputOf(parts);
  const completion = sumOf(parts, ["output", "reasoning", "audio_output"]);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: parts.cache_read,
      cache_write_tokens: parts.cache_write,
      image_tokens: parts.image,
      audio_tokens: parts.audio_input,
    },
    completion_tokens_details: { reasoning_tokens: parts.reasoning, audio_tokens: parts.audio_output },
    ...(searches > 0 ? { num_search_queries: searches } : {}),
  };
}

const tierOf = ({ tier }: Used): Json => (tier === "" ? {} : { service_tier: tier });

const chat: ChargedWire = {
  name: "openai-chat",
  tells: PARTS.filter((part) => part !== "cache_write_1h"),
  tiers: ["", "priority"],
  searchesMax: 3,
  path: () => "/v1/chat/completions",
  ask: (text, used, stream) => ({
    model: "openai-chat",
    messages: says(text),
    max_completion_tokens: OUTPUT_MAX,
    stream,
    ...tierOf(used),
    ...(used.searches > 0 ? { web_search_options: {} } : {}),
  }),
  whole: (used) => ({
    id: "x",
    object: "chat.completion",
    created: 1,
    model: "openai-chat",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
    usage: openAiUsage(used),
    ...tierOf(used),
  }),
  stream: (used) => {
    const head = { id: "x", object: "chat.completion.chunk", created: 1, model: "openai-chat", ...tierOf(used) };
    const choice = (delta: Json, reason: string | null): Json => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    const end = { ...head, choices: [], usage: openAiUsage(used) };
    return sse([choice({ role: "assistant", content: "Hi." }, null), choice({}, "stop"), end], "data: [DONE]\n\n");
  },
};

const completions: ChargedWire = {
  name: "openai-completions",
  tells: ["input", "cache_read", "output", "reasoning"],
  tiers: [""],
  searchesMax: 0,
  path: () => "/v1/completions",
  ask: (prompt, _used, stream) => ({ model: "openai-chat", prompt, max_tokens: OUTPUT_MAX, stream }),
  whole: (used) => ({
    id: "x",
    object: "text_completion",
    created: 1,
    model: "openai-chat",
    choices: [{ index: 0, text: "Hi.", finish_reason: "stop", logprobs: null }],
    usage: openAiUsage(used),
  }),
  stream: (used) => {
    const head = { id: "x", object: "text_completion", created: 1, model: "openai-chat" };
    const choice = { index: 0, text: "Hi.", finish_reason: "stop", logprobs: null };
    return sse(
      [
        { ...head, choices: [choice] },
        { ...head, choices: [], usage: openAiUsage(used) },
      ],
      "data: [DONE]\n\n",
    );
  },
};

const responses: ChargedWire = {
  name: "openai-responses",
  tells: ["input", "cache_read", "cache_write", "output", "reasoning"],
  tiers: ["", "priority"],
  searchesMax: 3,
  path: () => "/v1/responses",
  ask: (input, used, stream) => ({
    model: "openai-responses",
    input,
    max_output_tokens: OUTPUT_MAX,
    stream,
    ...tierOf(used),
    ...(used.searches > 0 ? { tools: [{ type: "web_search" }], max_tool_calls: used.searches } : {}),
  }),
  whole: responseOf,
  stream: (used) => {
    const response = responseOf(used);
    const opened = { ...response, status: "in_progress", output: [], usage: null };
    const events = (response["output"] as Json[]).flatMap((item, place) => [
      { type: "response.output_item.added", output_index: place, item },
      { type: "response.output_item.done", output_index: place, item },
    ]);
    const all = [{ type: "response.created", response: opened }, ...events, { type: "response.completed", response }];
    return sse(all.map((event, sequence) => Object.assign(event, { sequence_number: sequence })));
  },
};

function responseOf(used: Used): Json {
  const { parts, searches } = used;
  const [input, output] = [inputOf(parts), parts.output + parts.reasoning];
  const search = (id: string): Json => ({
    id,
    type: "web_search_call",
    status: "completed",
    action: { type: "search", query: "q" },
  });
  const content = [{ type: "output_text", text: "Hi.", annotations: [] }];
  const message = { id: "msg", type: "message", role: "assistant", status: "completed", content };
  return {
    id: "resp_x",
    object: "response",
    created_at: 1,
    model: "openai-responses",
    status: "completed",
    output: [...Array.from({ length: searches }, (_, at) => search(`i${at}`)), message],
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: parts.cache_read, cache_write_tokens: parts.cache_write },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: parts.reasoning },
      total_tokens: input + output,
    },
    ...tierOf(used),
  };
}

function anthropicUsage({ parts, searches, tier }: Used): Json {
  return {
    input_tokens: parts.input,
    cache_read_input_tokens: parts.cache_read,
    cache_creation_input_tokens: parts.cache_write + parts.cache_write_1h,
    cache_creation: {
      ephemeral_5m_input_tokens: parts.cache_write,
      ephemeral_1h_input_tokens: parts.cache_write_1h,
    },
    output_tokens: parts.output + parts.reasoning,
    output_tokens_details: { thinking_tokens: parts.reasoning },
    ...(searches > 0 ? { server_tool_use: { web_search_requests: searches } } : {}),
    service_tier: tier === "" ? "standard" : tier,
  };
}

const anthropic: ChargedWire = {
  name: "anthropic",
  tells: ["input", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning"],
  tiers: ["", "batch"],
  searchesMax: 3,
  path: () => "/v1/messages",
  ask: (text, { searches }, stream) => ({
    model: "anthropic",
    max_tokens: OUTPUT_MAX,
    messages: says(text),
    stream,
    ...(searches > 0 ? { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: searches }] } : {}),
  }),
  whole: (used) => ({
    id: "m",
    type: "message",
    role: "assistant",
    model: "anthropic",
    stop_reason: "end_turn",
    stop_sequence: null,
    content: [...searchBlocks(used), { type: "text", text: "Hi." }],
    usage: anthropicUsage(used),
  }),
  stream: (used) => {
    const head = { id: "m", type: "message", role: "assistant", model: "anthropic", stop_reason: null };
    const blocks = [...searchBlocks(used), { type: "text", text: "Hi." }].flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]);
    const usage = anthropicUsage(used);
    return sse([
      { type: "message_start", message: { ...head, content: [], usage: { ...usage, output_tokens: 1 } } },
      ...blocks,
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
      { type: "message_stop" },
    ]);
  },
};

function searchBlocks({ searches }: Used): Json[] {
  return Array.from({ length: searches }, (_, at) => [
    { type: "server_tool_use", id: `srvtoolu_${at}`, name: "web_search", input: { query: "q" } },
    { type: "web_search_tool_result", tool_use_id: `srvtoolu_${at}`, content: [] },
  ]).flat();
}

const gemini: ChargedWire = {
  name: "gemini",
  tells: ["input", "cache_read", "image", "audio_input", "output", "reasoning", "audio_output"],
  tiers: [""],
  searchesMax: 0,
  path: (stream) => `/v1beta/models/gemini:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  ask: (text) => ({
    contents: [{ role: "user", parts: [{ text }] }],
    generationConfig: { maxOutputTokens: OUTPUT_MAX },
  }),
  whole: geminiAnswer,
  stream: (used) => Buffer.from(`data: ${JSON.stringify(geminiAnswer(used))}\r\n\r\n`),
};

function geminiAnswer({ parts }: Used): Json {
  const [prompt, candidates] = [inputOf(parts), parts.output + parts.audio_output];
  return {
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hi." }] }, finishReason: "STOP" }],
    usageMetadata: {
      promptTokenCount: prompt,
      cachedContentTokenCount: parts.cache_read,
      promptTokensDetails: [
        { modality: "IMAGE", tokenCount: parts.image },
        { modality: "AUDIO", tokenCount: parts.audio_input },
      ],
      candidatesTokenCount: candidates,
      candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: parts.audio_output }],
      thoughtsTokenCount: parts.reasoning,
      totalTokenCount: prompt + candidates + parts.reasoning,
    },
    responseId: "x",
    modelVersion: "gemini",
  };
}

/** No client speaks it. */
const bedrock: ChargedWire = {
  name: "bedrock-converse",
  tells: ["input", "cache_read", "cache_write", "cache_write_1h", "output"],
  tiers: [""],
  searchesMax: 0,
  path: chat.path,
  ask: (text, used, stream) => ({ ...chat.ask(text, used, stream), model: "bedrock-converse" }),
  whole: (used) => converseOf(used),
  stream: (used) => {
    const { usage } = converseOf(used);
    return Buffer.concat(messagesOf({ content: [{ text: "Hi." }], stopReason: "end_turn", usage }));
  },
};

function converseOf({ parts }: Used): { readonly output: Json; readonly stopReason: string; readonly usage: Json } {
  const written = parts.cache_write + parts.cache_write_1h;
  return {
    output: { message: { role: "assistant", content: [{ text: "Hi." }] } },
    stopReason: "end_turn",
    usage: {
      inputTokens: parts.input,
      outputTokens: parts.output,
      totalTokens: inputOf(parts) + parts.output,
      cacheReadInputTokens: parts.cache_read,
      cacheWriteInputTokens: written,
      cacheDetails: [
        { ttl: "5m", inputTokens: parts.cache_write },
        { ttl: "1h", inputTokens: parts.cache_write_1h },
      ],
    },
  };
}

const embeddings: ChargedWire = {
  name: "openai-embeddings",
  tells: ["input"],
  tiers: [""],
  searchesMax: 0,
  path: () => "/v1/embeddings",
  ask: (input) => ({ model: "openai-embeddings", input }),
  whole: ({ parts: { input } }) => ({
    object: "list",
    model: "openai-embeddings",
    data: [{ object: "embedding", index: 0, embedding: [0.25] }],
    usage: { prompt_tokens: input, total_tokens: input },
  }),
};

export const CHARGED_WIRES = [chat, completions, responses, anthropic, gemini, bedrock, embeddings] as const;

/** What answers of a wire may have used: each part in some of them alone, and their inputs on both sides of a tier. */
export function usedOf({ tells, tiers, searchesMax }: ChargedWire): fc.Arbitrary<Used> {
  const count = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 150 }));
  const counts = fc.tuple(...PARTS.map((part) => (tells.includes(part) ? count : fc.constant(0))));
  const searches = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: searchesMax }));
  return fc.tuple(counts, searches, fc.constantFrom(...tiers), fc.boolean()).map(([all, told, tier, isLong]) => {
    const drawn = Object.fromEntries(PARTS.map((part, place) => [part, all[place] ?? 0])) as Record<Part, number>;
    // Who says a word has read and generated; rounds behind a search may each be short, so those are short in all.
    const isShort = told > 0 || !isLong;
    const input = Math.max(1, isShort ? Math.floor(drawn.input / 2) : LONG_ABOVE + 1);
    const parts = { ...drawn, input, output: tells.includes("output") ? drawn.output + 5 : 0 };
    if (isShort) for (const part of READ) if (part !== "input") parts[part] = Math.floor(parts[part] / 3);
    return { parts, searches: told, tier };
  });
}

/**
 * What servers say in words where their codes say less: one table for all wires, since servers take over each other's
 * models and wires but not their codes. Comments name the servers; the rows have whole clauses of their sentences.
 */
import type { RefusalKind } from "./upstream-refusal.js";

/** Words that decide, and the counts of tokens in them. */
export interface SaidWords {
  readonly kind: RefusalKind;
  readonly said: string;
  /** How many tokens the request has, as the server counts; undefined where it does not tell. */
  readonly actual?: string | undefined;
  /** How many it may have. */
  readonly limit?: string | undefined;
}

/** The groups `actual` and `limit` are the counts of a context. */
const CONTEXT: readonly RegExp[] = [
  // llama.cpp since October 2025, before, and its addresses for vectors.
  /request \((?<actual>\d+) tokens\) exceeds the available context size \((?<limit>\d+) tokens\)/i,
  /exceeds the available context size/i,
  /input is larger than the max context size/i,
  /input \((?<actual>\d+) tokens\) is too large to process.{0,80}?batch size: (?<limit>\d+)/i,
  /input is too large to process\. increase the physical batch size/i,
  // vLLM, by its age.
  /prompt \(length (?<actual>\d+)\) is longer than the maximum model length of (?<limit>\d+)/i,
  /prompt \(total length (?<actual>\d+)\) is too long to fit .{0,40}context length (?<limit>\d+)/i,
  /input length \((?<actual>\d+)\) exceeds model's maximum context length \((?<limit>\d+)\)/i,
  /context length is (?<limit>\d+) tokens.{0,60}?(?:has|resulted in|requested(?: about)?) (?<actual>\d+)/i,
  /passed (?<actual>\d+) input tokens.{0,120}context length is only (?<limit>\d+)/i,
  // SGLang.
  /input \((?<actual>\d+) tokens\) is longer than the model's context length \((?<limit>\d+) tokens\)/i,
  /maximum context length of (?<limit>\d+) tokens.{0,40}requested a total of (?<actual>\d+)/i,
  /input length \((?<actual>\d+) tokens\) exceeds the maximum allowed length \((?<limit>\d+) tokens\)/i,
  // TGI.
  /`max_new_tokens` must be <= (?<limit>\d+)\. given: (?<actual>\d+) `inputs`/i,
  /`inputs` must have less than (?<limit>\d+) tokens\. given: (?<actual>\d+)/i,
  // Ollama.
  /input length exceeds (?:the|maximum) context length/i,
  /prompt too long; exceeded max context length/i,
  // LM Studio.
  /keep the first (?<actual>\d+) tokens when context the overflows.{0,120}context length of only (?<limit>\d+)/i,
  /n_keep:? \(?(?<actual>\d+)\)? ?>= ?n_ctx:? \(?(?<limit>\d+)/i,
  /tokens to keep from the initial prompt is greater than the context length/i,
  // transformers.
  /input length of input_ids is (?<actual>\d+), but `?max_length`? is set to (?<limit>\d+)/i,
  /sequence length is longer than the specified maximum.{0,60}\((?<actual>\d+) > (?<limit>\d+)\)/i,
  // Anthropic, and who serves its models.
  /prompt is too long: (?<actual>\d+)(?: tokens > |, model maximum context length: )(?<limit>\d+)/i,
  /prompt is too long|input is too long for requested model/i,
  /exceed(?:s|ed)? (?:the )?context (?:limit|window)/i,
  // Google.
  /input token count \(?(?<actual>\d+)\)? exceeds the maximum number of tokens allowed \((?<limit>\d+)/i,
  /input token count is (?<actual>\d+) but model only supports up to (?<limit>\d+)/i,
  /input token count.{0,80}exceeds the maximum|exceeds the maximum number of tokens/i,
  // Mistral, xAI, Moonshot, Cerebras, Copilot, Qwen, Z.ai, MiniMax.
  /prompt contains (?<actual>\d+) tokens.{0,60}too large for model with (?<limit>\d+) maximum context length/i,
  /maximum prompt length is (?<limit>\d+) but the request contains (?<actual>\d+)/i,
  /exceeded model token limit: (?<limit>\d+) \(requested: (?<actual>\d+)\)/i,
  /current length is (?<actual>\d+) while limit is (?<limit>\d+)/i,
  /prompt token count of (?<actual>\d+) exceeds the limit of (?<limit>\d+)/i,
  /limit of (?<limit>\d+) tokens\. your messages resulted in (?<actual>\d+)/i,
  /range of input length should be \[\d+, (?<limit>\d+)\]/i,
  /prompt exceeds max length|context window exceeds limit/i,
  // Amazon's own models.
  /number of input tokens exceeds maximum length|too many input tokens/i,
  // What is left of OpenAI's, and of all who say it as OpenAI does.
  /(?:maximum|model'?s) context length|context[_ ]length[_ ]exceeded|exceeds the context window/i,
];

/** The server has no model of that name. Whole sentences: a model's name stands in many others. */
const MODEL: readonly RegExp[] = [
  // Ollama, before it had a code for it.
  /^model ['"`]?[^'"`\s]{1,200}['"`]? not found(?:, try pulling it first)?\.?$/i,
  // vLLM, SGLang.
  /^the model ['"`][^'"`\s]{1,200}['"`] does not exist\.?$/i,
  // LM Studio.
  /^no models? (?:are )?loaded\./i,
  /^(?:invalid model identifier|failed to load model) ['"`][^'"`\s]{1,200}['"`]/i,
  // infinity, and llama.cpp's router of models.
  /^model `[^`\s]{1,200}` not found/i,
  // Bedrock.
  /^The provided model identifier is invalid\.?$/,
];

/** It cannot do what this one request asks; another server of the same model may. */
const FEATURE: readonly RegExp[] = [
  // llama.cpp.
  /(?:image|audio|video) input is not supported/i,
  /this server does not support (?:embeddings|reranking|completions|chat|tokenization|multimodal)/i,
  /tools param requires --jinja|this feature is not supported by/i,
  /failed to (?:parse|initialize) (?:grammar|samplers)|error parsing grammar/i,
  // Ollama.
  /^[^\n]{0,200} does not support (?:tools|thinking|vision|insert|chat|generate|embeddings?|completions?|images?)\b/i,
  /this model (?:is missing data required for image input|does not support)/i,
  // vLLM and SGLang, whose back ends of grammars throw in many places.
  /the model does not support (?:embeddings|completions|chat completions|pooling|transcriptions|tokenization)/i,
  /is not a multimodal model|at most 0 (?:image|audio|video)/i,
  /(?:xgrammar|llguidance|outlines|guidance|grammar)[^\n]{0,80}(?:error|fail|invalid|unsupported|not supported)/i,
  /(?:failed|unable|invalid|error)[^\n]{0,60}(?:compil|pars|convert)[a-z]*[^\n]{0,40}(?:grammar|regex|json schema)/i,
  /unsupported json schema|grammar error/i,
  // LM Studio.
  /model does not support (?:images|vision|tools?)/i,
];

/** It has no room now, whatever the request is. */
const BUSY: readonly RegExp[] = [
  /server busy, please try again|maximum pending requests exceeded/i,
  /request queue is full|engine (?:is overloaded|loop is not running|process failed|dead)|enginedeaderror/i,
  /cuda (?:error: )?out of memory|model is overloaded|no slot(?:s)? available|^loading model\.?$/i,
];

const TABLE: readonly (readonly [RefusalKind, readonly RegExp[]])[] = [
  ["context", CONTEXT],
  ["unavailable", BUSY],
  ["model", MODEL],
  ["feature", FEATURE],
];

/** Of a longer sentence the beginning is read: an upstream may write what takes long to look through. */
const READ_CHARACTERS_MAX = 1_000;

/** What the sentence says; undefined where no row knows it. */
export function wordsIn(message: string): SaidWords | undefined {
  if (message === "") return undefined;
  const text = message.slice(0, READ_CHARACTERS_MAX);
  for (const [kind, rows] of TABLE)
    for (const row of rows) {
      const found = row.exec(text);
      if (found === null) continue;
      const { actual, limit } = found.groups ?? {};
      return { kind, said: found[0], actual, limit };
    }
  return undefined;
}

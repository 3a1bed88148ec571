/** What a body of the wire asks, read and checked. */
import { MODEL_CHARACTERS_MAX } from "../../request/request-size.js";
import { type JsonNode, ObjectReader, wrongValue } from "../../json/node.js";
import { LIMIT_NAMES } from "../../openai/request/members.js";
import { decodeLogitBias } from "../../openai/request/decode-maps.js";

/** A text to go on with, or the tokens of one. */
export type CompletionPrompt = string | readonly number[];

/** One request, typed. */
export interface Completion {
  readonly model: string;
  readonly prompts: readonly CompletionPrompt[];
  /** How many answers are wanted for each prompt, and how many are made to choose from. */
  readonly wanted: number;
  readonly candidates: number;
  readonly maxTokens: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly echo: boolean;
  readonly suffix: string | undefined;
  readonly logprobs: number | undefined;
  readonly stop: readonly string[];
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly presencePenalty: number | undefined;
  readonly frequencyPenalty: number | undefined;
  readonly logitBias: Readonly<Record<string, number>>;
  readonly seed: bigint | undefined;
  readonly user: string | undefined;
}

/** OpenAI's own, for a client that does not say how much it wants. */
const MAX_TOKENS_DEFAULT = 16;
/** Other names of the limit, which never go upstream. */
export const OTHER_LIMITS: readonly string[] = ["max_completion_tokens", ...LIMIT_NAMES];
const PROMPTS_MAX = 2_048;
const ANSWERS_MAX = 128;
const STOP_STRINGS_MAX = 16;
const LOGPROBS_MAX = 20;

/** Throws PARAMETER_INVALID or PARAMETER_MISSING. */
export function readCompletion(root: JsonNode): Completion {
  const reader = new ObjectReader(root, "");
  const model = reader.requiredText("model");
  if (model.length === 0 || model.length > MODEL_CHARACTERS_MAX)
    throw wrongValue("model", `it must be a string of 1 to ${MODEL_CHARACTERS_MAX} characters`);
  const stream = reader.flag("stream") ?? false;
  const options = reader.object("stream_options");
  if (options !== undefined && !stream) throw wrongValue("stream_options", "it is only allowed where 'stream' is true");
  const wanted = whole(reader, "n", 1, ANSWERS_MAX) ?? 1;
  const bestOf = whole(reader, "best_of", 1, ANSWERS_MAX) ?? wanted;
  if (bestOf < wanted) throw wrongValue("best_of", "it must be at least 'n'");
  return {
    model,
    prompts: readPrompts(reader.value("prompt") ?? reader.missing("prompt")),
    wanted,
    candidates: bestOf,
    maxTokens: readLimit(reader) ?? MAX_TOKENS_DEFAULT,
    stream,
    includeUsage: options?.flag("include_usage") ?? false,
    echo: reader.flag("echo") ?? false,
    suffix: reader.text("suffix"),
    logprobs: whole(reader, "logprobs", 0, LOGPROBS_MAX),
    stop: readStop(reader.value("stop")),
    temperature: within(reader, "temperature", 0, 2),
    topP: within(reader, "top_p", 0, 1),
    presencePenalty: within(reader, "presence_penalty", -2, 2),
    frequencyPenalty: within(reader, "frequency_penalty", -2, 2),
    logitBias: decodeLogitBias(reader),
    seed: reader.integer("seed"),
    user: reader.text("user"),
  };
}

/** The limit by whichever name; below 1, another than OpenAI's own sets none. */
function readLimit(reader: ObjectReader): number | undefined {
  const own = whole(reader, "max_tokens", 0, Number.MAX_SAFE_INTEGER);
  const others = OTHER_LIMITS.map((name) => whole(reader, name, -2, Number.MAX_SAFE_INTEGER));
  return own ?? others.find((limit) => limit !== undefined && limit >= 1);
}

function readPrompts(node: JsonNode): readonly CompletionPrompt[] {
  const must = "it must be a string, an array of strings, an array of tokens or an array of such arrays";
  if (node.kind === "string") return [node.text];
  const { items } = node;
  const first = items[0]?.kind;
  if (first === undefined) throw wrongValue("prompt", must);
  if (items.length > PROMPTS_MAX && first !== "number") throw wrongValue("prompt", `must be at most ${PROMPTS_MAX}`);
  if (items.some(({ kind }) => kind !== first)) throw wrongValue("prompt", must);
  if (first === "string") return items.map(({ text }) => text);
  const prompts = first === "number" ? [readTokens(items)] : items.map((item) => readTokens(item.items));
  if (prompts.some((tokens) => tokens === undefined)) throw wrongValue("prompt", must);
  return prompts.filter((tokens) => tokens !== undefined);
}

/** Undefined where they are no tokens. */
function readTokens(items: readonly JsonNode[]): readonly number[] | undefined {
  const tokens = items.map((item) => (item.kind === "number" ? Number(item.raw()) : -1));
  return tokens.length > 0 && tokens.every((token) => Number.isSafeInteger(token) && token >= 0) ? tokens : undefined;
}

function readStop(node: JsonNode | undefined): readonly string[] {
  if (node === undefined) return [];
  if (node.kind === "string") return [node.text];
  const isTexts = node.kind === "array" && node.items.every(({ kind }) => kind === "string");
  if (isTexts && node.items.length <= STOP_STRINGS_MAX) return node.items.map(({ text }) => text);
  throw wrongValue("stop", `it must be a string or an array of at most ${STOP_STRINGS_MAX} strings`);
}

function whole(reader: ObjectReader, key: string, least: number, most: number): number | undefined {
  const value = within(reader, key, least, most);
  if (value === undefined || Number.isSafeInteger(value)) return value;
  throw wrongValue(key, "it must be a whole number");
}

function within(reader: ObjectReader, key: string, least: number, most: number): number | undefined {
  const value = reader.number(key);
  if (value === undefined || (value >= least && value <= most)) return value;
  throw wrongValue(key, `it must be a number from ${least} to ${most}`);
}

/** The parameters of a request as they are typed, what is wrong with them, and the request that they make. */
import { playgroundWords } from "../copy/en-playground.ts";
import { parseDecimal, parseWhole, wrongDecimal, wrongWhole } from "../typed.ts";
import type { ChatRequest, Turn } from "./chat.ts";

/** Each as it was typed. Empty: the default of the model. */
export interface Settings {
  readonly system: string;
  readonly temperature: string;
  readonly topP: string;
  readonly outputTokensMax: string;
  readonly frequencyPenalty: string;
  readonly presencePenalty: string;
  readonly seed: string;
  /** One sequence a line. */
  readonly stop: string;
  readonly effort: string;
  /** A JSON list of tools. */
  readonly tools: string;
  readonly toolChoice: string;
  /** A JSON schema of the answer. */
  readonly schema: string;
}

export const NO_SETTINGS: Settings = {
  system: "",
  temperature: "",
  topP: "",
  outputTokensMax: "",
  frequencyPenalty: "",
  presencePenalty: "",
  seed: "",
  stop: "",
  effort: "",
  tools: "",
  toolChoice: "",
  schema: "",
};

const STOPS_MAX = 4;

/** What is wrong with each setting; a setting that is right is absent. */
export type Wrong = { readonly [Name in keyof Settings]?: string | undefined };

export function wrongIn(settings: Settings): Wrong {
  return {
    temperature: wrongDecimal(settings.temperature, 2),
    topP: wrongDecimal(settings.topP, 1),
    outputTokensMax: wrongWhole(settings.outputTokensMax),
    frequencyPenalty: wrongPenalty(settings.frequencyPenalty),
    presencePenalty: wrongPenalty(settings.presencePenalty),
    seed: wrongWhole(settings.seed),
    stop: linesOf(settings.stop).length > STOPS_MAX ? playgroundWords.wrongStop(STOPS_MAX) : undefined,
    tools: wrongTools(settings.tools),
    schema: wrongSchema(settings.schema),
  };
}

export function isWrong(settings: Settings): boolean {
  return Object.values(wrongIn(settings)).some((wrong) => wrong !== undefined);
}

/** The request that the settings and a conversation make. Settings that are wrong are left out. */
export function requestOf(model: string, messages: readonly Turn[], settings: Settings): ChatRequest {
  const wrong = wrongIn(settings);
  const stop = linesOf(settings.stop);
  const tools = wrong.tools === undefined ? toolsOf(settings.tools) : [];
  const schema = wrong.schema === undefined && settings.schema.trim() !== "" ? parseJson(settings.schema) : undefined;
  const seed = parseWhole(settings.seed);
  const outputTokensMax = parseWhole(settings.outputTokensMax);
  const parameters = {
    temperature: parseDecimal(settings.temperature),
    top_p: parseDecimal(settings.topP),
    max_completion_tokens: outputTokensMax === undefined ? undefined : Number(outputTokensMax),
    frequency_penalty: penaltyOf(settings.frequencyPenalty),
    presence_penalty: penaltyOf(settings.presencePenalty),
    seed: seed === undefined ? undefined : Number(seed),
    stop: stop.length === 0 ? undefined : stop,
    reasoning_effort: settings.effort || undefined,
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : settings.toolChoice || undefined,
    response_format:
      schema === undefined ? undefined : { type: "json_schema", json_schema: { name: "answer", schema } },
  };
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return { model, messages, ...Object.fromEntries(given) };
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** Penalties go from -2 to 2; a field for numbers reads their size. */
function wrongPenalty(text: string): string | undefined {
  return wrongDecimal(sizeOf(text), 2) === undefined ? undefined : playgroundWords.wrongPenalty;
}

function penaltyOf(text: string): number | undefined {
  const size = parseDecimal(sizeOf(text));
  return size === undefined ? undefined : text.trim().startsWith("-") ? -size : size;
}

function sizeOf(text: string): string {
  return text.trim().replace(/^-/, "");
}

function parseJson(text: string): unknown {
  return JSON.parse(text);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The tools, each in OpenAI's form; a function without its frame gets one. */
function toolsOf(text: string): readonly object[] {
  if (text.trim() === "") return [];
  const list = parseJson(text);
  return (Array.isArray(list) ? list : [list])
    .filter(isObject)
    .map((tool) => (isObject(tool["function"]) ? tool : { type: "function", function: tool }));
}

function wrongTools(text: string): string | undefined {
  return wrongJson(text, (value) => {
    const nameless = (Array.isArray(value) ? value : [value]).findIndex((tool: unknown) => {
      const own = isObject(tool) && isObject(tool["function"]) ? tool["function"] : tool;
      return !isObject(own) || typeof own["name"] !== "string" || own["name"] === "";
    });
    return nameless < 0 ? undefined : playgroundWords.wrongTool(nameless + 1);
  });
}

function wrongSchema(text: string): string | undefined {
  return wrongJson(text, (value) => (isObject(value) ? undefined : playgroundWords.wrongSchema));
}

function wrongJson(text: string, wrongValue: (value: unknown) => string | undefined): string | undefined {
  if (text.trim() === "") return undefined;
  try {
    return wrongValue(parseJson(text));
  } catch (error) {
    return playgroundWords.wrongJson(error instanceof Error ? error.message : String(error));
  }
}

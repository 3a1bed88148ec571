/** Parameters that the operator fills in, sets or drops in the requests of a model, in whichever wire they come. */
import type { AppliedParameters } from "../../api/applied-parameters.js";
import type { Prompt, Reasoning } from "../../api/index.js";
import type { RequestFacts } from "./request-facts.js";

/** A value for each parameter. Plain data: it crosses to the thread that writes long bodies. */
export interface ParameterValues {
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly top_k?: number | undefined;
  readonly output_tokens_max?: number | undefined;
  readonly reasoning_effort?: string | undefined;
  readonly reasoning_tokens?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly presence_penalty?: number | undefined;
  readonly frequency_penalty?: number | undefined;
  readonly service_tier?: string | undefined;
  readonly verbosity?: string | undefined;
  readonly parallel_tool_calls?: boolean | undefined;
}

export type ParameterName = keyof ParameterValues;

export const PARAMETER_NAMES = [
  "temperature",
  "top_p",
  "top_k",
  "output_tokens_max",
  "reasoning_effort",
  "reasoning_tokens",
  "stop",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "service_tier",
  "verbosity",
  "parallel_tool_calls",
] as const satisfies readonly ParameterName[];

/** A name stands in one of the three at most. */
export interface Parameters {
  /** For requests that do not have the parameter. */
  readonly default: ParameterValues;
  /** For all requests. */
  readonly set: ParameterValues;
  readonly drop: readonly ParameterName[];
}

/** Both say how much a model reasons, so that a request has either. */
const REASONING: ReadonlySet<ParameterName> = new Set(["reasoning_effort", "reasoning_tokens"]);

/** What a parameter is in the typed form. The limit of the output stands beside the prompt. */
const FIELDS: Readonly<Partial<Record<ParameterName, keyof Prompt>>> = {
  temperature: "temperature",
  top_p: "topP",
  top_k: "topK",
  seed: "seed",
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
  service_tier: "serviceTier",
  verbosity: "verbosity",
  parallel_tool_calls: "parallelToolCalls",
};

/** Names that say the same as the parameter, itself among them. */
export function sameParameters(name: ParameterName): readonly ParameterName[] {
  return REASONING.has(name) ? [...REASONING] : [name];
}

/** The parameters of a target: its own are over those of its model. Undefined where there are none. */
export function mergedParameters(
  model: Parameters | undefined,
  target: Parameters | undefined,
): Parameters | undefined {
  if (model === undefined || target === undefined) return target ?? model;
  const own = new Set([...namesIn(target.default), ...namesIn(target.set), ...target.drop].flatMap(sameParameters));
  return {
    default: { ...without(model.default, own), ...target.default },
    set: { ...without(model.set, own), ...target.set },
    drop: [...model.drop.filter((name) => !own.has(name)), ...target.drop],
  };
}

/** The names that have a value, in one order. */
export function namesIn(values: ParameterValues): ParameterName[] {
  return PARAMETER_NAMES.filter((name) => values[name] !== undefined);
}

function without(values: ParameterValues, names: ReadonlySet<ParameterName>): ParameterValues {
  return Object.fromEntries(namesIn(values).flatMap((name) => (names.has(name) ? [] : [[name, values[name]]])));
}

/** The limit of the output that a request with `said` has. */
export function outputLimitWith(
  { default: fill, set, drop }: Parameters,
  said: number | undefined,
): number | undefined {
  if (set.output_tokens_max !== undefined) return set.output_tokens_max;
  return drop.includes("output_tokens_max") ? undefined : (said ?? fill.output_tokens_max);
}

/** What of a request's facts decides its price, as the parameters leave it. */
export function factsWith(
  facts: RequestFacts,
  parameters: Parameters,
): Pick<RequestFacts, "outputTokensMax" | "serviceTier"> {
  const { default: fill, set, drop } = parameters;
  const kept = drop.includes("service_tier") ? undefined : (facts.serviceTier ?? fill.service_tier);
  return {
    outputTokensMax: outputLimitWith(parameters, facts.outputTokensMax),
    serviceTier: set.service_tier ?? kept,
  };
}

/** True where the parameters decide how the model reasons, whatever the request says of it. */
export function overridesReasoning({ set, drop }: Parameters): boolean {
  return [...REASONING].some((name) => set[name] !== undefined || drop.includes(name));
}

/** The prompt with the parameters; the very same where nothing of it changes. */
export function withParameters(prompt: Prompt, { default: fill, set, drop }: Parameters): Prompt {
  const changed: Partial<Record<keyof Prompt, unknown>> = {};
  for (const name of drop) if (hasParameter(prompt, name)) write(changed, prompt, name, undefined);
  for (const name of namesIn(fill)) if (!hasParameter(prompt, name)) write(changed, prompt, name, fill[name]);
  for (const name of namesIn(set)) write(changed, prompt, name, set[name]);
  return Object.keys(changed).length === 0 ? prompt : Object.assign({ ...prompt }, changed);
}

/** False of the limit of the output, which is no part of a prompt. */
function hasParameter(prompt: Prompt, name: ParameterName): boolean {
  if (name === "stop") return prompt.stop.length > 0;
  if (REASONING.has(name)) return prompt.reasoning !== undefined;
  const field = FIELDS[name];
  return field !== undefined && prompt[field] !== undefined;
}

function write(
  changed: Partial<Record<keyof Prompt, unknown>>,
  { tools, reasoning }: Prompt,
  name: ParameterName,
  value: ParameterValues[ParameterName],
): void {
  // Without tools the parameter means nothing, and some upstreams refuse it.
  if (name === "parallel_tool_calls" && tools.length === 0) return;
  if (name === "stop") changed.stop = value ?? [];
  else if (REASONING.has(name)) changed.reasoning = reasoningOf(name, value, reasoning);
  else {
    const field = FIELDS[name];
    if (field !== undefined) changed[field] = name === "seed" && value !== undefined ? BigInt(Number(value)) : value;
  }
}

function reasoningOf(
  name: ParameterName,
  value: ParameterValues[ParameterName],
  said: Reasoning | undefined,
): Reasoning | undefined {
  if (value === undefined) return undefined;
  const include = said?.include;
  return name === "reasoning_effort"
    ? { effort: String(value), budgetTokens: undefined, include }
    : { effort: undefined, budgetTokens: BigInt(Number(value)), include };
}

/** True where the operator alone asks for what has this name, so that its client misses nothing. */
export function isOperatorsAlone(name: string, prompt: Prompt, { default: fill, set }: Parameters): boolean {
  const parameter = PARAMETER_NAMES.find((one) => one === (name === "thinking" ? "reasoning_effort" : name));
  if (parameter === undefined || hasParameter(prompt, parameter)) return false;
  return sameParameters(parameter).some((one) => set[one] !== undefined || fill[one] !== undefined);
}

/** What the parameters changed of a request with this prompt, and with this limit of its output. */
export function appliedParameters(
  prompt: Prompt,
  saidOutputTokens: number | undefined,
  { default: fill, set, drop }: Parameters,
): AppliedParameters {
  const has = (name: ParameterName): boolean =>
    name === "output_tokens_max" ? saidOutputTokens !== undefined : hasParameter(prompt, name);
  return {
    defaulted: namesIn(fill).filter((name) => !has(name)),
    set: namesIn(set),
    dropped: drop.filter(has),
  };
}

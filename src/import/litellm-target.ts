/** What a LiteLLM deployment says of its target: how much the upstream gets, and parameters of requests. */
import { parameters } from "../config/parameter-schema.js";
import type { DraftLimits, DraftParameters } from "./draft.js";
import { type Params, textOf, textsOf } from "./litellm-upstream.js";

const LIMIT_MAX = 1_000_000_000;
const LIMITS = [
  ["rpm", "requests_per_minute"],
  ["tpm", "tokens_per_minute"],
  ["max_parallel_requests", "concurrency"],
] as const;
/** They have the same names here. */
const PARAMETERS = "temperature top_p top_k seed stop presence_penalty frequency_penalty reasoning_effort".split(" ");

/** All that is read here. */
export const TARGET_PARAMS: readonly string[] = [...LIMITS.map(([name]) => name), ...PARAMETERS, "max_tokens"];

/** Hears of what is not carried: the parameter, and why. */
type Noted = (param: string, reason: string) => void;

/** Undefined where none is said. */
export function limitsOf(params: Params, noted: Noted): DraftLimits | undefined {
  const known = LIMITS.flatMap(([from, to]) => {
    if (params[from] === undefined) return [];
    const limit = Number(textOf(params[from]) ?? Number.NaN);
    if (Number.isInteger(limit) && limit > 0 && limit <= LIMIT_MAX) return [[to, limit] as const];
    noted(from, `a limit is a whole number from 1 to ${LIMIT_MAX}`);
    return [];
  });
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

/** What two deployments of the same get together; a limit that one of them does not have is none. */
export function summed(one: DraftLimits | undefined, other: DraftLimits | undefined): DraftLimits | undefined {
  const sums = LIMITS.flatMap(([, name]) => {
    const [a, b] = [one?.[name], other?.[name]];
    return a === undefined || b === undefined ? [] : [[name, Math.min(a + b, LIMIT_MAX)] as const];
  });
  return sums.length === 0 ? undefined : Object.fromEntries(sums);
}

/** LiteLLM's parameters of a deployment are for requests that do not name them. */
export function parametersOf(params: Params, noted: Noted): DraftParameters | undefined {
  const known = PARAMETERS.flatMap((name) => {
    const texts = textsOf(params[name]);
    const value = name === "stop" ? texts : texts[0];
    return texts.length === 0 || value === undefined ? [] : [[name, value] as const];
  });
  return defaultsOf(known, noted);
}

/** It stands at the model, because the money that is held for a request follows from it. */
export function outputDefaultOf(params: Params, noted: Noted): DraftParameters | undefined {
  const text = textOf(params["max_tokens"]);
  return text === undefined ? undefined : defaultsOf([["output_tokens_max", text]], noted);
}

function defaultsOf(
  known: readonly (readonly [string, string | readonly string[]])[],
  noted: Noted,
): DraftParameters | undefined {
  const right = known.filter(([name, value]) => {
    const { success, error } = parameters.safeParse({ default: { [name]: value } });
    if (!success) noted(name, error.issues[0]?.message ?? "it is no value of this parameter");
    return success;
  });
  return right.length === 0 ? undefined : { default: Object.fromEntries(right) };
}

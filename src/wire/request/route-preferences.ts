/**
 * What a request says about who may answer it: OpenRouter's `models` and `provider`, which the gateway obeys itself and
 * sends to no upstream. Source: openrouter.ai/docs, model fallbacks and provider routing.
 */
import { defined } from "../../base/defined.js";
import type { Demands } from "../../base/demands.js";
import { FALLBACKS_MAX } from "../../base/fallback.js";
import { parsePricePerMillion } from "../../base/money.js";
import { wrongValue } from "../json/node.js";
import { objectOf } from "../json/value.js";
import { MODEL_CHARACTERS_MAX } from "./request-size.js";

export interface RoutePreferences {
  /** Models that answer in place of the one that is named, in this order. */
  readonly models?: readonly string[];
  /** Upstreams that are tried first, in this order. */
  readonly order?: readonly string[];
  /** The only upstreams that may answer. */
  readonly only?: readonly string[];
  /** Upstreams that may not answer. */
  readonly ignore?: readonly string[];
  /** False where only the upstreams of `order` may answer. */
  readonly allowsOthers?: boolean;
  /** The most that a model may cost, in pico-USD per token. */
  readonly inputPicosMax?: bigint;
  readonly outputPicosMax?: bigint;
  /** What it demands of its target beside what its account and key demand. */
  readonly demands?: Demands;
  /** By what targets are ordered. */
  readonly sort?: SortKey;
  /** True where a request is refused rather than sent without some of its parameters. */
  readonly requiresParameters?: boolean;
}

/** `price` is what the operator pays, since clients pay one price for a model. */
const SORT_KEYS = ["price", "throughput", "latency"] as const;
export type SortKey = (typeof SORT_KEYS)[number];

const UPSTREAMS_MAX = 32;
const MEMBERS = [
  "order",
  "only",
  "ignore",
  "allow_fallbacks",
  "sort",
  "max_price",
  "zdr",
  "data_collection",
  "require_parameters",
];

/** Reads one of the members. Throws PARAMETER_INVALID. */
export function routePreferences(name: string, value: unknown): RoutePreferences {
  if (name === "models") return { models: namesOf(value, name, FALLBACKS_MAX) };
  const provider = objectOf(value);
  if (provider === undefined) throw wrongValue(name, "must be an object");
  const other = Object.keys(provider).find((key) => !MEMBERS.includes(key));
  if (other !== undefined)
    throw wrongValue(`provider.${other.slice(0, 64)}`, `this gateway knows ${MEMBERS.join(", ")} of it`);
  const {
    order,
    only,
    ignore,
    allow_fallbacks: others,
    sort,
    max_price: price,
    require_parameters: required,
  } = provider;
  const names = (key: string, said: unknown): readonly string[] | undefined =>
    said === undefined || said === null ? undefined : namesOf(said, `provider.${key}`, UPSTREAMS_MAX);
  return defined({
    order: names("order", order),
    only: names("only", only),
    ignore: names("ignore", ignore),
    allowsOthers: flagOf(others, "provider.allow_fallbacks"),
    requiresParameters: flagOf(required, "provider.require_parameters"),
    sort: sort === undefined || sort === null ? undefined : wordOf(sort, SORT_KEYS, "provider.sort"),
    demands: demandsIn(provider),
    ...maxPrice(price),
  });
}

function namesOf(value: unknown, param: string, countMax: number): readonly string[] {
  const isName = (one: unknown): one is string =>
    typeof one === "string" && one.length > 0 && one.length <= MODEL_CHARACTERS_MAX;
  if (Array.isArray(value) && value.length <= countMax && value.every(isName)) return value;
  throw wrongValue(param, `must be an array of at most ${countMax} names`);
}

function flagOf(value: unknown, param: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean") throw wrongValue(param, "must be true or false");
  return value;
}

function wordOf<Word extends string>(value: unknown, words: readonly Word[], param: string): Word {
  const word = words.find((one) => one === value);
  if (word === undefined) throw wrongValue(param, `must be one of ${words.join(", ")}`);
  return word;
}

/** `zdr` is no retention, and `deny` no training; what allows demands nothing. */
function demandsIn({ zdr, data_collection: collection }: Readonly<Record<string, unknown>>): Demands | undefined {
  const isDenied =
    collection !== undefined &&
    collection !== null &&
    wordOf(collection, ["allow", "deny"], "provider.data_collection") === "deny";
  const hasRetention = flagOf(zdr, "provider.zdr") !== true;
  if (hasRetention && !isDenied) return undefined;
  return defined({
    retentionDaysMax: hasRetention ? undefined : 0,
    refusesTraining: isDenied ? (true as const) : undefined,
  });
}

/** In USD per million tokens, as numbers or as text. */
function maxPrice(value: unknown): Pick<RoutePreferences, "inputPicosMax" | "outputPicosMax"> {
  if (value === undefined || value === null) return {};
  const most = objectOf(value) ?? {};
  const other = Object.keys(most).find((key) => key !== "prompt" && key !== "completion");
  if (objectOf(value) === undefined || other !== undefined)
    throw wrongValue("provider.max_price", "must be an object with 'prompt' and 'completion'");
  const picosOf = (key: string): bigint | undefined => {
    const price = most[key];
    if (price === undefined) return undefined;
    const picos = parsePricePerMillion(String(price));
    if (picos === undefined)
      throw wrongValue(`provider.max_price.${key}`, "must be USD per million tokens, such as 1.5");
    return picos;
  };
  return defined({ inputPicosMax: picosOf("prompt"), outputPicosMax: picosOf("completion") });
}

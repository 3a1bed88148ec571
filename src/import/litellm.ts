/** `tollgate import litellm`: a LiteLLM proxy's configuration as settings of our own. */
import { parse } from "yaml";
import { defined } from "../base/defined.js";
import { isWildcard } from "../config/wildcards.js";
import { type Draft, type DraftModel, type DraftPrice, type DraftTarget, emptyDraft } from "./draft.js";
import { addRoutes, READ_SETTINGS, retriesOf, timeOf, timeoutsOf } from "./litellm-routes.js";
import { limitsOf, outputDefaultOf, parametersOf, summed, TARGET_PARAMS } from "./litellm-target.js";
import { REASONS_OF_IDENTITIES } from "./litellm-identities.js";
import { deploymentOf, holdsSecret, isBlock, type Params, textOf } from "./litellm-upstream.js";
import { perMillion, perThousand } from "./per-million.js";

const MODEL_ID = /^(?:[A-Za-z0-9][A-Za-z0-9._:/@-]{0,126}\*?|\*)$/;
const KINDS: Readonly<Record<string, DraftModel["kind"]>> = {
  chat: "chat",
  completion: "completion",
  embedding: "embedding",
  rerank: "rerank",
  moderation: "moderation",
};
/** What is read of a deployment; anything else is told as not carried. */
const READ_PARAMS = new Set([
  ..."model api_key api_base base_url custom_llm_provider weight order vertex_project vertex_location".split(" "),
  ..."timeout stream_timeout max_retries".split(" "),
  ...TARGET_PARAMS,
  ..."aws_region_name aws_access_key_id aws_secret_access_key aws_session_token vertex_credentials".split(" "),
  ..."input_cost_per_token output_cost_per_token input_cost_per_query cache_read_input_token_cost".split(" "),
  ..."cache_creation_input_token_cost output_cost_per_reasoning_token".split(" "),
]);
const READ_INFO = new Set([
  ..."id mode max_tokens max_input_tokens max_output_tokens supports_vision supports_function_calling".split(" "),
  ..."input_cost_per_token output_cost_per_token input_cost_per_query cache_read_input_token_cost".split(" "),
  ..."cache_creation_input_token_cost output_cost_per_reasoning_token".split(" "),
]);
const REDIS = "set TOLLGATE_REDIS_URL";
const REASONS: Readonly<Record<string, string>> = {
  max_parallel_requests: "set limits.concurrency of upstreams, or concurrency of accounts and keys",
  api_version: "the family azure speaks one version of the data plane",
  ...REASONS_OF_IDENTITIES,
  base_model: "the price follows the target's own model; set price where that is not known",
  master_key: "set TOLLGATE_OPERATOR_KEY, which begins with sk- and has at least 16 more characters",
  database_url: "set TOLLGATE_DATABASE_URL to a database of its own; keys, teams and spend are not read from LiteLLM's",
  environment_variables: "set them where tollgate runs",
  drop_params:
    "parameters without a place are left out and named in x-tollgate-dropped; the key setting strict refuses them",
  cache: "answers are not cached",
  guardrails: "what requests and answers say is not judged here",
  callbacks: "what was asked is in the records, metrics and traces; bodies go nowhere",
  success_callback: "what was asked is in the records, metrics and traces; bodies go nowhere",
  failure_callback: "what was asked is in the records, metrics and traces; bodies go nowhere",
  routing_strategy: "targets are chosen by priority, weight and health",
  max_budget: "set budget_day or budget_month of an account, a key or a plan: docs/keys.md",
  budget_duration: "set budget_day or budget_month of an account, a key or a plan: docs/keys.md",
  allowed_fails: "a target is ejected after five failures in a row: docs/routing.md",
  redis_host: REDIS,
  redis_port: REDIS,
  redis_password: REDIS,
  redis_url: REDIS,
  cache_params: "answers are not cached",
  content_policy_fallbacks: "an answer that was refused is an answer here",
};
/** Families whose models have no published prices. */
const UNPUBLISHED = new Set(["openai-compatible", "vllm", "ollama"]);
const NO_PLACE = "there is no setting for it here";

/** Reads a configuration. Throws an Error where it is no YAML or has no list of models. */
export function importLiteLlm(text: string): Draft {
  const root: unknown = parse(text, { schema: "failsafe", merge: true });
  if (!isBlock(root)) throw new Error("it is no LiteLLM configuration: it has no blocks");
  const draft = emptyDraft();
  const list = root["model_list"];
  if (!Array.isArray(list)) throw new Error("it is no LiteLLM configuration: it has no model_list");
  for (const [index, entry] of list.entries()) addDeployment(draft, entry, `model_list[${index}]`);
  const router = isBlock(root["router_settings"]) ? root["router_settings"] : {};
  const library = isBlock(root["litellm_settings"]) ? root["litellm_settings"] : {};
  addRoutes(draft, [library, router]);
  noteRest(draft, root);
  return draft;
}

function addDeployment(draft: Draft, entry: unknown, at: string): void {
  const block = isBlock(entry) ? entry : {};
  const params = isBlock(block["litellm_params"]) ? block["litellm_params"] : {};
  const info = isBlock(block["model_info"]) ? block["model_info"] : {};
  const name = textOf(block["model_name"]) ?? textOf(params["model"]) ?? "";
  const note = (what: string, reason: string): number => draft.notes.push({ what: `${at}${what} (${name})`, reason });
  const mode = textOf(info["mode"]);
  if (!MODEL_ID.test(name))
    return void note(
      ".model_name",
      "a model is named here by letters, digits and . _ : / @ -, perhaps with * at the end",
    );
  if (mode !== undefined && KINDS[mode] === undefined)
    return void note(".model_info.mode", `models of the mode ${mode} are not served`);
  const found = deploymentOf(params);
  if (typeof found === "string") return void note(".litellm_params.model", found);
  const isOfMany = isWildcard(name);
  if (found.model.split("*").length !== (isOfMany ? 2 : 1))
    return void note(".litellm_params.model", "the * of a wildcard stands once in both names, or in none");
  if (holdsSecret(params)) note(".litellm_params", "its key stood in the file: it is a variable now, which you set");
  for (const param of Object.keys(params).filter((key) => !READ_PARAMS.has(key)))
    note(`.litellm_params.${param}`, REASONS[param] ?? NO_PLACE);
  for (const fact of Object.keys(info).filter((key) => !READ_INFO.has(key)))
    note(`.model_info.${fact}`, REASONS[fact] ?? NO_PLACE);
  const noted = (param: string, reason: string): void => void note(`.litellm_params.${param}`, reason);
  const upstream = upstreamId(draft, found.upstream);
  const price = priceOf({ ...info, ...params }, (what, reason) => note(what, reason));
  for (const param of ["timeout", "stream_timeout"])
    if (params[param] !== undefined && timeOf(params[param]) === undefined)
      note(`.litellm_params.${param}`, "a time is from 1 s to 1 h");
  const timeouts = timeoutsOf(params["timeout"], params["stream_timeout"]);
  const model: DraftModel = draft.models.get(name) ?? { targets: [] };
  const target: DraftTarget = {
    upstream,
    ...(found.model === name ? {} : { model: found.model }),
    ...numbered("weight", params["weight"]),
    ...numbered("priority", params["order"]),
    ...(price === undefined || isOfMany ? {} : { cost: price }),
    ...defined({
      timeouts,
      retries: retriesOf(params["max_retries"], undefined),
      limits: limitsOf(params, noted),
      parameters: parametersOf(params, noted),
    }),
  };
  addTarget(model, target);
  draft.models.set(name, model);
  if (isOfMany) return void note(".model_name", priceNote(found.upstream.family));
  model.parameters ??= outputDefaultOf(params, noted);
  fill(model, { info, price, kind: found.kind ?? (mode === undefined ? undefined : KINDS[mode]) });
  if (price !== undefined && JSON.stringify(price) !== JSON.stringify(model.price))
    note(".litellm_params", "callers pay one price for a model, that of its first deployment; this one's is its cost");
}

/** What a wildcard costs, which LiteLLM does not say. */
function priceNote(family: string): string {
  return UNPUBLISHED.has(family)
    ? "models of this upstream have no published prices: set price_from: ceiling, a price and limits"
    : "its models have their published prices, and those without one are refused: docs/upstreams-and-models.md";
}

/** The same upstream and model once more is a larger share of it. */
function addTarget(model: DraftModel, target: DraftTarget): void {
  const same = model.targets.find((one) => one.upstream === target.upstream && one.model === target.model);
  if (same === undefined) model.targets.push(target);
  else {
    same.weight = (same.weight ?? 1) + (target.weight ?? 1);
    same.limits = summed(same.limits, target.limits);
  }
}

interface Said {
  readonly info: Params;
  readonly price: DraftPrice | undefined;
  readonly kind: DraftModel["kind"];
}

/** What the first deployment that says something says of the model. */
function fill(model: DraftModel, { info, price, kind }: Said): void {
  const context = countOf(info["max_input_tokens"]);
  const output = countOf(info["max_output_tokens"]) ?? countOf(info["max_tokens"]);
  const [images, tools] = [truthOf(info["supports_vision"]), truthOf(info["supports_function_calling"])];
  if (kind !== undefined) model.kind ??= kind;
  if (context !== undefined) model.context_tokens ??= context;
  if (output !== undefined) model.output_tokens_max ??= output;
  if (price !== undefined) model.price ??= price;
  if (images === undefined && tools === undefined) return;
  model.facts ??= { ...(images === undefined ? {} : { images }), ...(tools === undefined ? {} : { tools }) };
}

function priceOf(said: Params, note: (what: string, reason: string) => void): DraftPrice | undefined {
  const readAs = (name: string, unit: string, times: typeof perMillion): string | undefined => {
    const text = textOf(said[name]);
    const price = text === undefined ? undefined : times(text);
    if (text !== undefined && price === undefined) note(`.${name}`, `'${text}' is no price per ${unit}`);
    return price;
  };
  const read = (name: string): string | undefined => readAs(name, "token", perMillion);
  const [input, output] = [read("input_cost_per_token"), read("output_cost_per_token")];
  const [cacheRead, cacheWrite] = [read("cache_read_input_token_cost"), read("cache_creation_input_token_cost")];
  const reasoning = read("output_cost_per_reasoning_token");
  const query = readAs("input_cost_per_query", "query", perThousand);
  const isByQuery = query !== undefined && Number(query) > 0;
  // LiteLLM writes a price of nothing for tokens beside that of a query, and bills the query.
  if (isByQuery && Number(input ?? 0) === 0 && Number(output ?? 0) === 0) return { units: { search_unit: query } };
  if (input === undefined) return undefined;
  return {
    input,
    output: output ?? "0",
    ...(cacheRead === undefined ? {} : { cache_read: cacheRead }),
    ...(cacheWrite === undefined ? {} : { cache_write: cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}

/** An upstream's name: its family, with a number where there are several. */
function upstreamId(draft: Draft, upstream: { readonly family: string }): string {
  const text = JSON.stringify(upstream);
  for (const [id, known] of draft.upstreams) if (JSON.stringify(known) === text) return id;
  let id = upstream.family;
  for (let number = 2; draft.upstreams.has(id); number += 1) id = `${upstream.family}-${number}`;
  draft.upstreams.set(id, upstream);
  return id;
}

function noteRest({ notes }: Draft, root: Params): void {
  for (const [name, block] of Object.entries(root)) {
    if (name === "model_list") continue;
    const below = name.endsWith("_settings") && isBlock(block) ? Object.keys(block) : [];
    for (const key of below)
      if (!READ_SETTINGS.has(`${name}.${key}`))
        notes.push({ what: `${name}.${key}`, reason: REASONS[key] ?? NO_PLACE });
    if (below.length === 0) notes.push({ what: name, reason: REASONS[name] ?? NO_PLACE });
  }
}

function numbered(name: "weight" | "priority", value: unknown): { weight?: number; priority?: number } {
  const number = Number(textOf(value) ?? NaN);
  return number >= (name === "weight" ? 0 : 1) && (name === "weight" || Number.isInteger(number))
    ? { [name]: number }
    : {};
}

function countOf(value: unknown): number | undefined {
  const number = Number(textOf(value) ?? NaN);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

function truthOf(value: unknown): boolean | undefined {
  const text = textOf(value)?.toLowerCase();
  return text === "true" || (text === "false" ? false : undefined);
}

/** What a LiteLLM configuration says about routes: fallbacks, aliases, and for how long and how often is tried. */
import { defined } from "../base/defined.js";
import { FALLBACKS_MAX } from "../base/fallback.js";
import { COOL_DOWN_MS_MAX } from "../base/retries.js";
import type { Draft, DraftRetries, DraftTimeouts } from "./draft.js";
import { isBlock, type Params, textOf, textsOf } from "./litellm-upstream.js";

const NOT_CARRIED = "it names a model that is not carried, or a group of keys";
const ATTEMPTS_MAX = 10;
const TIMEOUT_S_MAX = 3_600;
const COOL_DOWN_S_MAX = COOL_DOWN_MS_MAX / 1_000;

/** The settings that `addRoutes` reads, by their blocks. */
export const READ_SETTINGS: ReadonlySet<string> = new Set(
  ["router_settings", "litellm_settings"].flatMap((block) =>
    [
      "fallbacks",
      "context_window_fallbacks",
      "default_fallbacks",
      "model_group_alias",
      "num_retries",
      "timeout",
      "request_timeout",
      "stream_timeout",
      "cooldown_time",
    ].map((name) => `${block}.${name}`),
  ),
);

/** Adds the routes of both blocks to models and upstreams that are in the draft. */
export function addRoutes(draft: Draft, blocks: readonly Params[]): void {
  const timed = blocks.filter((block) => totalOf(block) !== undefined);
  if (timed.length > 1)
    draft.notes.push({ what: "litellm_settings.request_timeout", reason: "the timeout of router_settings is carried" });
  for (const block of blocks) {
    addFallbacks(draft, block["fallbacks"]);
    addContextFallbacks(draft, block["context_window_fallbacks"]);
    addDefaultFallbacks(draft, block["default_fallbacks"]);
    addAliases(draft, block["model_group_alias"]);
    addTries(draft, block);
  }
}

/** A time of LiteLLM, in seconds, as a time of our own; undefined where it is none, or out of bounds. */
export function timeOf(value: unknown): string | undefined {
  const seconds = Number(textOf(value) ?? Number.NaN);
  return seconds >= 1 && seconds <= TIMEOUT_S_MAX ? `${Math.round(seconds * 1_000)}ms` : undefined;
}

/** The timeouts that are said; undefined where none is. */
export function timeoutsOf(total: unknown, firstOutput: unknown): DraftTimeouts | undefined {
  const known = defined({ total: timeOf(total), first_output: timeOf(firstOutput) });
  return Object.keys(known).length === 0 ? undefined : known;
}

/** Each entry of a list is a block of models, with the names that follow each. */
function pairsOf(list: unknown): readonly (readonly [string, readonly string[]])[] {
  const blocks = (Array.isArray(list) ? list : []).filter(isBlock);
  return blocks.flatMap((block) => Object.entries(block).map(([from, to]) => [from, textsOf(to)] as const));
}

function addFallbacks(draft: Draft, list: unknown): void {
  for (const [from, names] of pairsOf(list)) appendFallbacks(draft, from, names, `fallbacks.${from}`);
}

function appendFallbacks(draft: Draft, from: string, names: readonly string[], what: string): void {
  const model = draft.models.get(from);
  const known = names.filter((name) => draft.models.has(name) && name !== from);
  if (model === undefined || known.length < names.length) draft.notes.push({ what, reason: NOT_CARRIED });
  if (model === undefined || known.length === 0) return;
  const all = [...new Set([...(model.fallbacks ?? []), ...known])];
  if (all.length > FALLBACKS_MAX)
    draft.notes.push({ what, reason: `a model has at most ${FALLBACKS_MAX} fallbacks: the first are carried` });
  model.fallbacks = all.slice(0, FALLBACKS_MAX);
}

function addContextFallbacks(draft: Draft, list: unknown): void {
  for (const [from, names] of pairsOf(list)) {
    const what = `context_window_fallbacks.${from}`;
    const model = draft.models.get(from);
    const larger = names.find((name) => draft.models.has(name) && name !== from);
    if (model === undefined || larger === undefined) {
      draft.notes.push({ what, reason: NOT_CARRIED });
      continue;
    }
    if (names.length > 1) draft.notes.push({ what, reason: "one model takes what is too long: the first is carried" });
    model.on_context = larger;
  }
}

function addDefaultFallbacks(draft: Draft, list: unknown): void {
  const names = textsOf(list);
  if (names.length === 0) return;
  const kindOf = (name: string): string => draft.models.get(name)?.kind ?? "chat";
  for (const from of draft.models.keys()) {
    // A chat model answers no request for vectors.
    const others = names.filter((name) => name !== from && kindOf(name) === kindOf(from));
    if (others.length > 0) appendFallbacks(draft, from, others, `default_fallbacks (${from})`);
  }
}

function addAliases(draft: Draft, aliases: unknown): void {
  for (const [alias, group] of Object.entries(isBlock(aliases) ? aliases : {})) {
    const model = textOf(isBlock(group) ? group["model"] : group) ?? "";
    if (draft.models.has(model) && !draft.models.has(alias)) draft.aliases.set(alias, { model });
    else draft.notes.push({ what: `model_group_alias.${alias}`, reason: "it names no model that is carried" });
  }
}

/** How often and for how long all upstreams are tried. */
function addTries(draft: Draft, block: Params): void {
  const said = timeoutsOf(totalOf(block), block["stream_timeout"]);
  const tries = retriesOf(block["num_retries"], block["cooldown_time"]);
  for (const [id, upstream] of draft.upstreams) {
    const timeouts = said && { ...upstream.timeouts, ...said };
    const retries = tries && { ...upstream.retries, ...tries };
    draft.upstreams.set(id, { ...upstream, ...defined({ timeouts, retries }) });
  }
}

function totalOf(block: Params): unknown {
  return block["request_timeout"] ?? block["timeout"];
}

/** By a number of retries, and the longest cool-down in seconds; undefined where neither is said. */
export function retriesOf(count: unknown, coolDown: unknown): DraftRetries | undefined {
  const retries = Number(textOf(count) ?? Number.NaN);
  const seconds = Number(textOf(coolDown) ?? Number.NaN);
  const known = defined({
    attempts: Number.isInteger(retries) && retries >= 0 ? Math.min(retries + 1, ATTEMPTS_MAX) : undefined,
    cool_down_max: seconds >= 1 ? `${Math.round(Math.min(seconds, COOL_DOWN_S_MAX) * 1_000)}ms` : undefined,
  });
  return Object.keys(known).length === 0 ? undefined : known;
}

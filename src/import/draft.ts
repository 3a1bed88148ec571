/** A settings file that is made from another program's, and what of that has no place in it. */
import type { ModelKind } from "../api/model-kinds.js";
import { stringify } from "yaml";

/** Something that was not carried over, or not as it was. */
export interface Note {
  /** Where it stood, such as `model_list[2].litellm_params.rpm`. */
  readonly what: string;
  /** Why, and what to do instead. */
  readonly reason: string;
}

export interface DraftUpstream {
  readonly family: string;
  readonly api_key?: string | undefined;
  readonly base_url?: string | undefined;
  readonly retries?: DraftRetries | undefined;
  readonly timeouts?: DraftTimeouts | undefined;
}

export interface DraftRetries {
  readonly attempts?: number | undefined;
  /** Such as `30000ms`. */
  readonly cool_down_max?: string | undefined;
}

/** Times such as `30000ms`. */
export interface DraftTimeouts {
  readonly total?: string | undefined;
  readonly first_output?: string | undefined;
}

export interface DraftPrice {
  /** Left out where the price is of units alone. */
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  readonly cache_read?: string | undefined;
  readonly cache_write?: string | undefined;
  readonly reasoning?: string | undefined;
  readonly request?: string | undefined;
  /** USD per thousand, by unit. */
  readonly units?: Readonly<Record<string, string>> | undefined;
}

export interface DraftTarget {
  readonly upstream: string;
  readonly model?: string | undefined;
  weight?: number | undefined;
  readonly priority?: number | undefined;
  readonly cost?: DraftPrice | undefined;
  readonly timeouts?: DraftTimeouts | undefined;
  readonly retries?: DraftRetries | undefined;
  limits?: DraftLimits | undefined;
  readonly parameters?: DraftParameters | undefined;
}

/** What the upstream gets at most. */
export interface DraftLimits {
  readonly requests_per_minute?: number | undefined;
  readonly tokens_per_minute?: number | undefined;
  readonly concurrency?: number | undefined;
}

/** What a request gets that leaves it out. */
export interface DraftParameters {
  readonly default: Readonly<Record<string, string | readonly string[]>>;
}

export interface DraftModel {
  targets: DraftTarget[];
  fallbacks?: readonly string[] | undefined;
  on_context?: string | undefined;
  kind?: ModelKind | undefined;
  context_tokens?: number | undefined;
  output_tokens_max?: number | undefined;
  price?: DraftPrice | undefined;
  parameters?: DraftParameters | undefined;
  facts?: { images?: boolean | undefined; tools?: boolean | undefined } | undefined;
}

export interface Draft {
  readonly upstreams: Map<string, DraftUpstream>;
  readonly models: Map<string, DraftModel>;
  readonly aliases: Map<string, { readonly model: string }>;
  /** Models that lack something, such as a price. They stand in the file as comments, to be completed. */
  readonly stubs: Map<string, DraftModel>;
  readonly notes: Note[];
}

export function emptyDraft(): Draft {
  return { upstreams: new Map(), models: new Map(), aliases: new Map(), stubs: new Map(), notes: [] };
}

/** Turns a model that cannot be served into comments at the end of the file, and takes its name out of the others. */
export function setAside({ models, aliases, stubs, notes }: Draft, id: string, reason: string): void {
  const stub = models.get(id);
  if (stub === undefined) return;
  models.delete(id);
  stubs.set(id, stub);
  notes.push({ what: `the model '${id}'`, reason: `${reason}; it stands at the end as comments` });
  const left = `${id} is not served yet`;
  for (const [name, model] of models) {
    if (model.fallbacks?.includes(id) === true) {
      const others = model.fallbacks.filter((one) => one !== id);
      model.fallbacks = others.length === 0 ? undefined : others;
      notes.push({ what: `fallbacks.${name}`, reason: left });
    }
    if (model.on_context === id) {
      model.on_context = undefined;
      notes.push({ what: `context_window_fallbacks.${name}`, reason: left });
    }
  }
  for (const [alias, { model }] of aliases)
    if (model === id) {
      aliases.delete(alias);
      notes.push({ what: `model_group_alias.${alias}`, reason: left });
    }
}

/** The file's text: what was not carried stands at its top, so that nobody looks for it in vain. */
export function renderDraft({ upstreams, models, aliases, stubs, notes }: Draft, source: string): string {
  const lines = notes.map(({ what, reason }) => `#   ${oneLine(what)}: ${oneLine(reason)}`);
  const head = [
    `# Made from ${oneLine(source)}. Check it with: tollgate config check`,
    ...(lines.length === 0 ? [] : ["# Not carried over, or not as it was:", ...lines]),
  ];
  const settings = {
    upstreams: Object.fromEntries(upstreams),
    models: Object.fromEntries(models),
    ...(aliases.size === 0 ? {} : { aliases: Object.fromEntries(aliases) }),
  };
  return `${head.join("\n")}\n${yaml(settings)}${stubLines(stubs)}`;
}

/** Models to complete, as comments that become settings once their # is gone. */
function stubLines(stubs: Draft["stubs"]): string {
  if (stubs.size === 0) return "";
  const text = yaml({ models: Object.fromEntries(stubs) });
  const lines = text.trimEnd().split("\n").slice(1);
  return [
    "# Complete these models, remove the # of their lines, and put them below models:",
    ...lines.map((line) => `#${line}`),
    "",
  ].join("\n");
}

function yaml(settings: object): string {
  return stringify(settings, { lineWidth: 120, aliasDuplicateObjects: false });
}

/** The variables that the draft takes from the environment, with a value for each that a check of its form takes. */
export function placeholders({ upstreams }: Draft): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const { api_key: key, base_url: address } of upstreams.values()) {
    for (const name of variablesIn(key)) values[name] ??= "placeholder";
    for (const name of variablesIn(address)) values[name] = "https://placeholder.invalid";
  }
  return values;
}

function variablesIn(text: string | undefined): readonly string[] {
  return [...(text ?? "").matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ");
}

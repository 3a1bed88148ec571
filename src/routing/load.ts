/** Makes the table of routes from the settings, the environment's keys and the upstreams' own lists. */
import type { ListPrice } from "../api/index.js";
import type { ModelSettings, Settings, UpstreamSettings } from "../config/settings.js";
import { isWildcard, starIn } from "../config/wildcards.js";
import type { Family, ListedModel } from "../families/family.js";
import type { Upstream } from "../upstream/upstream.js";
import type { ModelFacts } from "../wire/wire.js";
import type { EjectionChange } from "./ejection.js";
import { UpstreamHealth } from "./upstream-health.js";
import type { ServedModel, ServedUpstream } from "./model.js";
import type { RouteTable } from "./routing.js";
import { isSameModel } from "./answered.js";
import {
  completed,
  completedConcrete,
  type Facts,
  firstTarget,
  FREE,
  type KnownModel,
  type Listings,
  NO_UPSTREAM,
  publishedOf,
  ServedModels,
} from "./served-models.js";
import { UpstreamHistory } from "./upstream-history.js";
import { concreteOf, Wildcard } from "./wildcard.js";

/** What is published of any model. */
export interface Published {
  /** `listedAs` is the name in the list, which may only begin like the one that was asked for. */
  known(pricedAs: string, modelId: string): (KnownModel & { readonly listedAs: string }) | undefined;
  facts(modelId: string): ModelFacts;
}

export interface LoadOptions {
  readonly families: readonly Family[];
  /** Where the families' usual key variables stand. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `connectMs`: how long a new connection may take; undefined leaves the default. */
  readonly connect: (baseUrl: string, connectMs: number | undefined) => Upstream;
  /** Facts of models by their identifiers, as far as they are known; `pricedAs` is the family's name there. */
  readonly known: (pricedAs: string, ids: readonly string[]) => Promise<ReadonlyMap<string, KnownModel>>;
  /** What a model can by its name, as far as it is known. */
  readonly facts: (model: string) => Promise<ModelFacts>;
  /** The same, loaded so that any model is looked up at once. */
  readonly published: () => Promise<Published>;
  /** The time of day. */
  readonly nowMs: () => number;
  /** Told what becomes of an upstream's health, or of a model's there. */
  readonly onHealth: (upstreamId: string, model: string | undefined, change: EjectionChange) => void;
}

export interface Loaded {
  readonly table: RouteTable;
  /** Models that were left out. */
  readonly unserved: readonly UnservedModel[];
  /** Aliases that were left out. */
  readonly unservedAliases: readonly UnservedModel[];
  /** What the published list says about the first target of each model, served or not. */
  readonly listPrices: ReadonlyMap<string, ListPrice>;
}

export interface UnservedModel {
  readonly id: string;
  /** Why, as the end of a sentence about the model. */
  readonly rule: string;
}

/** Upstreams by their names, and why some are none. */
export interface ConnectedUpstreams {
  readonly upstreams: ReadonlyMap<string, ServedUpstream>;
  /** Those of the database that this node cannot connect. For any other it throws. */
  readonly failed: readonly { readonly id: string; readonly rule: string }[];
}

/** Connects the upstreams of the settings, keeping those of `previous` that did not change. */
export function connectUpstreams(
  settings: Settings,
  previous: ReadonlyMap<string, ServedUpstream>,
  options: LoadOptions,
): ConnectedUpstreams {
  const upstreams = new Map<string, ServedUpstream>();
  const failed: { id: string; rule: string }[] = [];
  for (const wanted of withKeyVariables(settings, options)) {
    try {
      upstreams.set(wanted.id, connectUpstream(wanted, previous.get(wanted.id), options));
    } catch (error) {
      const rule = error instanceof Error ? error.message : String(error);
      if (wanted.isOfDatabase !== true) throw new Error(`upstreams.${wanted.id}: ${rule}`, { cause: error });
      failed.push({ id: wanted.id, rule });
    }
  }
  return { upstreams, failed };
}

/** The one that is there already, where nothing of it changed. Throws where it cannot be one. */
export function connectUpstream(
  wanted: UpstreamSettings,
  kept: ServedUpstream | undefined,
  options: LoadOptions,
): ServedUpstream {
  const { id } = wanted;
  const family = options.families.find((candidate) => candidate.name === wanted.family);
  if (family === undefined) throw new Error(`there is no family '${wanted.family}'`);
  const baseUrl = wanted.baseUrl ?? family.baseUrl ?? family.baseUrlIn?.(options.environment);
  const apiKey = wanted.apiKey ?? keyOf(family, options);
  if (baseUrl === undefined && family.connect === undefined)
    throw new Error(`the family '${family.name}' needs a base_url`);
  if (apiKey === undefined && family.needsKey) throw new Error(`the family '${family.name}' needs an api_key`);
  // What the family writes itself is over what the settings say.
  const headers =
    wanted.headers === undefined ? family.headers(apiKey) : { ...wanted.headers, ...family.headers(apiKey) };
  const credential = family.authorize === undefined ? undefined : apiKey;
  const connectMs = wanted.timeouts?.connectMs;
  const isKept =
    kept !== undefined &&
    kept.family === family &&
    kept.baseUrl === (baseUrl ?? "") &&
    kept.credential === credential &&
    kept.connectMs === connectMs &&
    same(kept.headers, headers);
  if (isKept) return kept;
  const connected = family.connect?.() ?? options.connect(baseUrl ?? "", connectMs);
  // It throws where the credential has a wrong form.
  const upstream = family.authorize?.(connected, apiKey, baseUrl ?? "", options.environment) ?? connected;
  const history = new UpstreamHistory(options.nowMs);
  const health = new UpstreamHealth((model, change) => {
    history.changed(model, change);
    options.onHealth(id, model, change);
  }, history);
  // What runs inside the process takes no credential, and is always there.
  health.hasServed = family.connect !== undefined;
  return { id, family, baseUrl: baseUrl ?? "", upstream, headers, credential, connectMs, health };
}

/** The table of the settings' models, the families' own, and the listed ones. */
export async function loadTable(
  settings: Settings,
  upstreams: ReadonlyMap<string, ServedUpstream>,
  listed: ReadonlyMap<string, readonly ListedModel[]>,
  options: LoadOptions,
): Promise<Loaded> {
  const patterns = settings.models.filter(({ id }) => isWildcard(id)).toSorted((a, b) => b.id.length - a.id.length);
  const wanted = new Map(settings.models.filter(({ id }) => !isWildcard(id)).map((model) => [model.id, model]));
  const ofSettings = new Set(wanted.keys());
  const sources = new Map<string, ListedModel>();
  const taken = takenNames(settings);
  const want = (model: ModelSettings, source: ListedModel): void => {
    if (wanted.has(model.id) || taken.has(model.id)) return;
    wanted.set(model.id, model);
    sources.set(model.id, source);
  };
  const concretes = listedConcretes(patterns, listed);
  for (const { model, source } of concretes) want(model, source);
  const targeted = targetedUpstreams(settings);
  for (const [upstreamId, models] of listed)
    if (!targeted.has(upstreamId)) for (const model of models) want(modelOf(model.id, upstreamId), model);
  const unserved: UnservedModel[] = [];
  const models = new Map<string, ServedModel>();
  const all = [...wanted.values()];
  const listings = await listingsOf(all, upstreams, options);
  const factsOf = await factsOfTargets(all, options);
  const said = new Map(settings.upstreams.map((upstream) => [upstream.id, upstream]));
  const served = new ServedModels(upstreams, (name) => factsOf.get(name), listings, said, options.nowMs());
  const listPrices = new Map<string, ListPrice>();
  for (const model of builtIn(upstreams))
    if (!taken.has(model.id)) models.set(model.id, served.make(model, model, undefined));
  const ofWildcards = new Set(concretes.map(({ model }) => model));
  for (const model of all) {
    const known = publishedOf(model, listings);
    if (known !== undefined) listPrices.set(model.id, known.listPrice);
    const complete = ofWildcards.has(model)
      ? completedConcrete(model, known, upstreams)
      : completed(model, known, upstreams);
    if (typeof complete === "object") models.set(model.id, served.make(model, complete, sources.get(model.id)));
    else if (complete !== undefined && ofSettings.has(model.id)) unserved.push({ id: model.id, rule: complete });
  }
  for (const { id, targets } of patterns)
    if (!targets.some(({ upstream }) => upstreams.has(upstream))) unserved.push({ id, rule: NO_UPSTREAM });
  // A name of the settings is never a wildcard's, also where its own model is not served here.
  const named = new Set([...taken, ...settings.models.map(({ id }) => id)].map((name) => name.toLowerCase()));
  const wildcards = await wildcardsOf(patterns, { upstreams, listed, said, named, options });
  const { aliases, unservedAliases } = aliasesOf(settings, models, wildcards);
  return { table: { models, aliases, wildcards, upstreams }, unserved, unservedAliases, listPrices };
}

/** The models of wildcards that the list of their first target has. Of two wildcards the longer name has a model. */
function listedConcretes(
  wildcards: readonly ModelSettings[],
  listed: ReadonlyMap<string, readonly ListedModel[]>,
): readonly { readonly model: ModelSettings; readonly source: ListedModel }[] {
  return wildcards.flatMap((wildcard) => {
    const { upstream, model: pattern } = firstTarget(wildcard) ?? { upstream: "", model: "" };
    return (listed.get(upstream) ?? []).flatMap((source) => {
      const star = starIn(pattern, source.id);
      const model = star === undefined ? undefined : concreteOf(wildcard, star);
      if (model === undefined || wildcards.find(({ id }) => starIn(id, model.id) !== undefined) !== wildcard) return [];
      return [{ model, source }];
    });
  });
}

interface WildcardParts {
  readonly upstreams: ReadonlyMap<string, ServedUpstream>;
  readonly listed: ReadonlyMap<string, readonly ListedModel[]>;
  readonly said: ReadonlyMap<string, UpstreamSettings>;
  /** Names that are something else, in small letters. */
  readonly named: ReadonlySet<string>;
  readonly options: LoadOptions;
}

/** Of those that name an upstream in use, in the order in which they are asked. */
async function wildcardsOf(
  wildcards: readonly ModelSettings[],
  { upstreams, listed, said, named, options }: WildcardParts,
): Promise<readonly Wildcard[]> {
  if (wildcards.length === 0) return [];
  const published = await options.published();
  const listings: Listings = ({ upstream, model }) => {
    const pricedAs = upstreams.get(upstream)?.family.pricedAs;
    const known = pricedAs === undefined ? undefined : published.known(pricedAs, model);
    // The list finds a model by the beginning of a name, and clients choose the names of a wildcard.
    return known !== undefined && isSameModel(known.listedAs, model) ? known : undefined;
  };
  return wildcards.map((wildcard) => {
    const { id, serve } = wildcard;
    const served = new ServedModels(upstreams, published.facts, listings, said, options.nowMs(), id);
    const make = (model: ModelSettings): ServedModel | undefined => {
      if (named.has(model.id.toLowerCase())) return undefined;
      const complete = completedConcrete(model, publishedOf(model, listings), upstreams);
      return complete && served.make(model, complete, undefined);
    };
    return new Wildcard(wildcard, {
      make,
      isListOnly: serve === "list" && listed.has(firstTarget(wildcard)?.upstream ?? ""),
    });
  });
}

/**
 * The upstreams that serve only the models which settings name on them. A model of the database decides that of an
 * upstream of the database alone: it takes no listed model away from another one.
 */
export function targetedUpstreams({ upstreams, models }: Settings): ReadonlySet<string> {
  const ofDatabase = new Set(upstreams.filter((one) => one.isOfDatabase === true).map(({ id }) => id));
  return new Set(
    models.flatMap(({ targets, isOfDatabase }) =>
      targets.map(({ upstream }) => upstream).filter((id) => isOfDatabase !== true || ofDatabase.has(id)),
    ),
  );
}

/** Names of objects by which neither a built-in model nor one of an upstream's list is served. */
function takenNames({ aliases, unusedNames = new Set() }: Settings): ReadonlySet<string> {
  const unused = [...unusedNames].flatMap((id) => /^(?:model|alias)\/([^]*)$/.exec(id)?.[1] ?? []);
  return new Set([...unused, ...aliases.map(({ id }) => id)]);
}

function concreteIn(wildcards: readonly Wildcard[], name: string): ServedModel | undefined {
  const wildcard = wildcards.find((one) => one.nameOf(name) === name);
  return wildcard?.find(name);
}

/** The models that aliases stand for, each with the name of its alias. */
function aliasesOf(settings: Settings, models: ReadonlyMap<string, ServedModel>, wildcards: readonly Wildcard[]) {
  const aliases = new Map<string, ServedModel>();
  const unservedAliases: UnservedModel[] = [];
  for (const { id: alias, model: name, displayName } of settings.aliases) {
    const model = models.get(name) ?? concreteIn(wildcards, name);
    if (model === undefined) unservedAliases.push({ id: alias, rule: `stands for "${name}", which is not served` });
    else aliases.set(alias, { ...model, alias, displayName });
  }
  return { aliases, unservedAliases };
}

/** Families whose usual key variable is set are served too; with nothing at all, those that need no network. */
export function withKeyVariables(
  { upstreams: named, unusedNames }: Pick<Settings, "upstreams" | "unusedNames">,
  options: Pick<LoadOptions, "families" | "environment">,
): readonly UpstreamSettings[] {
  const all = [...named];
  for (const family of options.families) {
    // One of a file takes the place of its family's; one of the database that of its own name alone.
    const isNamed = named.some(
      ({ id, family: own, isOfDatabase }) => id === family.name || (own === family.name && isOfDatabase !== true),
    );
    if (isNamed || unusedNames?.has(`upstream/${family.name}`) === true) continue;
    if (keyOf(family, options) === undefined) continue;
    all.push(unsaid(family));
  }
  if (all.length > 0) return all;
  return options.families.filter((family) => family.connect !== undefined).map(unsaid);
}

/** An upstream of which no settings say anything. */
function unsaid({ name }: Family): UpstreamSettings {
  const apiKey = undefined;
  return { id: name, family: name, apiKey, baseUrl: undefined, unknownMembers: "pass", promptCache: undefined };
}

function keyOf(family: Family, options: Pick<LoadOptions, "environment">): string | undefined {
  if (family.keyVariable === undefined) return undefined;
  return options.environment[family.keyVariable] || undefined;
}

function builtIn(upstreams: ReadonlyMap<string, ServedUpstream>): (ModelSettings & Facts)[] {
  return [...upstreams.values()].flatMap((served) =>
    served.family.builtInModels.map((model) => ({
      ...modelOf(model.id, served.id),
      ...model,
      price: FREE,
      isListPriced: false,
    })),
  );
}

function modelOf(id: string, upstream: string): ModelSettings {
  const targets = [{ upstream, model: id, weight: 1, priority: 1, cost: undefined }];
  const unknown = { kind: undefined, contextTokens: undefined, outputTokensMax: undefined, price: undefined };
  return { id, targets, ...unknown, facts: {} };
}

async function listingsOf(
  models: readonly ModelSettings[],
  upstreams: ReadonlyMap<string, ServedUpstream>,
  options: LoadOptions,
): Promise<Listings> {
  const asked = new Map<string, Set<string>>();
  const pricedAs = (upstream: string): string | undefined => upstreams.get(upstream)?.family.pricedAs;
  for (const target of models.flatMap((model) => model.targets)) {
    const name = pricedAs(target.upstream);
    if (name !== undefined) asked.set(name, (asked.get(name) ?? new Set()).add(target.model));
  }
  const known = new Map<string, ReadonlyMap<string, KnownModel>>();
  for (const [name, ids] of asked) known.set(name, await options.known(name, [...ids]));
  return (target) => known.get(pricedAs(target.upstream) ?? "")?.get(target.model);
}

/** What is known of each model that a target names. */
async function factsOfTargets(
  models: readonly ModelSettings[],
  options: LoadOptions,
): Promise<ReadonlyMap<string, ModelFacts>> {
  const facts = new Map<string, ModelFacts>();
  for (const { model } of models.flatMap(({ targets }) => targets))
    if (!facts.has(model)) facts.set(model, await options.facts(model));
  return facts;
}

function same(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

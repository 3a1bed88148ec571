/** Makes the table of routes from the settings, the environment's keys and the upstreams' own lists. */
import type { ListPrice, Price } from "../api/index.js";
import type { ModelSettings, Settings, TargetSettings, UpstreamSettings } from "../config/settings.js";
import type { Family, ListedModel, ModelKind } from "../families/family.js";
import { PRICE_LIST } from "../pricing/price-list.js";
import type { Upstream } from "../upstream/upstream.js";
import type { ModelFacts } from "../wire/wire.js";
import { REQUEST_TIMEOUTS } from "./deadline.js";
import type { EjectionChange } from "./ejection.js";
import { UpstreamHealth } from "./upstream-health.js";
import type { ServedModel, ServedUpstream, Target } from "./model.js";
import type { RouteTable } from "./routing.js";
import { retriesOf, timeoutsOf } from "./target-settings.js";

/** What is publicly known of a model. */
export interface KnownModel {
  readonly price: Price;
  readonly contextTokens: number | undefined;
  readonly outputTokensMax: number | undefined;
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
  /** The time of day. */
  readonly nowMs: () => number;
  /** Told what becomes of an upstream's health, or of a model's there. */
  readonly onHealth: (upstreamId: string, model: string | undefined, change: EjectionChange) => void;
}

export interface Loaded {
  readonly table: RouteTable;
  /** Models that were left out. */
  readonly unserved: readonly UnservedModel[];
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
  const headers = family.headers(apiKey);
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
  const health = new UpstreamHealth((model, change) => options.onHealth(id, model, change));
  // What runs inside the process takes no credential, and is always there.
  health.hasServed = family.connect !== undefined;
  return { id, family, baseUrl: baseUrl ?? "", upstream, headers, credential, connectMs, health };
}

/** Most refusals come before, and proxies cut what is silent for a minute. */
const STREAM_HEAD_MS = 10_000;

/** The table of the settings' models, the families' own, and the listed ones. */
export async function loadTable(
  settings: Settings,
  upstreams: ReadonlyMap<string, ServedUpstream>,
  listed: ReadonlyMap<string, readonly ListedModel[]>,
  options: LoadOptions,
): Promise<Loaded> {
  const wanted = new Map(settings.models.map((model) => [model.id, model]));
  const sources = new Map<string, ListedModel>();
  for (const [upstreamId, models] of listed) {
    for (const model of models) {
      if (wanted.has(model.id) || settings.unusedNames?.has(`model/${model.id}`) === true) continue;
      wanted.set(model.id, modelOf(model.id, upstreamId));
      sources.set(model.id, model);
    }
  }
  const unserved: UnservedModel[] = [];
  const models = new Map<string, ServedModel>();
  const listings = await listingsOf([...wanted.values()], upstreams, options);
  const facts = knownFacts([...wanted.values()], listings);
  const factsOf = await factsOfTargets([...wanted.values()], options);
  const said = new Map(settings.upstreams.map((upstream) => [upstream.id, upstream]));
  const served = new ServedModels(upstreams, factsOf, listings, said, options.nowMs());
  for (const model of builtIn(upstreams)) models.set(model.id, served.make(model, model, undefined));
  for (const model of wanted.values()) {
    const known = facts.get(model.id);
    const price = model.price ?? known?.price;
    const contextTokens = model.contextTokens ?? known?.contextTokens ?? 0;
    const outputTokensMax = model.outputTokensMax ?? known?.outputTokensMax ?? contextTokens;
    if (!model.targets.some(({ upstream }) => upstreams.has(upstream))) {
      unserved.push({ id: model.id, rule: "has no target whose upstream is in use" });
    } else if (price === undefined) {
      unserved.push({ id: model.id, rule: "has no price that is publicly known, so it cannot be served; set 'price'" });
    } else if (outputTokensMax === 0 && price.outputPicos > 0n) {
      const rule = "has no output limit that is publicly known, so it cannot be served; set 'output_tokens_max'";
      unserved.push({ id: model.id, rule });
    } else {
      const isListPriced = model.price === undefined;
      const complete = { price, isListPriced, listPrice: known?.listPrice, contextTokens, outputTokensMax };
      models.set(model.id, served.make(model, complete, sources.get(model.id)));
    }
  }
  const listPrices = new Map([...facts].map(([id, { listPrice }]) => [id, listPrice]));
  return { table: { models, upstreams }, unserved, listPrices };
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

interface Facts {
  readonly price: Price;
  readonly isListPriced: boolean;
  readonly listPrice?: ListPrice | undefined;
  readonly contextTokens: number;
  readonly outputTokensMax: number;
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

/** What published lists say of a target; undefined where they say nothing. */
type Listings = (target: TargetSettings) => KnownModel | undefined;

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

interface PublishedModel extends KnownModel {
  readonly listPrice: ListPrice;
}

/**
 * What is known of each model: the price of its first target, which a fallback must not raise, and the least that all
 * targets can. Why: docs/decisions/0404-prices.md.
 */
function knownFacts(models: readonly ModelSettings[], listings: Listings): ReadonlyMap<string, PublishedModel> {
  const facts = new Map<string, PublishedModel>();
  for (const { id, targets } of models) {
    const [target, ...fallbacks] = targets.toSorted(byPriority);
    const first = target === undefined ? undefined : listings(target);
    if (target === undefined || first === undefined) continue;
    const all = [first, ...fallbacks.map(listings).filter((fact) => fact !== undefined)];
    facts.set(id, {
      price: first.price,
      listPrice: { price: first.price, upstream: target.upstream, model: target.model, ...PRICE_LIST },
      contextTokens: least(all.map((fact) => fact.contextTokens)),
      outputTokensMax: least(all.map((fact) => fact.outputTokensMax)),
    });
  }
  return facts;
}

/** In the order in which targets are tried; equal ones stay as the settings name them. */
function byPriority(a: { readonly priority: number }, b: { readonly priority: number }): number {
  return a.priority - b.priority;
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

/** Makes served models of what the settings and the lists say. */
class ServedModels {
  constructor(
    private readonly upstreams: ReadonlyMap<string, ServedUpstream>,
    private readonly known: ReadonlyMap<string, ModelFacts>,
    private readonly listings: Listings,
    private readonly settings: ReadonlyMap<string, UpstreamSettings>,
    private readonly nowMs: number,
  ) {}

  make(model: ModelSettings, facts: Facts, listed: ListedModel | undefined): ServedModel {
    const targets: Target[] = [];
    const isOnly = new Set(model.targets.map(({ upstream }) => upstream)).size === 1;
    for (const target of model.targets) {
      const { upstream, model: name, weight, priority } = target;
      const served = this.upstreams.get(upstream);
      if (served === undefined) continue;
      const own = { ...this.known.get(name), ...model.facts };
      const listed = this.listings(target)?.price;
      // What runs inside the process costs nobody anything.
      const cost = target.cost ?? listed ?? (served.family.connect === undefined ? undefined : FREE);
      const health = served.health.of(name);
      const settings = this.settings.get(upstream);
      const { unknownMembers, mediaAddresses, promptCache, passesUnifiedLimits } = settings ?? {};
      const said = {
        knownMembersOnly: unknownMembers === "refuse",
        refusesAddresses: (mediaAddresses ?? (served.family.isSelfHosted ? "refuse" : "pass")) === "refuse",
        promptCache,
        // Of several upstreams the limits of one say nothing of the next request.
        passesUnifiedLimits: isOnly && passesUnifiedLimits === true,
        timeouts: timeoutsOf(settings?.timeouts, model.timeouts, target.timeouts),
        retries: retriesOf(settings?.retries, model.retries, target.retries),
      };
      targets.push({
        served,
        model: name,
        health,
        facts: own,
        toldFacts: model.facts,
        ...said,
        cost,
        weight,
        priority,
      });
    }
    targets.sort(byPriority);
    return {
      id: model.id,
      owner: targets[0]?.served.family.name ?? "tollgate",
      createTime: new Date(listed?.createdSeconds === undefined ? this.nowMs : listed.createdSeconds * 1000),
      kind: model.kind ?? listed?.kind ?? kindOf(targets),
      contextTokens: facts.contextTokens,
      outputTokensMax: facts.outputTokensMax,
      streamHeadMs: model.streamHeadMs ?? STREAM_HEAD_MS,
      hostedTools: model.hostedTools,
      hasAffinity: model.affinity !== "off" && haveEquals(targets),
      totalMs: Math.max(...targets.map(({ timeouts = REQUEST_TIMEOUTS }) => timeouts.totalMs)),
      price: facts.price,
      isListPriced: facts.isListPriced,
      listPrice: facts.listPrice,
      retireTime: model.retireTime ?? listed?.retireTime,
      targets,
    };
  }
}

/** True where two of them have the same priority; they are in the order of their priorities. */
function haveEquals(targets: readonly Target[]): boolean {
  return targets.some((target, place) => target.priority === targets[place + 1]?.priority);
}

/** What the families know of their models; undefined where they do not, or differ. */
function kindOf(targets: readonly Target[]): ModelKind | undefined {
  const kinds = targets.map(
    ({ served, model }) => served.family.modelKinds?.find(({ startsWith }) => model.startsWith(startsWith))?.kind,
  );
  return kinds.every((kind) => kind === kinds[0]) ? kinds[0] : undefined;
}

function least(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function same(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

const FREE: Price = {
  inputPicos: 0n,
  cacheReadPicos: 0n,
  cacheWritePicos: 0n,
  cacheWrite1hPicos: 0n,
  outputPicos: 0n,
  reasoningPicos: 0n,
  imagePicos: 0n,
  audioInputPicos: 0n,
  audioOutputPicos: 0n,
  requestPicos: 0n,
  tiers: [],
  serviceTiers: [],
  tools: [],
  rates: [],
  tokensUnpriced: false,
};

/** Makes models as the gateway serves them of what the settings and the lists say. */
import type { ListPrice, Price } from "../api/index.js";
import { defined } from "../base/defined.js";
import type { ModelSettings, TargetSettings, UpstreamSettings } from "../config/settings.js";
import type { ListedModel, ModelKind } from "../families/family.js";
import type { PriceSource } from "../pricing/price-list.js";
import { mergedParameters } from "../wire/request/parameters.js";
import type { ModelFacts } from "../wire/wire.js";
import { REQUEST_TIMEOUTS } from "./deadline.js";
import type { ServedModel, ServedUpstream, Target } from "./model.js";
import { contextOf } from "./eligible-targets.js";
import { limitsOf } from "./target-limiter.js";
import { labelsOf, retriesOf, timeoutsOf } from "./target-settings.js";

/** Most refusals come before, and proxies cut what is silent for a minute. */
const STREAM_HEAD_MS = 10_000;

export interface Facts {
  readonly price: Price;
  readonly isListPriced: boolean;
  readonly listPrice?: ListPrice | undefined;
  readonly contextTokens: number;
  readonly outputTokensMax: number;
}

export const FREE: Price = {
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

export const NO_UPSTREAM = "has no target whose upstream is in use";

/** What a model is served with; or, as the end of a sentence, why it cannot be served. */
export function completed(
  model: ModelSettings,
  known: PublishedModel | undefined,
  upstreams: ReadonlyMap<string, ServedUpstream>,
): Facts | string {
  const price = model.price ?? known?.price;
  const contextTokens = model.contextTokens ?? known?.contextTokens ?? 0;
  const outputTokensMax = model.outputTokensMax ?? known?.outputTokensMax ?? contextTokens;
  if (!model.targets.some(({ upstream }) => upstreams.has(upstream))) return NO_UPSTREAM;
  if (price === undefined) return "has no price that is publicly known, so it cannot be served; set 'price'";
  if (outputTokensMax === 0 && price.outputPicos > 0n)
    return "has no output limit that is publicly known, so it cannot be served; set 'output_tokens_max'";
  return {
    price,
    isListPriced: model.price === undefined,
    listPrice: known?.listPrice,
    contextTokens,
    outputTokensMax,
  };
}

/** What is known of a model of a wildcard; undefined where its price or one of its limits is not. */
export function completedConcrete(
  model: ModelSettings,
  known: PublishedModel | undefined,
  upstreams: ReadonlyMap<string, ServedUpstream>,
): Facts | undefined {
  const facts = completed(model, known, upstreams);
  return typeof facts === "string" || facts.contextTokens === 0 ? undefined : facts;
}

/** What is publicly known of a model. */
export interface KnownModel {
  readonly price: Price;
  readonly contextTokens: number | undefined;
  readonly outputTokensMax: number | undefined;
  /** The list that has the price. */
  readonly source: PriceSource;
}

export interface PublishedModel extends Omit<KnownModel, "source"> {
  readonly listPrice: ListPrice;
}

/** What published lists say of a target; undefined where they say nothing. */
export type Listings = (target: TargetSettings) => KnownModel | undefined;

const MARKS_SECONDS = { "5m": 300, "1h": 3_600 } as const;

/** Makes served models of what the settings and the lists say. */
export class ServedModels {
  constructor(
    private readonly upstreams: ReadonlyMap<string, ServedUpstream>,
    private readonly known: (model: string) => ModelFacts | undefined,
    private readonly listings: Listings,
    private readonly settings: ReadonlyMap<string, UpstreamSettings>,
    private readonly nowMs: number,
    /** The wildcard that makes the models. Absent: they are of the settings or of a list. */
    private readonly wildcard?: string,
  ) {}

  make(model: ModelSettings, facts: Facts, listed: ListedModel | undefined): ServedModel {
    const isOnly = new Set(model.targets.map(({ upstream }) => upstream)).size === 1;
    const targets = model.targets
      .map((target) => this.#targetOf(model, facts, target, isOnly))
      .filter((target) => target !== undefined);
    targets.sort(byPriority);
    return {
      id: model.id,
      displayName: model.displayName,
      wildcard: this.wildcard,
      owner: targets[0]?.served.family.name ?? "tollgate",
      createTime: new Date(listed?.createdSeconds === undefined ? this.nowMs : listed.createdSeconds * 1000),
      kind: model.kind ?? listed?.kind ?? kindOf(targets),
      contextTokens: largestContext(targets, facts.contextTokens),
      outputTokensMax: facts.outputTokensMax,
      streamHeadMs: model.streamHeadMs ?? STREAM_HEAD_MS,
      hostedTools: model.hostedTools,
      hasAffinity: model.affinity !== "off" && haveEquals(targets),
      balance: model.balance,
      contextLeast: contextLeast(targets, facts.contextTokens, model.onContext !== undefined),
      fallbacks: model.fallbacks,
      onContext: model.onContext,
      parameters: model.parameters,
      cacheMarksSeconds: model.cacheMarks === "auto" ? MARKS_SECONDS[model.cacheMarksTtl ?? "5m"] : undefined,
      totalMs: Math.max(...targets.map(({ timeouts = REQUEST_TIMEOUTS }) => timeouts.totalMs)),
      price: facts.price,
      isListPriced: facts.isListPriced,
      isCeilingPriced: model.priceFrom === "ceiling",
      listPrice: facts.listPrice,
      retireTime: model.retireTime ?? listed?.retireTime,
      targets,
    };
  }

  /** Undefined where its upstream is not in use, or its cost must be known and is not. */
  #targetOf(model: ModelSettings, facts: Facts, target: TargetSettings, isOnly: boolean): Target | undefined {
    const { upstream, model: name, weight, priority } = target;
    const served = this.upstreams.get(upstream);
    if (served === undefined) return undefined;
    const ofSettings = target.facts === undefined ? model.facts : { ...model.facts, ...target.facts };
    const declared = ofSettings.contextTokens ?? (facts.contextTokens || undefined);
    const toldFacts = declared === undefined ? withContext(ofSettings, served, name) : ofSettings;
    const own = { ...this.known(name), ...reportedAbilities(served), ...toldFacts };
    const listed = this.listings(target)?.price;
    // What runs inside the process costs nobody anything.
    const cost = target.cost ?? listed ?? (served.family.connect === undefined ? undefined : FREE);
    const health = this.wildcard === undefined ? served.health.of(name) : served.health.ofMade(name);
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
      // All models of a wildcard share the limits of its targets.
      limits: limitsOf(
        upstream,
        settings?.limits,
        this.wildcard ?? `${model.id} as ${name}`,
        target.limits,
        () => served.health.server?.report.slots ?? 0,
      ),
      parameters: mergedParameters(model.parameters, target.parameters),
      labels: labelsOf(settings?.labels, target.labels),
      machineHourNanos: settings?.machineHourNanos,
      match: target.match,
    };
    // What nobody knows the cost of would pass every budget.
    if (cost === undefined && said.limits?.some(({ budget }) => budget !== undefined) === true) return undefined;
    return {
      served,
      model: name,
      health,
      facts: own,
      toldFacts,
      declaredContextTokens: declared,
      ...said,
      cost,
      weight,
      priority,
    };
  }
}

/** What the server reports fills what the settings do not say. */
function withContext(facts: ModelFacts, { health }: ServedUpstream, model: string): ModelFacts {
  const contextTokens = health.server?.contextOf(model);
  return contextTokens === undefined ? facts : { ...facts, contextTokens };
}

function reportedAbilities({ health }: ServedUpstream): ModelFacts {
  const { images, tools } = health.server?.report ?? {};
  return defined({ images, tools });
}

/** True where two of them have the same priority; they are in the order of their priorities. */
function haveEquals(targets: readonly Target[]): boolean {
  return targets.some((target, place) => target.priority === targets[place + 1]?.priority);
}

/** The most that a request may be: what a target is told to take counts over the model's. 0: unknown. */
function largestContext(targets: readonly Target[], ofModel: number): number {
  if (targets.every(({ toldFacts }) => toldFacts?.contextTokens === undefined)) return ofModel;
  const sizes = targets.map((target) => contextOf(target, ofModel));
  return sizes.includes(0) ? 0 : Math.max(...sizes);
}

/** Undefined where no request can find more room elsewhere: then its size is its upstream's to judge. */
function contextLeast(targets: readonly Target[], ofModel: number, hasLarger: boolean): number | undefined {
  const sizes = targets.map((target) => contextOf(target, ofModel)).filter((size) => size > 0);
  const mayGoElsewhere = hasLarger || sizes.some((size) => size !== sizes[0]) || sizes.length < targets.length;
  return sizes.length > 0 && mayGoElsewhere ? Math.min(...sizes) : undefined;
}

/** What the families know of their models; undefined where they do not, or differ. */
function kindOf(targets: readonly Target[]): ModelKind | undefined {
  const kinds = targets.map(
    ({ served, model }) => served.family.modelKinds?.find(({ startsWith }) => model.startsWith(startsWith))?.kind,
  );
  return kinds.every((kind) => kind === kinds[0]) ? kinds[0] : undefined;
}

/** The target that is tried first. */
export function firstTarget({ targets }: ModelSettings): TargetSettings | undefined {
  return targets.toSorted(byPriority)[0];
}

/** In the order in which targets are tried; equal ones stay as the settings name them. */
function byPriority(a: { readonly priority: number }, b: { readonly priority: number }): number {
  return a.priority - b.priority;
}

/**
 * What is published of a model: the price of its first target, which a fallback must not raise, and the least that all
 * targets can. Undefined where nothing is. Why: docs/decisions/0404-prices.md.
 */
export function publishedOf({ targets }: ModelSettings, listings: Listings): PublishedModel | undefined {
  const [target, ...fallbacks] = targets.toSorted(byPriority);
  const first = target === undefined ? undefined : listings(target);
  if (target === undefined || first === undefined) return undefined;
  const all = [first, ...fallbacks.map(listings).filter((fact) => fact !== undefined)];
  return {
    price: first.price,
    listPrice: { price: first.price, upstream: target.upstream, model: target.model, ...first.source },
    contextTokens: least(all.map((fact) => fact.contextTokens)),
    outputTokensMax: least(all.map((fact) => fact.outputTokensMax)),
  };
}

function least(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

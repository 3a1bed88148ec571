/** The models and upstreams in force, as services show them. */
import {
  type GetUpstreamResponse,
  type Model,
  type ModelCapabilities,
  ModelKind,
  PriceSource,
  type ServerReport,
  type TestUpstreamResponse,
  type Upstream,
  type UpstreamEjection,
  UpstreamHealth,
} from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import type { Caller } from "../keys/caller.js";
import type { ModelFacts, WireRequest } from "../wire/wire.js";
import type { ActiveEjection, HealthState } from "./upstream-health.js";
import type { ServedModel, ServedUpstream, Target } from "./model.js";
import type { Routing } from "./routing.js";
import { contextWarnings, type ServerState } from "./server-state.js";
import { shownCause, shownHistory } from "./shown-history.js";
import { subjectOf } from "./target-limiter.js";
import type { UnpricedName } from "./unpriced-models.js";
import { testUpstream } from "./upstream-test.js";

/** What the services show of models. */
export interface ModelCatalog {
  /** The models and aliases that the caller may use, by identifier. */
  list(caller: Caller): readonly Model[];
  /** What clients asked wildcards for in vain, the most asked first. */
  unpriced(): readonly UnpricedName[];
  /** One model. Throws MODEL_UNKNOWN or MODEL_NOT_ALLOWED. */
  get(id: string, caller: Caller): Model;
}

/** What the services show of upstreams. */
export interface UpstreamBoard {
  /** As this node sees them. */
  list(): readonly Upstream[];
  /** One, with what happened there on this node. Throws RESOURCE_UNKNOWN. */
  get(id: string): GetUpstreamResponse & { upstream: Upstream };
  /** Takes an upstream back into use. Throws RESOURCE_UNKNOWN. */
  reset(id: string): Upstream;
  /** Lets new requests go there, or not. Throws RESOURCE_UNKNOWN. */
  drain(id: string, isDrained: boolean): Upstream;
  /** Asks it for its list, and one of its chat models for a word. Throws or rejects with RESOURCE_UNKNOWN alone. */
  test(id: string, isListOnly: boolean): Promise<TestUpstreamResponse>;
}

const KINDS: Readonly<Record<NonNullable<ServedModel["kind"]>, ModelKind>> = {
  chat: ModelKind.MODEL_KIND_CHAT,
  completion: ModelKind.MODEL_KIND_COMPLETION,
  embedding: ModelKind.MODEL_KIND_EMBEDDING,
  rerank: ModelKind.MODEL_KIND_RERANK,
  moderation: ModelKind.MODEL_KIND_MODERATION,
  speech: ModelKind.MODEL_KIND_SPEECH,
};
const HEALTHS: Readonly<Record<HealthState, UpstreamHealth>> = {
  healthy: UpstreamHealth.UPSTREAM_HEALTH_HEALTHY,
  cooling: UpstreamHealth.UPSTREAM_HEALTH_COOLING,
  refused: UpstreamHealth.UPSTREAM_HEALTH_REFUSED,
  drained: UpstreamHealth.UPSTREAM_HEALTH_DRAINED,
};

/** What a model is for, as services show it. */
export function shownKind(kind: ServedModel["kind"]): ModelKind {
  return kind === undefined ? ModelKind.MODEL_KIND_UNSPECIFIED : KINDS[kind];
}

/** How an upstream stands, as services show it. */
export function shownHealth(state: HealthState): UpstreamHealth {
  return HEALTHS[state];
}

/** One that nothing is known against is untested until a call or a test has succeeded. */
function upstreamHealth({ health }: ServedUpstream, nowMs: number): UpstreamHealth {
  const state = health.state(nowMs);
  return state === "healthy" && !health.hasServed ? UpstreamHealth.UPSTREAM_HEALTH_UNTESTED : shownHealth(state);
}

/** What a node has ejected, as services show it. */
export function shownEjection({ model, cause, coolingMs }: ActiveEjection, nodeId: string): UpstreamEjection {
  return { model, cause: shownCause(cause), coolingMs: BigInt(Math.ceil(coolingMs)), nodeId };
}

export function createModelCatalog(routing: Routing): ModelCatalog {
  return {
    list: (caller) =>
      routing
        .list(caller)
        .map(showModel)
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
    unpriced: () => routing.unpriced.list(),
    get: (id, caller) => showModel(routing.find(id, caller)),
  };
}

/** The node whose view of the upstreams a board shows. */
export interface BoardNode {
  readonly nodeId: () => string;
  /** Unix time in milliseconds. */
  readonly dateMs: () => number;
}

/** `testRequest`: what a model is asked in a test. */
export function createUpstreamBoard(
  routing: Routing,
  { nodeId, dateMs }: BoardNode,
  testRequest: WireRequest,
): UpstreamBoard {
  const show = (served: ServedUpstream): Upstream => ({
    id: served.id,
    family: served.family.name,
    baseUrl: served.baseUrl,
    health: upstreamHealth(served, routing.nowMs()),
    coolingMs: BigInt(Math.ceil(served.health.coolingMs(routing.nowMs()))),
    running: BigInt(served.health.running),
    ejections: served.health.ejections(routing.nowMs()).map((ejection) => shownEjection(ejection, nodeId())),
    waiting: BigInt(routing.limiter.waitingAt(served.id)),
    concurrency: BigInt(concurrencyOf(served, routing)),
    lastCheck: served.health.lastCheck,
    server: served.health.server && shownReport(served.health.server),
    warnings: [...contextWarnings(served, routing.table.models.values())],
    models: [...routing.table.models.values()]
      .filter((model) => model.targets.some((target) => target.served === served))
      .map((model) => model.id)
      .sort(),
  });
  const find = (id: string): ServedUpstream => {
    const served = routing.table.upstreams.get(id);
    if (served === undefined) throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "upstream", id });
    return served;
  };
  return {
    list: () => [...routing.table.upstreams.values()].map(show).sort((a, b) => (a.id < b.id ? -1 : 1)),
    get: (id) => {
      const served = find(id);
      return { upstream: show(served), ...shownHistory(served.health.history) };
    },
    reset: (id) => {
      const served = find(id);
      noteDrain(served, false);
      served.health.reset();
      return show(served);
    },
    drain: (id, isDrained) => {
      const served = find(id);
      noteDrain(served, isDrained);
      served.health.isDrained = isDrained;
      return show(served);
    },
    test: async (id, isListOnly) => {
      const served = find(id);
      const asked = [...routing.table.models.values()].flatMap(({ kind = "chat", targets }) =>
        targets.filter((target) => target.served === served).map(({ model, facts }) => ({ kind, model, facts })),
      );
      const chats = asked.filter(({ kind }) => kind === "chat");
      // A call that succeeds takes back what is ejected.
      const isEjected = ({ model }: { readonly model: string }): boolean =>
        served.health.of(model).state(routing.nowMs()) !== "healthy";
      const chat = chats.find(isEjected) ?? chats[0];
      const call = isListOnly || chat === undefined ? undefined : { ...chat, request: testRequest };
      const models = new Set(asked.map(({ model }) => model));
      const { answer } = await testUpstream(served, models, call, routing.nowMs.bind(routing));
      const { result, problem, missingModels } = answer;
      served.health.lastCheck = { checkTime: new Date(dateMs()), result, problem, missingModels };
      return answer;
    },
  };
}

function noteDrain({ health }: ServedUpstream, isDrained: boolean): void {
  if (health.isDrained !== isDrained) health.history.drained(isDrained);
}

function shownReport({ report, readTime }: ServerState): ServerReport {
  const { slots, running, waiting, contextTokens, contexts, images, tools, loadedModels = [] } = report;
  const sizes = [...(contexts?.values() ?? []), ...(contextTokens === undefined ? [] : [contextTokens])];
  const whole = (value: number | undefined): bigint | undefined => (value === undefined ? undefined : BigInt(value));
  return {
    readTime,
    slots: whole(slots),
    running: whole(running),
    waiting: whole(waiting),
    contextTokens: sizes.length === 0 ? undefined : BigInt(Math.min(...sizes)),
    images,
    tools,
    loadedModels: [...loadedModels],
  };
}

/** What the settings allow an upstream, as its targets have it; 0: any number. */
function concurrencyOf({ id }: ServedUpstream, { table }: Routing): number {
  const subject = subjectOf(id);
  for (const { targets } of table.models.values())
    for (const { limits = [] } of targets)
      for (const limit of limits) if (limit.subject === subject) return limit.concurrency;
  return 0;
}

function showModel(model: ServedModel): Model {
  return {
    id: model.alias ?? model.id,
    displayName: model.displayName ?? "",
    aliasOf: model.alias === undefined ? "" : model.id,
    owner: model.owner,
    createTime: model.createTime,
    contextTokens: BigInt(model.contextTokens),
    outputTokensMax: BigInt(model.outputTokensMax),
    price: model.price,
    upstreams: model.targets.map((target) => target.served.id),
    kind: model.kind && KINDS[model.kind],
    capabilities: capabilitiesOf(model.targets),
    retireTime: model.retireTime,
    listPrice: model.listPrice,
    priceSource: model.isListPriced ? PriceSource.PRICE_SOURCE_PUBLISHED : PriceSource.PRICE_SOURCE_SETTINGS,
  };
}

/** What all targets can; undefined where nothing is known of any. */
function capabilitiesOf(targets: readonly Target[]): ModelCapabilities | undefined {
  const all = targets.map(({ facts }) => facts);
  const each = (can: (facts: ModelFacts) => boolean | undefined): boolean | undefined => {
    const said = all.map(can);
    if (said.includes(false)) return false;
    return said.length > 0 && said.every((one) => one === true) ? true : undefined;
  };
  const [first, ...others] = all.map(({ efforts }) => efforts ?? []);
  const capabilities = {
    images: each(({ images }) => images),
    tools: each(({ tools }) => tools),
    schemas: each(({ schemas }) => schemas),
    thinking: each(({ thinking }) => (thinking === undefined ? undefined : thinking !== "none")),
    efforts: (first ?? []).filter((effort) => others.every((efforts) => efforts.includes(effort))),
  };
  const { images, tools, schemas, thinking, efforts } = capabilities;
  const isUnknown = [images, tools, schemas, thinking].every((can) => can === undefined) && efforts.length === 0;
  return isUnknown ? undefined : capabilities;
}

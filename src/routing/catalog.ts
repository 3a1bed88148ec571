/** The models and upstreams in force, as services show them. */
import type { Model, ModelCapabilities, Upstream } from "../api/index.js";
import { GatewayError } from "../errors.js";
import type { Caller } from "../keys/caller.js";
import type { ModelFacts } from "../wire/wire.js";
import type { ServedModel, ServedUpstream, Target } from "./model.js";
import type { Routing } from "./routing.js";

/** What the services show of models. */
export interface ModelCatalog {
  /** The models that the caller may use, by identifier. */
  list(caller: Caller): readonly Model[];
  /** One model. Throws MODEL_UNKNOWN or MODEL_NOT_ALLOWED. */
  get(id: string, caller: Caller): Model;
}

/** What the services show of upstreams. */
export interface UpstreamBoard {
  list(): readonly Upstream[];
  /** Takes an upstream back into use. Throws RESOURCE_UNKNOWN. */
  reset(id: string): Upstream;
}

export function createModelCatalog(routing: Routing): ModelCatalog {
  return {
    list: (caller) =>
      [...routing.table.models.values()]
        .filter((model) => caller.mayUseModel(model.id))
        .map(showModel)
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
    get: (id, caller) => {
      const model = routing.find(id);
      if (!caller.mayUseModel(id)) throw new GatewayError("ERROR_REASON_MODEL_NOT_ALLOWED", { model: id });
      return showModel(model);
    },
  };
}

export function createUpstreamBoard(routing: Routing): UpstreamBoard {
  const show = (served: ServedUpstream): Upstream => ({
    id: served.id,
    family: served.family.name,
    baseUrl: served.baseUrl,
    health: served.health.state(routing.nowMs()),
    coolingMs: BigInt(Math.ceil(served.health.coolingMs(routing.nowMs()))),
    running: BigInt(served.health.running),
    asides: served.health.asides(routing.nowMs()).map(({ model, cause, coolingMs }) => ({
      model,
      cause,
      coolingMs: BigInt(Math.ceil(coolingMs)),
    })),
    models: [...routing.table.models.values()]
      .filter((model) => model.targets.some((target) => target.served === served))
      .map((model) => model.id)
      .sort(),
  });
  return {
    list: () => [...routing.table.upstreams.values()].map(show).sort((a, b) => (a.id < b.id ? -1 : 1)),
    reset: (id) => {
      const served = routing.table.upstreams.get(id);
      if (served === undefined) throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "upstream", id });
      served.health.reset();
      return show(served);
    },
  };
}

function showModel(model: ServedModel): Model {
  return {
    id: model.id,
    owner: model.owner,
    createTime: model.createTime,
    contextTokens: BigInt(model.contextTokens),
    outputTokensMax: BigInt(model.outputTokensMax),
    price: model.price,
    upstreams: model.targets.map((target) => target.served.id),
    kind: model.kind ?? "",
    capabilities: capabilitiesOf(model.targets),
    retireTime: model.retireTime,
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

/** Models and targets of upstreams that follow scripts: what the tests of routing share. */
import { Price } from "../../src/api/index.js";
import type { Family } from "../../src/families/family.js";
import { openaiCompatible } from "../../src/families/openai-compatible.js";
import { UpstreamHealth } from "../../src/routing/upstream-health.js";
import type { ServedModel, Target } from "../../src/routing/model.js";
import type { Upstream } from "../../src/upstream/upstream.js";

export interface TargetOptions {
  readonly family?: Family;
  readonly priority?: number;
  readonly weight?: number;
}

/** A target of its own upstream, which is asked for the model `m`. */
export function targetOf(upstream: Upstream, id: string, options: TargetOptions = {}): Target {
  const { family = openaiCompatible, priority = 1, weight = 1 } = options;
  const health = new UpstreamHealth();
  const served = { id, family, baseUrl: "", upstream, headers: {}, credential: undefined, health };
  const its = {
    facts: {},
    weight,
    priority,
    cost: undefined,
    knownMembersOnly: false,
    promptCache: undefined,
    health: health.of("m"),
  };
  return { served, model: "m", ...its };
}

/** The model `m` of these targets, which is free. */
export function modelOf(targets: readonly Target[]): ServedModel {
  const limits = { contextTokens: 0, outputTokensMax: 0, kind: "chat" as const, price: Price.decode(new Uint8Array()) };
  return { id: "m", owner: "", isListPriced: false, streamHeadMs: 10_000, createTime: new Date(0), ...limits, targets };
}

/** A model as the gateway serves it, and the targets that can answer for it. */
import type { ListPrice, Price } from "../api/index.js";
import type { Balance } from "../base/balances.js";
import type { Labels } from "../base/demands.js";
import type { Retries } from "../base/retries.js";
import type { MatchSettings } from "../config/settings.js";
import type { Family, ModelKind } from "../families/family.js";
import type { Upstream } from "../upstream/upstream.js";
import type { Parameters } from "../wire/request/parameters.js";
import type { PromptCacheSetting } from "../wire/request/prompt-cache.js";
import type { ModelFacts } from "../wire/wire.js";
import type { RequestTimeouts } from "./deadline.js";
import type { SubjectLimits } from "./target-limiter.js";
import type { TargetHealth, UpstreamHealth } from "./upstream-health.js";

/** One upstream, connected, with its credential and its health. Shared by all models it serves. */
export interface ServedUpstream {
  readonly id: string;
  readonly family: Family;
  /** Without credentials, for people; empty for a family inside the process. */
  readonly baseUrl: string;
  readonly upstream: Upstream;
  /** Headers of every request, the credential among them. Built once. */
  readonly headers: Readonly<Record<string, string>>;
  /** What each request is proven with, where headers alone do not; undefined elsewhere. */
  readonly credential: string | undefined;
  /** How long a new connection may take, in milliseconds. Absent: the default. */
  readonly connectMs?: number | undefined;
  readonly health: UpstreamHealth;
}

/** One upstream as one model uses it. */
export interface Target {
  readonly served: ServedUpstream;
  /** The model as the upstream names it. */
  readonly model: string;
  /** That of the model at the upstream, shared by all that reach it there. */
  readonly health: TargetHealth;
  /** What is known of it, and what the settings say of it. */
  readonly facts: ModelFacts;
  /** The latter alone, which also changes what came in the upstream's own wire. Absent: nothing. */
  readonly toldFacts?: ModelFacts | undefined;
  /** The context that the settings give it, in tokens. Absent: they give none. */
  readonly declaredContextTokens?: number | undefined;
  /** Where and how it treats the data of requests. Absent: nothing is known. */
  readonly labels?: Labels | undefined;
  /** Which requests may go there. Absent: all. */
  readonly match?: MatchSettings | undefined;
  /** What the operator pays there; undefined where nobody knows. */
  readonly cost: Price | undefined;
  /** What the operator pays for an hour of its machine, in nano-USD, beside `cost`. Absent: nothing. */
  readonly machineHourNanos?: bigint | undefined;
  /** True where members of a request that no table knows are refused. */
  readonly knownMembersOnly: boolean;
  /** What the settings say of the upstream's cache; undefined leaves it to the family. */
  readonly promptCache: PromptCacheSetting | undefined;
  /** True where addresses that the upstream would fetch are refused. Absent: false. */
  readonly refusesAddresses?: boolean | undefined;
  /** True where clients see the unified limits of the operator's account there. Absent: false. */
  readonly passesUnifiedLimits?: boolean;
  /** Absent: the defaults. */
  readonly timeouts?: RequestTimeouts | undefined;
  /** Absent: the defaults. */
  readonly retries?: Retries | undefined;
  /** Those of its upstream, then its own. Absent: none. */
  readonly limits?: readonly SubjectLimits[] | undefined;
  /** Those of its model, and its own over them. Absent: none. */
  readonly parameters?: Parameters | undefined;
  /** 0: it gets no new sessions, and keeps those that it has. */
  readonly weight: number;
  /** 1 is tried first. */
  readonly priority: number;
}

export interface ServedModel {
  /** The model's own name, by which it is charged, limited and counted. */
  readonly id: string;
  /** The alias by which it is requested. Absent: its own name. */
  readonly alias?: string | undefined;
  /** The wildcard that made it at a client's request, by which metrics count it: clients may name any model. */
  readonly wildcard?: string | undefined;
  /** What clients show to people. Absent: the name by which it is requested. */
  readonly displayName?: string | undefined;
  /** The family of the first target. */
  readonly owner: string;
  readonly createTime: Date;
  /** What it is asked for; undefined where nobody knows, and its upstream decides. */
  readonly kind: ModelKind | undefined;
  /** 0: unknown. */
  readonly contextTokens: number;
  /** The most output tokens of one candidate; 0: unknown, which only a free model may be. */
  readonly outputTokensMax: number;
  /** A stream's head leaves after so long without a word. */
  readonly streamHeadMs: number;
  /** What becomes of tools that an upstream would run, and that a target lacks or has no price for. Absent: refuse. */
  readonly hostedTools?: "refuse" | "drop" | undefined;
  /** How long a request may take in all, in milliseconds: as long as its most patient target. Absent: the default. */
  readonly totalMs?: number | undefined;
  /** What its clients pay, whichever target answers. */
  readonly price: Price;
  /** True where that is a published price, and not the operator's own. */
  readonly isListPriced: boolean;
  /** True where that price is charged whatever the upstream's answer names. Absent: false. */
  readonly isCeilingPriced?: boolean;
  /** What the published list says about its first target. Absent: nothing. */
  readonly listPrice?: ListPrice | undefined;
  /** When it is no longer served; undefined where nobody says. */
  readonly retireTime?: Date | undefined;
  /** Models that answer when all of its targets fail, in this order. Absent: none. */
  readonly fallbacks?: readonly string[] | undefined;
  /** The model that answers requests which are too long for this one. Absent: none. */
  readonly onContext?: string | undefined;
  /** What the operator fills in, sets or drops in its requests, whichever target they go to. Absent: nothing. */
  readonly parameters?: Parameters | undefined;
  /** True where requests of one session go to the same target among equals. Absent: false. */
  readonly hasAffinity?: boolean | undefined;
  /** How long upstreams keep what the gateway marks in prompts without marks. Absent: it marks nothing. */
  readonly cacheMarksSeconds?: number | undefined;
  /** How it picks among equals. Absent: by weight. */
  readonly balance?: Balance | undefined;
  /** The smallest context among its targets, where a longer request may go elsewhere. Absent: its upstreams decide. */
  readonly contextLeast?: number | undefined;
  /** By priority. */
  readonly targets: readonly Target[];
}

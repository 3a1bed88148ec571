/** What tollgate.yaml says, after it was checked. */
import type { ModelKind } from "../api/model-kinds.js";
import type { AccountSettings, AlertSettings, ContentSettings, KeySettings, Price } from "../api/index.js";
import type { Balance } from "../base/balances.js";
import type { Labels } from "../base/demands.js";
import type { Retries } from "../base/retries.js";
import type { Parameters } from "../wire/request/parameters.js";
import type { PromptCacheSetting } from "../wire/request/prompt-cache.js";
import type { ModelFacts } from "../wire/wire.js";

/** How long an upstream may take, in milliseconds. What is absent is as the next wider settings have it. */
export interface TimeoutSettings {
  /** For a new connection. */
  readonly connectMs?: number | undefined;
  /** To the first output of a stream. */
  readonly firstOutputMs?: number | undefined;
  /** Between two reads of an answer that has begun. */
  readonly idleMs?: number | undefined;
  /** All of it. */
  readonly totalMs?: number | undefined;
}

/** How often a request is tried. What is absent is as the next wider settings have it. */
export type RetrySettings = { readonly [name in keyof Retries]?: number | undefined };

/** How much may be sent to an upstream or a target. 0: no limit. */
export interface TargetLimits {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly concurrency: number;
  /** How many requests wait for a place, and for how long. Undefined: none waits. */
  readonly queue: { readonly length: number; readonly waitMs: number } | undefined;
  /** What the operator spends there at most. Undefined: no limit. */
  readonly budget: { readonly amountNanos: bigint; readonly period: "day" | "month" } | undefined;
}

/** How often the gateway checks an upstream by itself, in milliseconds; 0: never. Absent: the default. */
export interface CheckSettings {
  readonly listMs?: number | undefined;
  readonly callMs?: number | undefined;
}

export interface UpstreamSettings {
  readonly id: string;
  readonly family: string;
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  /** What becomes of a request's members that the gateway does not know. */
  readonly unknownMembers: "pass" | "refuse";
  /** What keeps its cache of prompts within one account. Undefined: what its family has. */
  readonly promptCache: PromptCacheSetting | undefined;
  /** What becomes of addresses that the upstream would fetch. Undefined: as its family has it. */
  readonly mediaAddresses?: "pass" | "refuse" | undefined;
  /** True where clients see the limits of the operator's account. Absent: false. */
  readonly passesUnifiedLimits?: boolean;
  readonly timeouts?: TimeoutSettings | undefined;
  readonly retries?: RetrySettings | undefined;
  /** Of all requests there. Absent: none. */
  readonly limits?: TargetLimits | undefined;
  /** Sent with each request, by their names in lower case. Absent: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly checks?: CheckSettings | undefined;
  /** What an hour of its machine costs the operator, in nano-USD. Absent: nothing. */
  readonly machineHourNanos?: bigint | undefined;
  readonly labels?: Labels | undefined;
  /** True of an object of the database. Absent: false. */
  readonly isOfDatabase?: boolean;
}

/** Which requests may go to a target: those that match all that is said. */
export interface MatchSettings {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  /** A name and its value. */
  readonly label?: readonly [string, string] | undefined;
  readonly header?: readonly [string, string] | undefined;
}

export interface TargetSettings {
  readonly upstream: string;
  /** The model as the upstream names it. */
  readonly model: string;
  /** The share among targets of the same priority; 0: only sessions that it has already. */
  readonly weight: number;
  /** 1 is tried first. */
  readonly priority: number;
  /** What the operator pays there. Undefined: from the prices' package, or unknown. */
  readonly cost: Price | undefined;
  /** Over those of the model, which are over those of the upstream. */
  readonly timeouts?: TimeoutSettings | undefined;
  readonly retries?: RetrySettings | undefined;
  /** Beside those of the upstream, which count too. Absent: none. */
  readonly limits?: TargetLimits | undefined;
  /** Over those of the model. */
  readonly parameters?: Parameters | undefined;
  /** Each over that of the upstream. */
  readonly labels?: Labels | undefined;
  /** Absent: all requests may go there. */
  readonly match?: MatchSettings | undefined;
  /** Over those of the model. */
  readonly facts?: ModelFacts | undefined;
}

export interface ModelSettings {
  readonly id: string;
  readonly targets: readonly TargetSettings[];
  /** What it is asked for. Undefined: what its families say of it, or unknown. */
  readonly kind: ModelKind | undefined;
  /** Undefined: from the prices' package, or unknown. */
  readonly contextTokens: number | undefined;
  readonly outputTokensMax: number | undefined;
  /** A stream's head leaves after so long without a word. Undefined: the default. */
  readonly streamHeadMs?: number | undefined;
  /** What becomes of tools that an upstream would run, and that it lacks or that have no price. Undefined: refuse. */
  readonly hostedTools?: "refuse" | "drop" | undefined;
  /** Whether requests of one session go to the same target among equals. Undefined: `auto`. */
  readonly affinity?: "auto" | "off" | undefined;
  /** Whether the gateway marks prompts without marks for Claude's caches. Undefined: `off`. */
  readonly cacheMarks?: "auto" | "off" | undefined;
  /** How long the upstream keeps what the gateway marked. Undefined: `5m`. */
  readonly cacheMarksTtl?: "5m" | "1h" | undefined;
  /** How requests are balanced among targets of the same priority. Undefined: by weight. */
  readonly balance?: Balance | undefined;
  readonly timeouts?: TimeoutSettings | undefined;
  /** Models that answer while all targets fail, in this order. */
  readonly fallbacks?: readonly string[] | undefined;
  /** The model that answers requests which are too long for this one. */
  readonly onContext?: string | undefined;
  readonly retries?: RetrySettings | undefined;
  readonly parameters?: Parameters | undefined;
  /** Undefined: from the prices' package; a model without a price does not load. */
  readonly price: Price | undefined;
  /** Over what is known of its targets' models by their names. */
  readonly facts: ModelFacts;
  /** When it is no longer served. Undefined: as its upstream's list says, or unknown. */
  readonly retireTime?: Date | undefined;
  /** What clients show to people. Absent: its id. */
  readonly displayName?: string | undefined;
  /** Of a wildcard: whose price its models have. Absent: list. */
  readonly priceFrom?: "list" | "ceiling" | undefined;
  /** Of a wildcard: which models it serves. Absent: any. */
  readonly serve?: "list" | "any" | undefined;
  /** True of an object of the database. Absent: false. */
  readonly isOfDatabase?: boolean;
}

/** Another name of a model. */
export interface AliasSettings {
  readonly id: string;
  /** The model's own name. */
  readonly model: string;
  /** What clients show to people. Undefined: its id. */
  readonly displayName: string | undefined;
}

type AccountLimits = Pick<
  AccountSettings,
  "requestsPerMinute" | "tokensPerMinute" | "concurrency" | "modelLimits" | "demands" | "creditLine" | "quotas"
>;

/** The settings of a key that are budgets and limits; 0 is none. */
export type KeyLimits = Pick<
  KeySettings,
  | "requestsPerMinute"
  | "tokensPerMinute"
  | "concurrency"
  | "budgetDayNanos"
  | "budgetWeekNanos"
  | "budgetMonthNanos"
  | "budgetQuarterNanos"
  | "budgetTotalNanos"
  | "requestCostMaxNanos"
>;

/** What new accounts, members and keys get, and the most that owners and admins may set. */
export interface PlanSettings {
  readonly id: string;
  readonly budgets: AccountSeed["budgets"];
  readonly limits: AccountLimits;
  /** Without `isAllowed`, content is not stored. */
  readonly content: Omit<ContentSettings, "kept"> & { readonly isAllowed: boolean };
  readonly members: KeyLimits;
  /** 0 days: a key does not expire. */
  readonly keys: KeyLimits & { readonly expiresAfterDays: number };
}

export interface AccountSeed {
  readonly id: string;
  readonly name: string;
  /** The plan that it is made from; empty where it has none. Where a budget or a limit is 0, the plan's is taken. */
  readonly plan: string;
  readonly creditNanos: bigint;
  readonly budgets: Omit<AccountSettings, keyof AccountLimits | "content">;
  readonly limits: AccountLimits;
}

export interface KeySeed {
  readonly accountId: string;
  readonly secret: string;
  readonly settings: KeySettings;
}

/** An alert that stands in the file. */
export interface AlertSeed {
  readonly name: string;
  /** Empty: the operator's. */
  readonly accountId: string;
  readonly settings: AlertSettings;
}

/** As `tollgate export` writes them too. */
export type ExportForm = "csv" | "jsonl" | "focus";

/** What is written each night. */
export interface ExportSettings {
  /** An absolute path. Undefined: nothing is written. */
  readonly directory: string | undefined;
  readonly formats: readonly ExportForm[];
}

/** How cards are charged, through Stripe. */
export interface StripeSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Where the console is, without a slash at its end. */
  readonly consoleUrl: string;
  readonly amountsNanos: readonly bigint[];
  readonly amountMinNanos: bigint;
  readonly amountMaxNanos: bigint;
  /** Who answers in Stripe's place. Undefined: Stripe. */
  readonly apiBase: string | undefined;
}

/** How accounts are paid into. */
export interface PaymentSettings {
  /** Undefined: not by card. */
  readonly stripe: StripeSettings | undefined;
}

/** An OpenID Connect issuer by which people sign in. */
export interface IssuerSettings {
  /** In small letters: a part of addresses. */
  readonly name: string;
  /** What people call it. */
  readonly title: string;
  /** Its address, an absolute URL. */
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: the client is a public one. */
  readonly clientSecret: string | undefined;
  /** In small letters. Empty: e-mail addresses of every domain. */
  readonly emailDomains: readonly string[];
  /** Where people belong whom nobody invited. Undefined: they do not come in. */
  readonly newPeople: { readonly accountId: string; readonly role: "admin" | "member" | "viewer" } | undefined;
}

/** How people sign in beside their passwords. */
export interface IdentitySettings {
  readonly issuers: readonly IssuerSettings[];
}

/** The settings file, whole and valid. */
export interface Settings {
  readonly upstreams: readonly UpstreamSettings[];
  readonly models: readonly ModelSettings[];
  readonly aliases: readonly AliasSettings[];
  readonly plans: readonly PlanSettings[];
  /** True where the file changes and disables accounts and keys, beside making them. */
  readonly manage: boolean;
  readonly accounts: readonly AccountSeed[];
  readonly keys: readonly KeySeed[];
  readonly metrics: MetricsSettings;
  readonly prices: PriceListSettings;
  readonly alerts: readonly AlertSeed[];
  readonly exports: ExportSettings;
  readonly payments: PaymentSettings;
  readonly identity: IdentitySettings;
  /** Names of objects that are not used here, such as `model/fast`: nothing else is served by them. Absent: none. */
  readonly unusedNames?: ReadonlySet<string>;
}

/** Of a gateway without a file. */
export const NO_SETTINGS: Settings = {
  upstreams: [],
  models: [],
  aliases: [],
  plans: [],
  manage: false,
  accounts: [],
  keys: [],
  metrics: { accounts: [] },
  prices: { refresh: "pinned", url: undefined, keys: [] },
  alerts: [],
  exports: { directory: undefined, formats: [] },
  payments: { stripe: undefined },
  identity: { issuers: [] },
};

/** How published prices are refreshed. */
export interface PriceListSettings {
  readonly refresh: "pinned" | "propose" | "apply";
  /** Where the snapshot is; undefined only where the prices are pinned. */
  readonly url?: string | undefined;
  /** The public keys that are trusted. */
  readonly keys: readonly string[];
}

/** What metrics tell beyond what they tell of everybody. */
export interface MetricsSettings {
  /** Accounts whose balances and budgets are told, by their ids. */
  readonly accounts: readonly string[];
}

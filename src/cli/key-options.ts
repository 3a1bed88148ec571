/** The settings of a key as options of `tollgate key create` and `update`. */
import type { Command } from "commander";
import type { KeySettings } from "../api/index.js";
import { readLabel, readTime, readUsd, readWhole } from "./arguments.js";

export interface KeyOptions {
  readonly name?: string;
  readonly scope?: string[];
  readonly model?: string[];
  readonly denyModel?: string[];
  readonly address?: string[];
  readonly expires?: Date;
  readonly requestsPerMinute?: bigint;
  readonly tokensPerMinute?: bigint;
  readonly concurrency?: bigint;
  readonly budgetDay?: bigint;
  readonly budgetMonth?: bigint;
  readonly budgetTotal?: bigint;
  readonly requestCostMax?: bigint;
  readonly refuseUnaffordable?: boolean;
  readonly retriesRunAnew?: boolean;
  readonly strict?: boolean;
  readonly childrenEndWithIt?: boolean;
  readonly keepStreamsOnRevoke?: boolean;
  readonly endStreamsOnExpiry?: boolean;
  readonly label?: Record<string, string>;
}

/** Switches, and what each does. */
const SWITCHES = [
  ["refuse-unaffordable", "refuse a request that the balance cannot cover, rather than lower its output limit"],
  ["retries-run-anew", "let a retry of an SDK run and pay anew, rather than wait for the lost answer"],
  ["strict", "refuse a request with parameters that its upstream has no place for, rather than leave them out"],
  ["children-end-with-it", "end the keys that it makes when it is revoked or expires"],
  ["keep-streams-on-revoke", "let requests that run finish when it is revoked, rather than end them"],
  ["end-streams-on-expiry", "end requests that run when it expires, rather than let them finish"],
] as const;

/** Adds them. What is updated may be switched off as well. */
export function withKeyOptions(command: Command, use: "create" | "update"): Command {
  command
    .option("--name <name>", "what it is for")
    .option("--scope <scope...>", "chat, embeddings, models, usage, keys, operator (default: the first four)")
    .option("--model <glob...>", 'models it may use, such as "gpt-*" (default: all)')
    .option("--deny-model <glob...>", "models it may not use")
    .option("--address <cidr...>", "addresses it may be used from (default: all)")
    .option("--expires <time>", "when it ends, such as 2027-01-01T00:00:00Z", readTime)
    .option("--requests-per-minute <n>", "the most requests in any 60 seconds", readWhole)
    .option("--tokens-per-minute <n>", "the most tokens in any 60 seconds", readWhole)
    .option("--concurrency <n>", "the most requests at once", readWhole)
    .option("--budget-day <usd>", "the most it may spend in a UTC day", readUsd)
    .option("--budget-month <usd>", "the most it may spend in a UTC month", readUsd)
    .option("--budget-total <usd>", "the most it may spend at all", readUsd)
    .option("--request-cost-max <usd>", "the most that one request may cost", readUsd);
  for (const [name, description] of SWITCHES) {
    command.option(`--${name}`, description);
    if (use === "update") command.option(`--no-${name}`, "the contrary");
  }
  return command.option("--label <name=text>", "a label of your own; may be repeated", readLabel);
}

export function settingsOf(options: KeyOptions): KeySettings {
  return {
    name: options.name ?? "",
    scopes: options.scope ?? [],
    models: options.model ?? [],
    modelsDenied: options.denyModel ?? [],
    addresses: options.address ?? [],
    expireTime: options.expires,
    requestsPerMinute: options.requestsPerMinute ?? 0n,
    tokensPerMinute: options.tokensPerMinute ?? 0n,
    concurrency: options.concurrency ?? 0n,
    budgetDayNanos: options.budgetDay ?? 0n,
    budgetMonthNanos: options.budgetMonth ?? 0n,
    budgetTotalNanos: options.budgetTotal ?? 0n,
    requestCostMaxNanos: options.requestCostMax ?? 0n,
    refuseUnaffordable: options.refuseUnaffordable ?? false,
    retriesRunAnew: options.retriesRunAnew ?? false,
    metadata: options.label ?? {},
    strict: options.strict ?? false,
    childrenEndWithIt: options.childrenEndWithIt ?? false,
    endStreamsOnRevoke: options.keepStreamsOnRevoke === undefined ? undefined : !options.keepStreamsOnRevoke,
    endStreamsOnExpiry: options.endStreamsOnExpiry ?? false,
  };
}

/** Each option, and the setting that it gives, as the protocol names it. */
const SETTINGS = {
  name: "name",
  scope: "scopes",
  model: "models",
  denyModel: "models_denied",
  address: "addresses",
  expires: "expire_time",
  requestsPerMinute: "requests_per_minute",
  tokensPerMinute: "tokens_per_minute",
  concurrency: "concurrency",
  budgetDay: "budget_day_nanos",
  budgetMonth: "budget_month_nanos",
  budgetTotal: "budget_total_nanos",
  requestCostMax: "request_cost_max_nanos",
  refuseUnaffordable: "refuse_unaffordable",
  retriesRunAnew: "retries_run_anew",
  label: "metadata",
  strict: "strict",
  childrenEndWithIt: "children_end_with_it",
  keepStreamsOnRevoke: "end_streams_on_revoke",
  endStreamsOnExpiry: "end_streams_on_expiry",
} as const satisfies Record<keyof KeyOptions, string>;

/** The settings that were given. */
export function maskOf(options: KeyOptions): string[] {
  return given(options).map((name) => SETTINGS[name]);
}

/** The options that were given, as they are typed but for the `no-` of a switch. */
export function givenOptions(options: KeyOptions): string[] {
  return given(options).map((name) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
}

function given(options: KeyOptions): (keyof KeyOptions)[] {
  return (Object.keys(SETTINGS) as (keyof KeyOptions)[]).filter((name) => options[name] !== undefined);
}

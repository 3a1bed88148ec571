/** The settings of a key as options of `tollgate key create` and `update`. */
import type { Command } from "commander";
import type { KeySettings, Quota } from "../api/index.js";
import { readLabel, readTime } from "./arguments.js";
import { withLimitOptions } from "./limit-options.js";

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
  readonly budgetWeek?: bigint;
  readonly budgetMonth?: bigint;
  readonly budgetQuarter?: bigint;
  readonly budgetTotal?: bigint;
  readonly requestCostMax?: bigint;
  readonly quota?: Quota[];
  readonly refuseUnaffordable?: boolean;
  readonly retriesRunAnew?: boolean;
  readonly strict?: boolean;
  readonly childrenEndWithIt?: boolean;
  readonly keepStreamsOnRevoke?: boolean;
  readonly endStreamsOnExpiry?: boolean;
  readonly cacheMarksOff?: boolean;
  readonly label?: Record<string, string>;
}

/** Switches, and what each does. */
const SWITCHES = [
  ["refuse-unaffordable", "refuse a request that the balance does not cover, instead of lowering its output limit"],
  ["retries-run-anew", "run and charge an automatic retry of an SDK again, instead of waiting for the lost answer"],
  ["strict", "refuse a request with parameters that the upstream does not support, instead of removing them"],
  ["children-end-with-it", "when the key is revoked or expires, end the keys created with it too"],
  ["keep-streams-on-revoke", "when the key is revoked, let its running requests finish instead of ending them"],
  ["end-streams-on-expiry", "when the key expires, end its running requests instead of letting them finish"],
  ["cache-marks-off", "mark nothing for prompt caches in requests of the key, whatever the model's settings say"],
] as const;

/** Adds them. What is updated may be switched off as well. */
export function withKeyOptions(command: Command, use: "create" | "update"): Command {
  command
    .option("--name <name>", "a display name")
    .option(
      "--scope <scope...>",
      "chat, embeddings, rerank, moderations, audio, models, usage, keys, audit, alerts, operator " +
        "(default: the first seven)",
    )
    .option("--model <glob...>", 'models that the key may use, such as "gpt-*" (default: all)')
    .option("--deny-model <glob...>", "models that the key may not use")
    .option("--address <cidr...>", "addresses from which the key may be used (default: all)")
    .option("--expires <time>", "when the key expires, such as 2027-01-01T00:00:00Z", readTime);
  withLimitOptions(command, "key");
  for (const [name, description] of SWITCHES) {
    command.option(`--${name}`, description);
    if (use === "update") command.option(`--no-${name}`, `turn --${name} off`);
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
    budgetWeekNanos: options.budgetWeek ?? 0n,
    budgetMonthNanos: options.budgetMonth ?? 0n,
    budgetQuarterNanos: options.budgetQuarter ?? 0n,
    budgetTotalNanos: options.budgetTotal ?? 0n,
    requestCostMaxNanos: options.requestCostMax ?? 0n,
    refuseUnaffordable: options.refuseUnaffordable ?? false,
    retriesRunAnew: options.retriesRunAnew ?? false,
    metadata: options.label ?? {},
    strict: options.strict ?? false,
    childrenEndWithIt: options.childrenEndWithIt ?? false,
    endStreamsOnRevoke: options.keepStreamsOnRevoke === undefined ? undefined : !options.keepStreamsOnRevoke,
    endStreamsOnExpiry: options.endStreamsOnExpiry ?? false,
    cacheMarksOff: options.cacheMarksOff ?? false,
    quotas: options.quota === undefined ? undefined : { limits: options.quota },
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
  budgetWeek: "budget_week_nanos",
  budgetMonth: "budget_month_nanos",
  budgetQuarter: "budget_quarter_nanos",
  budgetTotal: "budget_total_nanos",
  requestCostMax: "request_cost_max_nanos",
  quota: "quotas",
  refuseUnaffordable: "refuse_unaffordable",
  retriesRunAnew: "retries_run_anew",
  label: "metadata",
  strict: "strict",
  childrenEndWithIt: "children_end_with_it",
  keepStreamsOnRevoke: "end_streams_on_revoke",
  endStreamsOnExpiry: "end_streams_on_expiry",
  cacheMarksOff: "cache_marks_off",
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

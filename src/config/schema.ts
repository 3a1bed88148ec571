/** What a settings file may say: the shape of its blocks, and the rule that each value must keep. */
import { isAbsolute } from "node:path";
import { z } from "zod";
import { MODEL_KIND_NAMES } from "../api/model-kinds.js";
import { FALLBACKS_MAX } from "../base/fallback.js";
import { PROMPT_CACHE_SETTINGS } from "../wire/request/prompt-cache.js";
import { accountId, accounts, plans } from "./account-schema.js";
import { BALANCES } from "../base/balances.js";
import type { AliasSettings, ModelSettings, TargetSettings, UpstreamSettings } from "./settings.js";
import { alertSeeds } from "./alert-schema.js";
import { upstreamHeaders } from "./header-schema.js";
import { facts } from "./facts-schema.js";
import { labels } from "./labels-schema.js";
import { identity, IDENTITY_IS } from "./identity-schema.js";
import { keySeed } from "./key-schema.js";
import { targetLimits, upstreamLimits } from "./limit-schema.js";
import { parameters, targetParameters } from "./parameter-schema.js";
import { match } from "./match-schema.js";
import { payments } from "./payment-schema.js";
import { prices } from "./price-list-schema.js";
import { price } from "./price-schema.js";
import { checks } from "./check-schema.js";
import { retries } from "./retry-schema.js";
import { timeouts, upstreamTimeouts } from "./timeout-schema.js";
import {
  block,
  decimalForm,
  MAY_BE_LEFT_OUT,
  named,
  oneOf,
  orEmpty,
  reading,
  text,
  truth,
  usd,
  wholeNumber,
} from "./values.js";

const UPSTREAM_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/;
/** A wildcard has a star at its end. */
const MODEL_OR_WILDCARD = /^(?:[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}|(?:[A-Za-z0-9][A-Za-z0-9._:/@-]{0,126})?\*)$/;
const MODEL_NAME_RULE = "must be named by 1 to 128 of A-Z, a-z, 0-9, ., _, :, /, @ and -";
const PASS_OR_REFUSE = ["pass", "refuse"] as const;
const MUST_PASS_OR_REFUSE = "must be pass or refuse";
const TOKENS_MAX = 1_000_000_000;
const STREAM_HEAD_MS_MAX = 600_000;
const WEIGHT_MAX = 1_000_000;

const TIMEOUTS_ARE =
  "How long an answer may take; a target's timeouts are over those of its model, and these over those of its upstream";
const RETRIES_ARE =
  "How often a request is tried; what a target says is over what its model says, and that over what its upstream says";
const UPSTREAM_LIMITS_ARE = "How much the gateway sends to the upstream at most; a full upstream is skipped";
const TARGET_LIMITS_ARE =
  "How much the gateway sends to the target at most; the limits of its upstream count too, and a full target is skipped";
const PARAMETERS_ARE =
  "Parameters of chat requests that the gateway fills in, sets or drops, in whichever format they come; what a target " +
  "says is over what its model says; see docs/routing.md";
const LABELS_ARE =
  "Where and how the upstream treats the data of requests, which accounts, keys and requests may demand; those of a " +
  "target are over those of its upstream";
/** What an upstream's block says beside where it is and who asks there. */
const BEHAVIOR = [
  "unknown_members",
  "prompt_cache",
  "media_addresses",
  "unified_limits",
  "timeouts",
  "retries",
  "limits",
  "checks",
  "labels",
  "machine_hour",
];

const baseUrl = reading(
  "must be an http:// or https:// address without user, query, or fragment, such as https://api.example.com/v1",
  (value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
      return undefined;
    return /[?#\s\\]/.test(value) ? undefined : value.replace(/\/+$/, "");
  },
);

const upstream = block({
  family: text(64).describe("The type of the upstream, which defines the API that the gateway uses"),
  api_key: text(4096, { secret: { isSent: true, unchangedBy: BEHAVIOR } })
    .optional()
    .describe("The credential of the upstream, best as `${VARIABLE}`"),
  base_url: baseUrl.optional().describe("The base URL; required if the family has no default address"),
  unknown_members: oneOf(PASS_OR_REFUSE, MUST_PASS_OR_REFUSE)
    .prefault("pass")
    .describe("What happens to a request with fields that the gateway does not know"),
  prompt_cache: oneOf(PROMPT_CACHE_SETTINGS)
    .optional()
    .describe(
      "The request field that keeps the upstream's prompt cache separate for each account, or `shared` (one cache for all " +
        "accounts), or `off` (no cache); default: depends on the family",
    ),
  media_addresses: oneOf(PASS_OR_REFUSE, MUST_PASS_OR_REFUSE)
    .optional()
    .describe(
      "What happens to URLs in requests that the upstream would fetch, such as images; default: `refuse` for `vllm`, " +
        "`llamacpp`, `ollama` and `openai-compatible`, `pass` for the others",
    ),
  unified_limits: oneOf(["pass", "hide"], "must be pass or hide")
    .prefault("hide")
    .describe(
      "Whether clients see the rate limits of the operator's own account (`anthropic-ratelimit-unified-...`); only for " +
        "`family: anthropic`, and only for models that no other upstream serves",
    ),
  timeouts: upstreamTimeouts.optional().describe(TIMEOUTS_ARE),
  retries: retries.optional().describe(RETRIES_ARE),
  limits: upstreamLimits.optional().describe(UPSTREAM_LIMITS_ARE),
  headers: upstreamHeaders(BEHAVIOR)
    .optional()
    .describe('Headers that the upstream gets with each request, a line for each, such as "X-Team: blue"'),
  checks: checks.optional().describe("What the gateway checks by itself; see docs/routing.md"),
  labels: labels.optional().describe(LABELS_ARE),
  machine_hour: usd
    .optional()
    .describe(
      "What an hour of the machine costs you in USD, spread over the requests that it works at, beside the `cost` of targets",
    ),
});

const weight = reading(
  "must be a number from 0 to 1000000",
  (value) => {
    const number = /^\d{1,7}(\.\d{1,6})?$/.test(value) ? Number(value) : NaN;
    return number <= WEIGHT_MAX ? number : undefined;
  },
  decimalForm,
);

const target = block({
  upstream: text(64).describe("The name of an upstream in `upstreams`"),
  model: text(256).optional().describe("The upstream's name of the model; default: the name in this file"),
  weight: weight
    .prefault("1")
    .describe("The share of requests among targets of the same priority; with 0 only the sessions that it has"),
  priority: wholeNumber(1, 100)
    .prefault("1")
    .describe("The order of targets; a target with a lower number is tried first"),
  timeouts: timeouts.optional().describe(TIMEOUTS_ARE),
  retries: retries.optional().describe(RETRIES_ARE),
  limits: targetLimits.optional().describe(TARGET_LIMITS_ARE),
  parameters: targetParameters.optional().describe(PARAMETERS_ARE),
  cost: price.optional().describe("What the operator pays the upstream; default: the published price, if it is known"),
  labels: labels.optional().describe(LABELS_ARE),
  match: match.optional().describe("Only requests that match all of these may go to the target; default: all requests"),
  facts: facts.optional().describe("Capabilities of the target; each replaces what is known about the model"),
});

const UPSTREAMS_ARE = "The services and servers that run models, by names that you choose";
const MODELS_ARE = "The models that clients may request, by the names that clients send";
const ALIASES_ARE = "Other names of models. A request to an alias pays the price of its model";
const PLANS_ARE = "Budgets and limits that new accounts, members and keys get; see docs/plans.md";
const ACCOUNTS_ARE =
  "The accounts that pay, by id. The gateway creates missing accounts; with `manage` it also changes existing ones";
const KEYS_ARE =
  "API keys. The gateway creates missing keys; with `manage` it also changes existing ones, else it logs where the " +
  "file differs";
const MANAGE_IS =
  "Whether the file also changes accounts and keys that exist, at each start and reload. One that you remove from the " +
  "file is then disabled (an account is frozen, a key is revoked) until the file has it again";
const METRICS_ARE = "Additional metrics";
const ALERTS_ARE = "Alerts of the operator and of accounts, by name; see docs/alerts.md";
const PRICES_ARE = "How published prices are refreshed; see docs/prices.md";
const EXPORTS_ARE = "Usage files that are written each night";
const PAYMENTS_ARE = "How members of an account can add money to it; see docs/payments.md";
const TARGETS_RULE = "must be a list of at least one target, such as [{ upstream: openai }]";

const day = reading("must be a day such as 2027-01-31", (value) => {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : new Date(time);
});

const FALLBACKS_RULE = `must be a list of at most ${FALLBACKS_MAX} models, such as [gpt-5.4-mini]`;
const modelName = text(128);
const displayName = text(128)
  .optional()
  .describe("The name that clients show to people; default: the name in this file");

const model = block({
  targets: z
    .array(target, { error: (issue) => (issue.input === undefined ? `is missing: ${TARGETS_RULE}` : TARGETS_RULE) })
    .min(1, TARGETS_RULE)
    .describe("The upstreams that serve the model"),
  kind: oneOf(MODEL_KIND_NAMES).optional().describe("The type of the model; default: what the family knows about it"),
  context_tokens: wholeNumber(1, TOKENS_MAX)
    .optional()
    .describe("The context size: the maximum number of tokens of a request and its answer together"),
  output_tokens_max: wholeNumber(1, TOKENS_MAX).optional().describe("The maximum number of output tokens"),
  stream_head_ms: wholeNumber(100, STREAM_HEAD_MS_MAX)
    .optional()
    .describe(
      "If the upstream sends nothing for this many milliseconds, the gateway starts the stream and keeps it alive; later " +
        "errors are then sent as events of the stream; default: 10000",
    ),
  hosted_tools: oneOf(["refuse", "drop"], "must be refuse or drop")
    .prefault("refuse")
    .describe(
      "What happens to a tool that the upstream would run itself, such as a web search, if the upstream's format has no such " +
        "tool or the tool has no price: `refuse` the request, or `drop` the tool and list it in `x-tollgate-dropped`",
    ),
  affinity: oneOf(["auto", "off"], "must be auto or off")
    .prefault("auto")
    .describe(
      "Whether requests of one session go to the same target among targets of the same priority, so that the upstream's " +
        "prompt cache has them; see docs/routing.md",
    ),
  cache_marks: oneOf(["auto", "off"], "must be auto or off")
    .prefault("off")
    .describe(
      "Whether the gateway marks what the upstream should cache in requests that have no marks (`cache_control`), for " +
        "Claude models; see docs/routing.md",
    ),
  cache_marks_ttl: oneOf(["5m", "1h"], "must be 5m or 1h")
    .prefault("5m")
    .describe("How long the upstream keeps what the gateway marked; writing for an hour costs more"),
  balance: oneOf(BALANCES)
    .prefault("weight")
    .describe(
      "How requests are balanced among targets of the same priority: `weight` (by their weights), `load` (the fewest " +
        "running requests for its weight), `latency` (the fastest) or `cost` (the cheapest for you); see docs/routing.md",
    ),
  timeouts: timeouts.optional().describe(TIMEOUTS_ARE),
  fallbacks: z
    .array(modelName, { error: () => FALLBACKS_RULE })
    .max(FALLBACKS_MAX, FALLBACKS_RULE)
    .optional()
    .describe(
      "Models that answer, in this order, while all targets of this model fail. Each is charged at its own price; see docs/routing.md",
    ),
  on_context: modelName
    .optional()
    .describe("The model that answers a request which is too long for this model, at its own price"),
  retries: retries.optional().describe(RETRIES_ARE),
  parameters: parameters.optional().describe(PARAMETERS_ARE),
  price: price.optional().describe("What clients pay: `free`, or a block of prices; default: the published price"),
  facts: facts
    .optional()
    .describe("Capabilities of the model; each replaces what the gateway knows about the model by its name"),
  retires: day.optional().describe("The last day on which the model is served"),
  display_name: displayName,
  price_from: oneOf(["list", "ceiling"], "must be list or ceiling")
    .optional()
    .describe(
      "Only for a name that ends with `*`: where the price of each model comes from, `list` (the published price) or " +
        "`ceiling` (`price`, for whatever model is requested); default: `list`",
    ),
  serve: oneOf(["list", "any"], "must be list or any")
    .optional()
    .describe(
      "Only for a name that ends with `*`: which models are served, `list` (those of the upstream's own list, once it is " +
        "known) or `any` (also others that have a price); default: `any`",
    ),
});

const alias = block({
  model: text(128).describe("The name of a model; a key needs permission for the alias and for this model"),
  display_name: displayName,
});

/** Each is a few series in whatever reads the metrics. */
const METRIC_ACCOUNTS_MAX = 100;
const METRIC_ACCOUNTS_RULE = `must be a list of at most ${METRIC_ACCOUNTS_MAX} ids of accounts, such as [acme]`;
const metrics = block({
  accounts: z
    .array(accountId, METRIC_ACCOUNTS_RULE)
    .max(METRIC_ACCOUNTS_MAX, METRIC_ACCOUNTS_RULE)
    .default([])
    .describe("The ids of accounts whose balance and budgets are exported as metrics"),
});

const EXPORT_FORMS = ["csv", "jsonl", "focus"] as const;
const directory = reading("must be the absolute path of a directory, such as /var/lib/tollgate/exports", (value) =>
  isAbsolute(value) && !value.includes("\0") ? value : undefined,
);
const exports = block({
  directory: directory
    .optional()
    .describe("The directory for the files of each UTC day; without it no files are written"),
  formats: z
    .array(oneOf(EXPORT_FORMS), { error: () => "must be a list of csv, jsonl and focus" })
    .default(["csv"])
    .describe(
      "The files to write: `csv` and `jsonl` contain usage and ledger entries, `focus` contains usage in the columns of FOCUS",
    ),
});

const INCLUDE_RULE = "must be a list of files such as [conf.d/*.yaml]";
const INCLUDE_IS =
  "More files with the same blocks, by their paths from the directory of this file; `*` in a name stands for any " +
  "characters. No name may be in two files";
const includedFile = text(1024).describe("The path of a file, such as conf.d/*.yaml");

/** The whole file. */
export const settingsSchema = block({
  upstreams: named(UPSTREAM_ID, "must be named by 1 to 64 of a-z, 0-9, ., _ and -", upstream)
    .transform((blocks) =>
      Object.entries(blocks).map(([id, value]): UpstreamSettings => ({
        id,
        family: value.family,
        apiKey: value.api_key,
        baseUrl: value.base_url,
        unknownMembers: value.unknown_members,
        promptCache: value.prompt_cache,
        mediaAddresses: value.media_addresses,
        passesUnifiedLimits: value.unified_limits === "pass",
        timeouts: value.timeouts,
        retries: value.retries,
        limits: value.limits,
        headers: value.headers,
        checks: value.checks,
        machineHourNanos: value.machine_hour,
        labels: value.labels,
      })),
    )
    .describe(UPSTREAMS_ARE),
  models: named(MODEL_OR_WILDCARD, `${MODEL_NAME_RULE}, perhaps with * at the end`, model)
    .transform((blocks) => Object.entries(blocks).map(([id, value]) => asModel(id, value)))
    .describe(MODELS_ARE),
  aliases: named(MODEL_ID, MODEL_NAME_RULE, alias)
    .transform((blocks) =>
      Object.entries(blocks).map(([id, value]): AliasSettings => ({
        id,
        model: value.model,
        displayName: value.display_name,
      })),
    )
    .describe(ALIASES_ARE),
  plans: plans.describe(PLANS_ARE),
  manage: truth.prefault("false").describe(MANAGE_IS),
  accounts: accounts.describe(ACCOUNTS_ARE),
  keys: z
    .preprocess((value) => value ?? [], z.array(keySeed, "must be a list of keys"))
    .meta({ ...MAY_BE_LEFT_OUT, description: KEYS_ARE }),
  metrics: orEmpty(metrics).describe(METRICS_ARE),
  prices: prices.describe(PRICES_ARE),
  alerts: alertSeeds.describe(ALERTS_ARE),
  exports: orEmpty(exports)
    .transform(({ directory: path, formats }) => ({ directory: path, formats }))
    .describe(EXPORTS_ARE),
  payments: payments.describe(PAYMENTS_ARE),
  identity: identity.describe(IDENTITY_IS),
  include: z
    .array(includedFile, { error: () => INCLUDE_RULE })
    .optional()
    .describe(INCLUDE_IS),
});

function asModel(id: string, value: z.output<typeof model>): ModelSettings {
  return {
    id,
    targets: value.targets.map((target): TargetSettings => ({
      upstream: target.upstream,
      model: target.model ?? id,
      weight: target.weight,
      priority: target.priority,
      cost: target.cost,
      timeouts: target.timeouts,
      retries: target.retries,
      limits: target.limits,
      parameters: target.parameters,
      labels: target.labels,
      match: target.match,
      facts: target.facts,
    })),
    kind: value.kind,
    contextTokens: value.context_tokens,
    outputTokensMax: value.output_tokens_max,
    streamHeadMs: value.stream_head_ms,
    hostedTools: value.hosted_tools,
    affinity: value.affinity,
    cacheMarks: value.cache_marks,
    cacheMarksTtl: value.cache_marks_ttl,
    balance: value.balance,
    timeouts: value.timeouts,
    fallbacks: value.fallbacks,
    onContext: value.on_context,
    retries: value.retries,
    parameters: value.parameters,
    price: value.price,
    facts: value.facts ?? {},
    retireTime: value.retires,
    displayName: value.display_name,
    priceFrom: value.price_from,
    serve: value.serve,
  };
}

/** What OpenRouter's clients read about their key, their credit and one request, in its shapes: amounts are USD. */
import { generatedTokens, NO_USAGE, readTokens } from "../api/usage.js";
import { ErrorReason, type GetBalanceResponse, type Key, type RequestRecord, RequestState } from "../api/index.js";
import { approximateUsd, greater } from "../base/money.js";

interface Limit {
  readonly limitNanos: bigint;
  readonly leftNanos: bigint;
  readonly reset: "daily" | "weekly" | "monthly" | null;
}

/**
 * The body of `GET /key`. Of several budgets it shows the one with the least left. `weekNanos` is what the key spent in
 * this week: its figures do not have that sum.
 */
export function openRouterKey(key: Key, weekNanos: bigint): object {
  const { settings, hint, figures, makerUserId } = key;
  const tightest = tightestOf(key, weekNanos);
  return {
    data: {
      label: hint,
      limit: tightest === undefined ? null : approximateUsd(tightest.limitNanos),
      limit_remaining: tightest === undefined ? null : approximateUsd(greater(tightest.leftNanos, 0n)),
      limit_reset: tightest?.reset ?? null,
      usage: approximateUsd(figures?.spentTotalNanos ?? 0n),
      usage_daily: approximateUsd(figures?.spentDayNanos ?? 0n),
      usage_weekly: approximateUsd(weekNanos),
      usage_monthly: approximateUsd(figures?.spentMonthNanos ?? 0n),
      byok_usage: 0,
      byok_usage_daily: 0,
      byok_usage_weekly: 0,
      byok_usage_monthly: 0,
      include_byok_in_limit: false,
      is_free_tier: false,
      is_management_key: false,
      is_provisioning_key: false,
      creator_user_id: textOrNull(makerUserId),
      expires_at: settings?.expireTime?.toISOString() ?? null,
      // OpenRouter has deprecated this member; its older clients still need it.
      rate_limit: { requests: -1, interval: "10s", note: "This member is deprecated." },
    },
  };
}

/** Undefined where the key has no budget that OpenRouter has a word for; it has none for a quarter. */
function tightestOf({ settings, figures }: Key, weekNanos: bigint): Limit | undefined {
  if (settings === undefined) return undefined;
  const spent = { total: figures?.spentTotalNanos ?? 0n, month: figures?.spentMonthNanos ?? 0n };
  const budgets = [
    { limitNanos: settings.budgetTotalNanos, spentNanos: spent.total, reset: null },
    { limitNanos: settings.budgetMonthNanos, spentNanos: spent.month, reset: "monthly" },
    { limitNanos: settings.budgetWeekNanos, spentNanos: weekNanos, reset: "weekly" },
    { limitNanos: settings.budgetDayNanos, spentNanos: figures?.spentDayNanos ?? 0n, reset: "daily" },
  ] as const;
  const heldNanos = figures?.heldNanos ?? 0n;
  let tightest: Limit | undefined;
  for (const { limitNanos, spentNanos, reset } of budgets) {
    const leftNanos = limitNanos - spentNanos - heldNanos;
    if (limitNanos > 0n && (tightest === undefined || leftNanos < tightest.leftNanos))
      tightest = { limitNanos, leftNanos, reset };
  }
  return tightest;
}

/** The body of `GET /credits`. */
export function openRouterCredits({ grantedNanos, spentNanos }: GetBalanceResponse): object {
  return { data: { total_credits: approximateUsd(grantedNanos), total_usage: approximateUsd(spentNanos) } };
}

/** The body of `GET /generation`; undefined while the request runs. What the gateway does not record is null. */
export function openRouterGeneration(request: RequestRecord): object | undefined {
  if (request.state === RequestState.REQUEST_STATE_HELD) return undefined;
  const { id, detail, createTime, model, upstream } = request;
  return {
    data: {
      id,
      request_id: id,
      model,
      provider_name: textOrNull(upstream),
      created_at: (createTime ?? new Date(0)).toISOString(),
      ...costOf(request),
      ...tokensOf(request),
      streamed: detail?.streamed ?? null,
      cancelled: detail?.errorReason === ErrorReason.ERROR_REASON_CANCELLED,
      latency: detail === undefined ? null : Math.round(detail.totalMs),
      generation_time: detail === undefined ? null : Math.round(detail.totalMs - (detail.firstTokenMs ?? 0)),
      api_type: detail === undefined ? null : apiTypeOf(detail.path),
      user_agent: textOrNull(detail?.client),
      external_user: textOrNull(detail?.endUser),
      session_id: textOrNull(detail?.session),
      origin: "",
      is_byok: false,
      ...NOT_RECORDED,
    },
  };
}

/** Members that OpenRouter's clients need to be there. */
const NOT_RECORDED = {
  upstream_id: null,
  upstream_inference_cost: null,
  moderation_latency: null,
  finish_reason: null,
  native_finish_reason: null,
  native_tokens_completion_images: null,
  http_referer: null,
  app_id: null,
  preset_id: null,
  router: null,
  service_tier: null,
  web_search_engine: null,
  num_media_prompt: null,
  num_media_completion: null,
  num_input_audio_prompt: null,
  num_search_results: null,
  num_fetches: null,
  provider_responses: null,
} as const;

function costOf({ chargedNanos, detail }: RequestRecord): object {
  const cost = approximateUsd(chargedNanos);
  const savedNanos = detail?.cacheSavedNanos;
  return {
    total_cost: cost,
    usage: cost,
    cache_discount: savedNanos === undefined ? null : approximateUsd(savedNanos),
  };
}

function tokensOf({ usage = NO_USAGE }: RequestRecord): object {
  const read = Number(readTokens(usage));
  const generated = Number(generatedTokens(usage));
  return {
    tokens_prompt: read,
    tokens_completion: generated,
    native_tokens_prompt: read,
    native_tokens_completion: generated,
    native_tokens_reasoning: Number(usage.reasoningTokens),
    native_tokens_cached: Number(usage.cacheReadTokens),
  };
}

function apiTypeOf(path: string): string {
  if (/embed/i.test(path)) return "embeddings";
  return /rerank/i.test(path) ? "rerank" : "completions";
}

function textOrNull(text: string | undefined): string | null {
  return text === undefined || text === "" ? null : text;
}

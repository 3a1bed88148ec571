/** What charts of usage show of each sum, as whole numbers of their unit. */
import type { UsageSum } from "../../gen/console/usage_service.js";
import { count, money, percent, roughCount, roughMoney } from "../format.ts";
import { inMilliseconds } from "../overview/charts.tsx";
import type { BarsParts } from "../parts/bars.tsx";
import { sumOf } from "../parts/series.ts";
import { inputOf, outputOf } from "../requests/tokens.ts";

export const MEASURE_NAMES = ["spend", "tokens", "requests", "errors", "duration", "speed", "saved"] as const;
export type MeasureName = (typeof MEASURE_NAMES)[number];

export interface Measure extends Pick<BarsParts, "exact" | "rough" | "isLines"> {
  readonly of: (sum: UsageSum) => bigint;
}

/** Shares are in hundredths of a percent, times in microseconds, speeds in hundredths of a token a second. */
const SHARE_UNITS = 10_000n;
const MICROS_PER_MS = 1_000;
const SPEED_UNITS = 100;

export const MEASURES: Readonly<Record<MeasureName, Measure>> = {
  spend: { of: ({ costNanos }) => costNanos, exact: money, rough: roughMoney },
  tokens: { of: ({ usage }) => inputOf(usage) + outputOf(usage), exact: count, rough: roughCount },
  requests: { of: ({ requestCount }) => requestCount, exact: count, rough: roughCount },
  errors: { of: errorShare, exact: shareText, rough: shareText, isLines: true },
  duration: {
    of: ({ total }) => BigInt(Math.round((total?.p95Ms ?? 0) * MICROS_PER_MS)),
    exact: inMilliseconds,
    rough: inMilliseconds,
    isLines: true,
  },
  speed: {
    of: (sum) => BigInt(Math.round(speedOf(sum) * SPEED_UNITS)),
    exact: speedText,
    rough: speedText,
    isLines: true,
  },
  saved: { of: ({ cacheSavedNanos }) => cacheSavedNanos, exact: money, rough: roughMoney },
};

export function failedOf({ errors }: Pick<UsageSum, "errors">): bigint {
  return sumOf(Object.values(errors), (found) => found);
}

export function errorShare(sum: Pick<UsageSum, "errors" | "requestCount">): bigint {
  return sum.requestCount === 0n ? 0n : (failedOf(sum) * SHARE_UNITS) / sum.requestCount;
}

export function shareText(share: bigint): string {
  return percent(Number(share) / Number(SHARE_UNITS));
}

/** Tokens a second of one stream, as a mean; 0 if nothing was streamed. */
export function speedOf({ streamedTokens, streamedMs }: Pick<UsageSum, "streamedTokens" | "streamedMs">): number {
  return streamedMs === 0 ? 0 : Number(streamedTokens) / (streamedMs / 1_000);
}

function speedText(hundredths: bigint): string {
  return `${(Number(hundredths) / SPEED_UNITS).toFixed(1)}/s`;
}

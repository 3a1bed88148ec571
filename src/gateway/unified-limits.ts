/** The limits of the operator's own Anthropic account, read from its answers, under the gateway's own names. */
import { UNIFIED_LIMIT_PREFIX } from "../api/channel.js";

const NAME = /^anthropic-ratelimit-unified-([a-z0-9-]{1,40})$/;
/** The value of a limit is a number, a time or a word. */
const VALUE = /^[\w.:+-]{1,64}$/;
/** More than the dozen that exist today. */
const LIMITS_MAX = 24;

export type UnifiedLimits = Readonly<Record<string, string>>;

/** The unified limits among the headers of an answer. */
export function unifiedLimits(headers: Readonly<Record<string, string>>): UnifiedLimits {
  const told = Object.entries(headers).flatMap(([name, value]) => {
    const limit = NAME.exec(name)?.[1];
    return limit === undefined || !VALUE.test(value) ? [] : [[`${UNIFIED_LIMIT_PREFIX}${limit}`, value] as const];
  });
  return Object.fromEntries(told.slice(0, LIMITS_MAX));
}

/** The limits of a key in words, only those that it has. */
import type { KeySettings } from "../../../gen/console/key_service.js";
import { words } from "../copy/en.ts";
import { count, dateTime, money } from "../format.ts";

export function limitWords(settings: KeySettings | undefined): readonly string[] {
  if (settings === undefined) return [];
  const { keys } = words;
  const limits: readonly (readonly [bigint, (text: string) => string, (value: bigint) => string])[] = [
    [settings.budgetDayNanos, keys.dayShort, money],
    [settings.budgetMonthNanos, keys.monthShort, money],
    [settings.budgetTotalNanos, keys.totalShort, money],
    [settings.requestsPerMinute, keys.perMinuteShort, count],
    [settings.tokensPerMinute, keys.tokensShort, count],
    [settings.concurrency, keys.atOnceShort, count],
  ];
  const said = limits.filter(([value]) => value > 0n).map(([value, say, write]) => say(write(value)));
  return settings.expireTime === undefined ? said : [...said, keys.endsShort(dateTime(settings.expireTime))];
}

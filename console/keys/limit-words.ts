/** The limits of a key in words, only those that it has. */
import type { KeySettings } from "../../gen/console/key_service.js";
import { keyWords } from "../copy/en-keys.ts";
import { count, dateTime, money } from "../format.ts";

export function limitWords(settings: KeySettings | undefined): readonly string[] {
  if (settings === undefined) return [];
  const limits: readonly (readonly [bigint, (text: string) => string, (value: bigint) => string])[] = [
    [settings.budgetDayNanos, keyWords.dayShort, money],
    [settings.budgetMonthNanos, keyWords.monthShort, money],
    [settings.budgetTotalNanos, keyWords.totalShort, money],
    [settings.requestsPerMinute, keyWords.perMinuteShort, count],
    [settings.tokensPerMinute, keyWords.tokensShort, count],
    [settings.concurrency, keyWords.atOnceShort, count],
  ];
  const said = limits.filter(([value]) => value > 0n).map(([value, say, write]) => say(write(value)));
  return settings.expireTime === undefined ? said : [...said, keyWords.endsShort(dateTime(settings.expireTime))];
}

/** The limits of a key, an account or a member in words, only those that it has. */
import { keyWords } from "../copy/en-keys.ts";
import { count, dateTime, money } from "../format.ts";
import type { Limits } from "../parts/limit-form.ts";

export function limitWords(
  settings: (Partial<Limits> & { readonly expireTime?: Date | undefined }) | undefined,
): readonly string[] {
  if (settings === undefined) return [];
  const limits: readonly (readonly [bigint | undefined, (text: string) => string, (value: bigint) => string])[] = [
    [settings.budgetDayNanos, keyWords.dayShort, money],
    [settings.budgetWeekNanos, keyWords.weekShort, money],
    [settings.budgetMonthNanos, keyWords.monthShort, money],
    [settings.budgetQuarterNanos, keyWords.quarterShort, money],
    [settings.budgetTotalNanos, keyWords.totalShort, money],
    [settings.requestCostMaxNanos, keyWords.requestShort, money],
    [settings.requestsPerMinute, keyWords.perMinuteShort, count],
    [settings.tokensPerMinute, keyWords.tokensShort, count],
    [settings.concurrency, keyWords.atOnceShort, count],
  ];
  const said = limits.flatMap(([value = 0n, say, write]) => (value > 0n ? [say(write(value))] : []));
  return settings.expireTime === undefined ? said : [...said, keyWords.endsShort(dateTime(settings.expireTime))];
}

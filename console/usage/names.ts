/** The names of keys beside their ids, as sums have them. */
import { useQuery } from "@tanstack/react-query";
import { listKeys } from "../../gen/console/key_service.js";
import type { UsageSum } from "../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { utcDay } from "../format.ts";
import { OTHERS, shownName } from "../parts/series.ts";
import { useSignedIn } from "../shell/session.ts";
import type { UsageGroup } from "../states.ts";

export type NameOf = (group: UsageGroup, value: string) => string;

/** The ids of keys in sums, at most as many as are named. */
export function keysIn(sums: readonly UsageSum[] | undefined, grouped: readonly UsageGroup[]): readonly string[] {
  const place = grouped.indexOf("key");
  if (sums === undefined || place < 0) return [];
  return sums.map(({ values }) => values[place] ?? "").filter((id) => id !== "" && id !== OTHERS);
}

/** The names of the keys that are shown; undefined while they are on their way. */
export function useNames(ids: readonly string[], areKnown: boolean): NameOf | undefined {
  const { account } = useSignedIn();
  const asked = [...new Set(ids)].toSorted();
  const isAsked = areKnown && asked.length > 0;
  const keys = useQuery({ ...ask(listKeys, { accountId: account, ids: asked }, account), enabled: isAsked });
  if (isAsked && keys.isPending) return undefined;
  const names = new Map(keys.data?.keys.map(({ id, settings }) => [id, settings?.name || id]));
  return (group, value) => {
    if (value === "" || value === OTHERS) return shownName(value);
    return group === "key" ? (names.get(value) ?? value) : group === "day" ? utcDay(value) : value;
  };
}

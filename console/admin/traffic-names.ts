/** The names of accounts and keys beside their ids, on the page of traffic. */
import { useQuery } from "@tanstack/react-query";
import { listAccounts } from "../../gen/console/account_service.js";
import { listKeys } from "../../gen/console/key_service.js";
import type { UsageSum } from "../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { OTHERS, shownName } from "../parts/series.ts";
import type { TrafficGroup } from "../states.ts";

const ACCOUNTS_MAX = 1_000;

export function useTrafficNames(by: TrafficGroup, sums: readonly UsageSum[] | undefined): (value: string) => string {
  const ids = (sums ?? []).map(({ values }) => values[0] ?? "").filter((id) => id !== "" && id !== OTHERS);
  const keys = useQuery({ ...ask(listKeys, { ids: ids.toSorted() }), enabled: by === "key" && ids.length > 0 });
  const accounts = useQuery({ ...ask(listAccounts, { pageSize: ACCOUNTS_MAX }), enabled: by === "account" });
  const names = new Map([
    ...(by === "key" ? (keys.data?.keys ?? []) : []).map(({ id, settings }) => [id, settings?.name] as const),
    ...(by === "account" ? (accounts.data?.accounts ?? []) : []).map(({ id, name }) => [id, name] as const),
  ]);
  return (value) => names.get(value) || shownName(value);
}

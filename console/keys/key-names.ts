/** The names of keys by their ids, for pages that show keys which others than the reader may have made. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { listKeys } from "../../gen/console/key_service.js";
import { ask } from "../api/queries.ts";
import { useSignedIn } from "../shell/session.ts";

export type KeyNames = ReadonlyMap<string, string>;

interface NamesOptions {
  /** False while the ids are on their way. */
  readonly areKnown?: boolean;
  /** Empty for the keys of all accounts; the reader's account where it is absent. */
  readonly account?: string;
}

/** The server names so many at once; others keep their ids. */
const IDS_MAX = 200;

/** Undefined while the names are on their way. A key that the reader may not see has none. */
export function useKeyNames(
  ids: readonly string[],
  { areKnown = true, account: accountId }: NamesOptions = {},
): KeyNames | undefined {
  const { account: own } = useSignedIn();
  const account = accountId ?? own;
  const asked = [...new Set(ids)].filter((id) => id !== "").toSorted();
  const isAsked = areKnown && asked.length > 0;
  const keys = useQuery({
    ...ask(listKeys, { accountId: account, ids: asked.slice(0, IDS_MAX) }, account),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  });
  if (isAsked && keys.isPending) return undefined;
  return new Map(keys.data?.keys.map(({ id, settings }) => [id, settings?.name || id]));
}

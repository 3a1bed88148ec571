/** What lists show of accounts and keys beside themselves: balances, spending, last uses, and how full limits are. */
import {
  AccountOrder,
  AccountState,
  type Account,
  type Key,
  type ListAccountsRequest,
  type ListKeysRequest,
} from "../../api/index.js";
import { GatewayError } from "../../base/errors.js";
import { HIDDEN_IDS } from "../../keys/key-id.js";
import type { AccountFilter, AccountOrder as Order, Buckets, KeyFilter } from "../../store/store.js";
import { invalid } from "../../api/check.js";
import type { CoreParts } from "../call/core.js";
import { dayOf } from "../../base/day.js";

type Parts = Pick<CoreParts, "store" | "nowMs" | "limits" | "keyUses">;

const TEXT_CHARACTERS_MAX = 200;
const ORDERS: Readonly<Partial<Record<AccountOrder, Order>>> = {
  [AccountOrder.ACCOUNT_ORDER_UNSPECIFIED]: "id",
  [AccountOrder.ACCOUNT_ORDER_AVAILABLE]: "available",
  [AccountOrder.ACCOUNT_ORDER_SPENT]: "spent",
  [AccountOrder.ACCOUNT_ORDER_NEWEST]: "newest",
};

/** What lists look for; undefined where that is nothing. Throws PARAMETER_INVALID. */
function textAsked(text: string): string | undefined {
  if (text.length > TEXT_CHARACTERS_MAX) throw invalid("text", `must be at most ${TEXT_CHARACTERS_MAX} characters`);
  return text === "" ? undefined : text;
}

/** Which keys are listed, of the account or of all. Throws PARAMETER_INVALID. */
export function keysAsked({ text, revoked }: ListKeysRequest, accountId: string | undefined): KeyFilter {
  return { accountId, text: textAsked(text), isRevoked: revoked, idsWithout: HIDDEN_IDS };
}

/** Throws PARAMETER_INVALID. */
export function accountsAsked({ state, text, order: asked, plan }: ListAccountsRequest): AccountFilter {
  const order = ORDERS[asked];
  if (order === undefined) throw invalid("order", "is none that there is");
  const wanted = textAsked(text);
  const isFrozen = state === AccountState.ACCOUNT_STATE_FROZEN;
  const anyState = state === AccountState.ACCOUNT_STATE_UNSPECIFIED;
  return { order, text: wanted, isFrozen: anyState ? undefined : isFrozen, plan: plan === "" ? undefined : plan };
}

/** The accounts with their figures, in the same order. */
export async function withAccountFigures({ store, nowMs }: Parts, accounts: readonly Account[]): Promise<Account[]> {
  const ids = accounts.map(({ id }) => id);
  const rows = ids.length === 0 ? [] : await store.figures.ofAccounts(ids, bucketsAt(nowMs()));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return accounts.map((account) => {
    const row = byId.get(account.id);
    if (row === undefined) return account;
    const { availableNanos, heldNanos, spentNanos, grantedNanos, spent } = row;
    const spentOf = { spentDayNanos: spent.dayNanos, spentMonthNanos: spent.monthNanos };
    return { ...account, figures: { availableNanos, heldNanos, spentNanos, grantedNanos, ...spentOf, quotas: [] } };
  });
}

/** The keys with their figures, in the same order. */
export async function withKeyFigures(parts: Parts, keys: readonly Key[]): Promise<Key[]> {
  const { store, nowMs, keyUses } = parts;
  const ids = keys.map(({ id }) => id);
  const rows = ids.length === 0 ? [] : await store.figures.ofKeys(ids, bucketsAt(nowMs()));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return Promise.all(
    keys.map(async (key) => {
      const { spent, lastUseTimeMs } = byId.get(key.id) ?? {};
      const used = await usedOf(parts, key);
      const lastMs = Math.max(lastUseTimeMs ?? 0, keyUses?.lastOf(key.id) ?? 0);
      const figures = {
        lastUseTime: lastMs === 0 ? undefined : new Date(lastMs),
        spentDayNanos: spent?.dayNanos ?? 0n,
        spentMonthNanos: spent?.monthNanos ?? 0n,
        spentTotalNanos: spent?.totalNanos ?? 0n,
        heldNanos: spent?.heldNanos ?? 0n,
        requestsUsed: BigInt(used.requests),
        tokensUsed: BigInt(used.tokens),
        quotas: [],
      };
      return { ...key, figures };
    }),
  );
}

/** The account with how much of its quotas is used. */
export async function withAccountQuotas({ quotas }: Pick<CoreParts, "quotas">, account: Account): Promise<Account> {
  const { id, settings, figures } = account;
  const limits = settings?.quotas?.limits ?? [];
  if (quotas === undefined || figures === undefined) return account;
  return { ...account, figures: { ...figures, quotas: await quotas.usesOf("account", id, limits) } };
}

/** The key with how much of its quotas is used. */
export async function withKeyQuotas({ quotas }: Pick<CoreParts, "quotas">, key: Key): Promise<Key> {
  const { id, settings, figures } = key;
  const limits = settings?.quotas?.limits ?? [];
  if (quotas === undefined || figures === undefined) return key;
  return { ...key, figures: { ...figures, quotas: await quotas.usesOf("key", id, limits) } };
}

/** Where what nodes share cannot be asked, nothing is told of it: the list is there all the same. */
async function usedOf(
  { limits }: Parts,
  { id, accountId, settings }: Key,
): Promise<{ requests: number; tokens: number }> {
  if (settings === undefined) return { requests: 0, tokens: 0 };
  try {
    return await limits.usedOf({ keyId: id, accountId, settings });
  } catch (error) {
    if (error instanceof GatewayError) return { requests: 0, tokens: 0 };
    throw error;
  }
}

function bucketsAt(timeMs: number): Buckets {
  const day = dayOf(timeMs);
  return { day, month: day.slice(0, 7) };
}

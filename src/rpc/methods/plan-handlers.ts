/** The methods of AccountService about plans: what an account's says, and what a plan does to its accounts. */
import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { invalid, required, requireEtag, stale, unknown } from "../../api/check.js";
import {
  type AccountPlan,
  type AccountServiceService,
  type AccountSettings,
  type Demands,
  KeySettings,
  type PlanFieldEffect,
} from "../../api/index.js";
import type { Act } from "../../audit/act.js";
import { demandsOf, tightened } from "../../base/demands.js";
import { GatewayError } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import { roleMissing } from "../../keys/scope-missing.js";
import type { NewAccount } from "../../ledger/accounts.js";
import {
  copyOf,
  differingSettings,
  type OwnSettings,
  type Plan,
  PLAN_SETTINGS,
  requireWithin,
} from "../../plans/plan.js";
import type { AccountRow } from "../../store/store.js";
import { checkOwner } from "../call/account-scope.js";
import type { CoreParts } from "../call/core.js";
import type { Handlers } from "../call/handler.js";
import { accountOf } from "./account-message.js";
import { PENDING } from "./pending.js";

type Parts = Pick<CoreParts, "ledger" | "keys" | "plans">;
type PlanMethods = Pick<
  Handlers<typeof AccountServiceService>,
  "getAccountPlan" | "setAccountPlan" | "getPlanEffect" | "applyPlan"
>;

/** One call changes so many accounts, each in a transaction of its own: it ends within seconds. */
const CHANGES_MAX = 500;
const PAGE_SIZE = 1_000;
/** An account is changed so often against other changes of it. */
const TRIES_MAX = 8;
const NO_SETTINGS = KeySettings.decode(new Uint8Array());

export function planHandlers(parts: Parts): PlanMethods {
  const { ledger, keys, plans } = parts;
  return {
    async getAccountPlan({ id }, { caller }) {
      checkOwner(caller, required("id", id), "account", id);
      const { plan } = await ledger.account(id);
      return { plan: shownPlan(plan, plans?.get(plan)) };
    },
    async setAccountPlan({ id, plan, copySettings, etag }, { act, head }) {
      required("id", id);
      const named = plan === "" ? undefined : await planNamed(parts, plan);
      const account = await changed(parts, { id, etag }, act, (row) => {
        const copied = named === undefined || !copySettings ? {} : copyOf(named, ownSettings(row));
        return { ...copied, plan };
      });
      await keys.publishAccount(id);
      if (keys.isAccountPending(id) || ledger.leases.isPending(id)) head(PENDING);
      return { account: accountOf(account) };
    },
    async getPlanEffect({ plan }) {
      const { accountCount, differing, fields, etag } = await effectOf(
        parts,
        await planNamed(parts, required("plan", plan)),
      );
      return { accountCount: BigInt(accountCount), changedCount: BigInt(differing), fields, etag };
    },
    async applyPlan({ plan, etag }, { act, head }) {
      const named = await planNamed(parts, required("plan", plan));
      const { first, etag: present } = await effectOf(parts, named);
      requireEtag(required("etag", etag), present, "plan", plan);
      let count = 0;
      for (const row of first) {
        // What was changed since it was shown stays as it is; the answer counts it among those that remain.
        const account = await ledger.setSettings(row.id, copyOf(named, ownSettings(row)), act, row.etag).catch(isStale);
        if (account === undefined) continue;
        count += 1;
        await keys.publishAccount(row.id);
        if (keys.isAccountPending(row.id) || ledger.leases.isPending(row.id)) head(PENDING);
      }
      const rest = await effectOf(parts, named);
      return { changedCount: BigInt(count), remainingCount: BigInt(rest.differing), etag: rest.etag };
    },
  };
}

/** Rejects with RESOURCE_UNKNOWN. */
export async function planNamed({ plans }: Pick<Parts, "plans">, name: string): Promise<Plan> {
  const plan = await plans?.find(name);
  if (plan === undefined) throw unknown("plan", name);
  return plan;
}

/** The budgets and limits that a new account of the plan has. */
export function newSettings(plan: Plan): Pick<NewAccount, "budgets" | "limits"> {
  const { content, creditLine } = copyOf(plan);
  return { budgets: plan.budgets, limits: { ...plan.limits, content, creditLine } };
}

export interface UpdateParams {
  readonly id: string;
  readonly changed: Partial<AccountSettings>;
  readonly etag: string;
  readonly caller: Caller;
  readonly act: Act;
}

/**
 * Changes an account for its owner or admin. Rejects with ROLE_MISSING where no plan says what they may set, with
 * PARAMETER_INVALID where the plan allows less, and with ETAG_STALE.
 */
export function updateWithinPlan(
  parts: Parts,
  { id, changed: asked, etag, caller, act }: UpdateParams,
): Promise<AccountRow> {
  return changed(parts, { id, etag }, act, (row) => {
    const plan = parts.plans?.get(row.plan);
    if (plan === undefined) throw roleMissing(caller.user, "operator");
    if ("creditLine" in asked || "quotas" in asked) throw roleMissing(caller.user, "operator");
    requireWithin(plan, ownSettings(row), asked);
    if ("demands" in asked) requireTighter(row.limits.demands, asked.demands);
    return asked;
  });
}

/** An owner may demand more of where requests go, and takes back nothing: an operator may have promised it. */
function requireTighter(before: Demands | undefined, asked: Demands | undefined): void {
  const least = demandsOf(before);
  const wanted = demandsOf(asked);
  if (isDeepStrictEqual(tightened(least, wanted), tightened(wanted, undefined))) return;
  throw invalid("settings.demands", "must demand at least what the account demands now; an operator can loosen it");
}

/** Writes what `edit` makes of the account that it saw, and of no other: again where another change came first. */
async function changed(
  { ledger }: Pick<Parts, "ledger">,
  { id, etag }: { readonly id: string; readonly etag: string },
  act: Act,
  edit: (row: AccountRow) => Parameters<typeof ledger.setSettings>[1],
): Promise<AccountRow> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const row = await ledger.account(id);
    requireEtag(etag, row.etag, "account", id);
    const account = await ledger.setSettings(id, edit(row), act, row.etag).catch(isStale);
    if (account !== undefined) return account;
  }
  throw stale("account", id);
}

/** Undefined of an account that another change came to first. */
function isStale(error: unknown): undefined {
  if (GatewayError.from(error).reason !== "ERROR_REASON_ETAG_STALE") throw error;
}

interface Effect {
  readonly accountCount: number;
  readonly differing: number;
  /** The first of those that differ. */
  readonly first: readonly AccountRow[];
  readonly fields: PlanFieldEffect[];
  /** Another where the plan, or an account that differs, changed. */
  readonly etag: string;
}

/** Reads all accounts of the plan, page by page. */
async function effectOf({ ledger }: Pick<Parts, "ledger">, plan: Plan): Promise<Effect> {
  const counts = new Map<string, bigint>();
  const first: AccountRow[] = [];
  let [accountCount, differing, token] = [0, 0, ""];
  let print = hash(
    "sha256",
    JSON.stringify(plan, (_name, value: unknown) => textOf(value)),
  );
  do {
    const page = await ledger.accounts({ size: PAGE_SIZE, token }, { order: "id", plan: plan.id });
    for (const row of page.rows) {
      const own = ownSettings(row);
      const fields = differingSettings(own, copyOf(plan, own));
      for (const field of fields) counts.set(field, (counts.get(field) ?? 0n) + 1n);
      accountCount += 1;
      if (fields.length === 0) continue;
      differing += 1;
      print = hash("sha256", `${print} ${row.id} ${row.etag}`);
      if (first.length < CHANGES_MAX) first.push(row);
    }
    token = page.nextPageToken;
  } while (token !== "");
  const fields = PLAN_SETTINGS.flatMap((field) => {
    const count = counts.get(field);
    return count === undefined ? [] : [{ field, accountCount: count }];
  });
  return { accountCount, differing, first, fields, etag: print.slice(0, 16) };
}

function textOf(value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function ownSettings({ budgets, limits }: AccountRow): OwnSettings {
  return { ...budgets, ...limits };
}

function shownPlan(name: string, plan: Plan | undefined): AccountPlan {
  if (plan === undefined)
    return {
      name,
      gone: name !== "",
      account: undefined,
      contentAllowed: false,
      members: undefined,
      keys: undefined,
      keysExpireAfterDays: 0,
    };
  const { expiresAfterDays, ...keys } = plan.keys;
  const { isAllowed, ...content } = plan.content;
  return {
    name,
    gone: false,
    account: { ...copyOf(plan), content: { kept: false, ...content } },
    contentAllowed: isAllowed,
    members: { ...NO_SETTINGS, ...plan.members },
    keys: { ...NO_SETTINGS, ...keys },
    keysExpireAfterDays: expiresAfterDays,
  };
}

/** AccountService: the accounts that pay, and the ledger. */
import {
  AccountSettings,
  type AccountServiceService,
  type BalancePoint,
  type UpdateAccountRequest,
  type UpdateAccountResponse,
  type VerifyLedgerResponse,
} from "../../api/index.js";
import { GatewayError } from "../../base/errors.js";
import type { VerifyReport } from "../../store/store.js";
import { required } from "../../api/check.js";
import type { CoreParts } from "../call/core.js";
import { accountOf } from "./account-message.js";
import { entryOf } from "./entry.js";
import { accountsAsked, withAccountFigures, withAccountQuotas } from "./figures.js";
import type { Handlers, ServiceCall } from "../call/handler.js";
import { checkOwner, isOperator } from "../call/account-scope.js";
import { pageOf } from "./page.js";
import { PENDING } from "./pending.js";
import { periodOf } from "./period.js";
import { newSettings, planHandlers, planNamed, updateWithinPlan } from "./plan-handlers.js";

type Parts = Pick<
  CoreParts,
  "ledger" | "requestIds" | "keys" | "store" | "nowMs" | "limits" | "quotas" | "keyUses" | "alerts" | "plans"
>;

export function accountService(parts: Parts): Handlers<typeof AccountServiceService> {
  const { ledger, requestIds, keys, alerts } = parts;
  return {
    ...planHandlers(parts),
    async createAccount({ id, name, plan }, { act }) {
      const settings = plan === "" ? {} : newSettings(await planNamed(parts, plan));
      const account = { id: id === "" ? `acct_${requestIds()}` : id, name, plan, ...settings };
      return { account: accountOf(await ledger.createAccount(account, act)) };
    },
    async getAccount({ id }, { caller }) {
      checkOwner(caller, required("id", id), "account", id);
      const [account] = await withAccountFigures(parts, [accountOf(await ledger.account(id))]);
      return { account: account && (await withAccountQuotas(parts, account)) };
    },
    updateAccount: (request, call) => updateAccount(parts, request, call),
    async listAccounts(request, { caller }) {
      const asked = [pageOf(request), accountsAsked(request)] as const;
      const own = async () => ({ rows: [await ledger.account(caller.accountId)], nextPageToken: "" });
      const { rows, nextPageToken } = await (isOperator(caller) ? ledger.accounts(...asked) : own());
      return { accounts: await withAccountFigures(parts, rows.map(accountOf)), nextPageToken };
    },
    async creditAccount({ id, amountNanos, creditId, reason }, { caller, act }) {
      required("id", id);
      const note = reason === "" ? undefined : { reason, actor: caller.keyId };
      const { availableNanos, repeated } = await ledger.credit({ accountId: id, amountNanos, creditId, note, act });
      return { availableNanos, repeatedCredit: repeated };
    },
    async debitAccount({ id, amountNanos, debitId, reason }, { caller, act }) {
      const asked = { accountId: required("id", id), amountNanos, debitId, reason, actor: caller.keyId, act };
      const { debitedNanos, receivableNanos, availableNanos, repeated } = await ledger.corrections.debit(asked);
      return { debitedNanos, receivableNanos, availableNanos, repeatedDebit: repeated };
    },
    async freezeAccount({ id, reason, endStreams }, { caller, act, head }) {
      const freeze = { reason, endsStreams: endStreams, actor: caller.keyId };
      const account = await ledger.freeze(required("id", id), freeze, act);
      await keys.publishAccount(id);
      if (keys.isAccountPending(id) || ledger.leases.isPending(id)) head(PENDING);
      return { account: accountOf(account) };
    },
    async unfreezeAccount({ id }, { act, head }) {
      const account = await ledger.unfreeze(required("id", id), act);
      await keys.publishAccount(id);
      if (keys.isAccountPending(id)) head(PENDING);
      return { account: accountOf(account) };
    },
    async getBalance({ id }, { caller }) {
      checkOwner(caller, required("id", id), "account", id);
      return { ...(await ledger.balance(id)) };
    },
    async listEntries(request, { caller }) {
      const page = pageOf(request);
      checkOwner(caller, required("id", request.id), "account", request.id);
      const { rows, nextPageToken, archivedUntilMs } = await ledger.entries(request.id, page);
      return { entries: rows.map(entryOf), nextPageToken, archivedBefore: timeOf(archivedUntilMs) };
    },
    async getStatement(request, { caller }) {
      const page = pageOf(request);
      checkOwner(caller, required("id", request.id), "account", request.id);
      const found = await ledger.statement(request.id, periodOf(request), page);
      const { opening, closing, nextPageToken, archivedUntilMs } = found;
      const entries = found.entries.map((row) => ({ entry: entryOf(row), balance: pointOf(row) }));
      const ends = { opening: pointOf(opening), closing: pointOf(closing) };
      return { ...ends, entries, nextPageToken, archivedBefore: timeOf(archivedUntilMs) };
    },
    verifyLedger: async () => verified(await ledger.verify(), alerts),
  };
}

async function updateAccount(
  parts: Parts,
  { id, settings, updateMask = [], etag }: UpdateAccountRequest,
  { caller, act, head }: ServiceCall,
): Promise<UpdateAccountResponse> {
  const { ledger, keys } = parts;
  checkOwner(caller, required("id", id), "account", id);
  const changed = maskedSettings(settings, updateMask);
  const account = isOperator(caller)
    ? await ledger.setSettings(id, changed, act, etag)
    : await updateWithinPlan(parts, { id, changed, etag, caller, act });
  await keys.publishAccount(id);
  if (keys.isAccountPending(id) || ledger.leases.isPending(id)) head(PENDING);
  return { account: accountOf(account) };
}

async function verified(report: VerifyReport, alerts: CoreParts["alerts"]): Promise<VerifyLedgerResponse> {
  await alerts.proved(report);
  return {
    holds: report.holds,
    problems: [...report.problems],
    accountCount: BigInt(report.accountCount),
    transferCount: BigInt(report.transferCount),
    openHoldCount: BigInt(report.openHoldCount),
    auditEventCount: BigInt(report.auditEventCount),
    archivedTransferCount: BigInt(report.archivedTransferCount),
    archivedBefore: timeOf(report.archivedUntilMs),
  };
}

function timeOf(timeMs: number | undefined): Date | undefined {
  return timeMs === undefined ? undefined : new Date(timeMs);
}

const FIELDS = {
  budget_day_nanos: "budgetDayNanos",
  budget_week_nanos: "budgetWeekNanos",
  budget_month_nanos: "budgetMonthNanos",
  budget_quarter_nanos: "budgetQuarterNanos",
  budget_total_nanos: "budgetTotalNanos",
  request_cost_max_nanos: "requestCostMaxNanos",
  requests_per_minute: "requestsPerMinute",
  tokens_per_minute: "tokensPerMinute",
  concurrency: "concurrency",
  model_limits: "modelLimits",
  content: "content",
  demands: "demands",
  credit_line: "creditLine",
  quotas: "quotas",
} as const satisfies Record<string, keyof AccountSettings>;

/** Without a mask nothing is changed: to guess it from what is not zero could never turn a setting off. */
function maskedSettings(settings: AccountSettings | undefined, mask: readonly string[]): Partial<AccountSettings> {
  if (mask.length === 0) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "update_mask" });
  const known = new Map<string, keyof AccountSettings>(Object.entries(FIELDS));
  const given = settings ?? AccountSettings.decode(new Uint8Array());
  const changed: Partial<AccountSettings> = {};
  for (const name of mask) {
    const field = known.get(name);
    if (field === undefined) {
      const problem = `each must be one of ${[...known.keys()].join(", ")}`;
      throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "update_mask", problem });
    }
    take(field, given, changed);
  }
  return changed;
}

function take<Field extends keyof AccountSettings>(
  field: Field,
  from: AccountSettings,
  to: Partial<AccountSettings>,
): void {
  to[field] = from[field];
}

function pointOf({ availableNanos, heldNanos }: BalancePoint): BalancePoint {
  return { availableNanos, heldNanos };
}

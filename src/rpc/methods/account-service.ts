/** AccountService: the accounts that pay, and the ledger. */
import {
  type Account,
  AccountSettings,
  type AccountServiceService,
  type BalancePoint,
  type Freeze,
  type VerifyLedgerResponse,
} from "../../api/index.js";
import { GatewayError } from "../../base/errors.js";
import type { AccountRow, VerifyReport } from "../../store/store.js";
import { required } from "../../api/check.js";
import type { CoreParts } from "../call/core.js";
import { entryOf } from "./entry.js";
import { accountsAsked, withAccountFigures } from "./figures.js";
import type { Handlers } from "../call/handler.js";
import { checkOwner, isOperator } from "../call/account-scope.js";
import { pageOf } from "./page.js";
import { PENDING } from "./pending.js";
import { periodOf } from "./period.js";

type Parts = Pick<CoreParts, "ledger" | "requestIds" | "keys" | "store" | "nowMs" | "limits" | "keyUses" | "alerts">;

export function accountService(parts: Parts): Handlers<typeof AccountServiceService> {
  const { ledger, requestIds, keys, alerts } = parts;
  return {
    async createAccount({ id, name }, { act }) {
      const account = await ledger.createAccount({ id: id === "" ? `acct_${requestIds()}` : id, name }, act);
      return { account: accountOf(account) };
    },
    async getAccount({ id }, { caller }) {
      checkOwner(caller, required("id", id), "account", id);
      const [account] = await withAccountFigures(parts, [accountOf(await ledger.account(id))]);
      return { account };
    },
    async updateAccount({ id, settings, updateMask = [], etag }, { act, head }) {
      const account = await ledger.setSettings(required("id", id), maskedSettings(settings, updateMask), act, etag);
      await keys.publishAccount(id);
      if (keys.isAccountPending(id) || ledger.leases.isPending(id)) head(PENDING);
      return { account: accountOf(account) };
    },
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

function accountOf(row: AccountRow): Account {
  const { id, name, createTimeMs, budgets, limits, freeze, etag } = row;
  const settings = { ...budgets, ...limits, modelLimits: [...limits.modelLimits] };
  return { id, name, createTime: new Date(createTimeMs), settings, freeze: freezeOf(freeze), etag };
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

function freezeOf(freeze: AccountRow["freeze"]): Freeze | undefined {
  if (freeze === null) return undefined;
  const { timeMs, reason, actor, endsStreams } = freeze;
  return { time: new Date(timeMs), reason, actor, endStreams: endsStreams };
}

const FIELDS = {
  budget_day_nanos: "budgetDayNanos",
  budget_month_nanos: "budgetMonthNanos",
  budget_total_nanos: "budgetTotalNanos",
  request_cost_max_nanos: "requestCostMaxNanos",
  requests_per_minute: "requestsPerMinute",
  tokens_per_minute: "tokensPerMinute",
  concurrency: "concurrency",
  model_limits: "modelLimits",
  content: "content",
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

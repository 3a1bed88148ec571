/** The methods of IdentityService about what a member may spend, and about ending a member's sessions. */
import { invalid, required, requireEtag } from "../../api/check.js";
import { type GetMemberLimitsResponse, type IdentityServiceService, type Key, KeySettings } from "../../api/index.js";
import { FIRST_ETAG } from "../../keys/key-caller.js";
import { requireMemberWithin } from "../../plans/plan.js";
import { hiddenKey, type HiddenKeyParts, planOf } from "../call/callers.js";
import type { Handlers } from "../call/handler.js";
import { checkOwner, isOperator } from "../call/account-scope.js";

type LimitMethods = Pick<
  Handlers<typeof IdentityServiceService>,
  "endMemberSessions" | "getMemberLimits" | "updateMemberLimits"
>;

/** The settings of a key that are limits, by their names in a mask. */
const LIMITS: ReadonlySet<string> = new Set([
  "requests_per_minute",
  "tokens_per_minute",
  "concurrency",
  "budget_day",
  "budget_week",
  "budget_month",
  "budget_quarter",
  "budget_total",
  "request_cost_max",
  "budget_day_nanos",
  "budget_week_nanos",
  "budget_month_nanos",
  "budget_quarter_nanos",
  "budget_total_nanos",
  "request_cost_max_nanos",
  "quotas",
]);

const NO_SETTINGS = KeySettings.decode(new Uint8Array());

export function limitHandlers(parts: HiddenKeyParts): LimitMethods {
  const { members } = parts.identity;
  return {
    async endMemberSessions({ accountId, userId }, { caller, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      await members.requireMayChange(accountId, required("user_id", userId), caller);
      await members.endSessions(userId, act, accountId);
      return {};
    },
    async getMemberLimits({ accountId, userId }, { caller }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      await members.requireMember(accountId, required("user_id", userId));
      const keyId = await parts.identity.playgroundKey(userId, accountId, "");
      if (keyId !== "") return limitsOf(await parts.keys.get(keyId));
      const settings = { ...NO_SETTINGS, ...(await planOf(parts, accountId))?.members };
      return limitsOf({ settings, etag: FIRST_ETAG });
    },
    async updateMemberLimits({ accountId, userId, settings, updateMask = [], etag }, { caller, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      await members.requireMayChange(accountId, required("user_id", userId), caller);
      const other = updateMask.find((name) => !LIMITS.has(name));
      if (other !== undefined) throw invalid("update_mask", `must name limits and budgets alone, and not ${other}`);
      const plan = isOperator(caller) ? undefined : await planOf(parts, accountId);
      const keyId = await hiddenKey(parts, accountId, { id: userId });
      const permit = (key: Key, changed: KeySettings): void => {
        if (plan !== undefined) requireMemberWithin(plan, key.settings, changed);
        // The key's own check would name the key, whose id is nobody's business.
        requireEtag(etag, key.etag, "member", userId);
      };
      return limitsOf(await parts.keys.update(keyId, settings, updateMask, { act, permit }));
    },
  };
}

/** Of a hidden key nothing else is anybody's business. One that was not made yet is as it will be when it is. */
function limitsOf({ settings = NO_SETTINGS, etag }: Pick<Key, "settings" | "etag">): GetMemberLimitsResponse {
  const { requestsPerMinute, tokensPerMinute, concurrency, quotas } = settings;
  const { budgetDayNanos, budgetMonthNanos, budgetTotalNanos, requestCostMaxNanos } = settings;
  const { budgetWeekNanos, budgetQuarterNanos } = settings;
  const wide = { budgetWeekNanos, budgetQuarterNanos };
  const budgets = { budgetDayNanos, budgetMonthNanos, budgetTotalNanos, requestCostMaxNanos, ...wide };
  return { settings: { ...NO_SETTINGS, requestsPerMinute, tokensPerMinute, concurrency, ...budgets, quotas }, etag };
}

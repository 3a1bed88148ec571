/** The plans of a settings file's accounts: which are missing, and what an account gets that the file leaves out. */
import type { ModelLimits } from "../api/index.js";
import { defined } from "../base/defined.js";
import type { LateProblem } from "../config/file.js";
import type { AccountSeed, PlanSettings, Settings } from "../config/settings.js";
import { suggest } from "../config/suggestion.js";
import { GatewayError } from "../base/errors.js";
import type { SeededAccount } from "../ledger/accounts.js";
import type { Ledger } from "../ledger/ledger.js";
import { copyOf, type OwnSettings } from "../plans/plan.js";
import type { AccountRow } from "../store/store.js";

export type PlansByName = ReadonlyMap<string, PlanSettings>;

export function plansByName({ plans }: Pick<Settings, "plans">): PlansByName {
  return new Map(plans.map((plan) => [plan.id, plan]));
}

/**
 * An account does not get a plan that is not there: it would have no limits. An account that has the plan, or that the
 * file does not change, stays as it is.
 */
export async function planProblems(
  { accounts, plans: present, manage }: Pick<Settings, "accounts" | "plans" | "manage">,
  ledger: Pick<Ledger, "account">,
): Promise<LateProblem[]> {
  const plans = plansByName({ plans: present });
  const missing = accounts.filter(({ plan }) => plan !== "" && !plans.has(plan));
  const found = await Promise.all(missing.map(({ id }) => accountOrNone(ledger, id)));
  const needsNone = (account: AccountRow | undefined, plan: string): boolean =>
    account !== undefined && (!manage || account.plan === plan);
  return missing.flatMap(({ id, plan }, index) =>
    needsNone(found[index], plan)
      ? []
      : [{ path: ["accounts", id, "plan"], rule: `must name a plan; "${plan}" is none${suggest(plan, plans.keys())}` }],
  );
}

/** The account; undefined where there is none. */
export async function accountOrNone(ledger: Pick<Ledger, "account">, id: string): Promise<AccountRow | undefined> {
  try {
    return await ledger.account(id);
  } catch (error) {
    if (GatewayError.from(error).reason === "ERROR_REASON_RESOURCE_UNKNOWN") return undefined;
    throw error;
  }
}

/** The account with its plan's values where it says none. `own`: what it has now. */
export function withPlan(seed: AccountSeed, plans: PlansByName, own?: OwnSettings): SeededAccount {
  const plan = plans.get(seed.plan);
  if (plan === undefined) return seed;
  const { budgets, limits } = seed;
  const copied = copyOf(plan, own);
  const modelLimits = withOwnModels(limits.modelLimits, copied.modelLimits);
  return {
    ...seed,
    budgets: { ...plan.budgets, ...saidNumbers(budgets) },
    limits: {
      ...plan.limits,
      ...saidNumbers(limits),
      modelLimits,
      content: copied.content,
      ...defined({ demands: limits.demands }),
      creditLine: limits.creditLine ?? copied.creditLine,
      quotas: limits.quotas ?? copied.quotas,
    },
  };
}

/** The limits of models that a file says, and the others that the account has. */
export function withOwnModels(said: readonly ModelLimits[], others: readonly ModelLimits[]): ModelLimits[] {
  const named = new Set(said.map(({ model }) => model));
  return [...said, ...others.filter(({ model }) => !named.has(model))];
}

/** The numbers that a block says itself: zero says nothing. */
export function saidNumbers(values: object): Readonly<Record<string, bigint>> {
  return Object.fromEntries(Object.entries(values).filter(([, one]) => typeof one === "bigint" && one > 0n));
}

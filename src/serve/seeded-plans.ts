/** The plans of a settings file's accounts: which are missing, and what an account gets that the file leaves out. */
import type { LateProblem } from "../config/file.js";
import type { AccountSeed, PlanSettings, Settings } from "../config/settings.js";
import { suggest } from "../config/suggestion.js";
import { GatewayError } from "../base/errors.js";
import type { SeededAccount } from "../ledger/accounts.js";
import type { Ledger } from "../ledger/ledger.js";
import { copyOf } from "../plans/plan.js";

export type PlansByName = ReadonlyMap<string, PlanSettings>;

export function plansByName({ plans }: Pick<Settings, "plans">): PlansByName {
  return new Map(plans.map((plan) => [plan.id, plan]));
}

/**
 * A new account is not made without the plan that the file names: it would have no limits. An account that exists
 * stays as it is, whether its plan is there or not.
 */
export async function planProblems(
  { accounts, plans: present }: Pick<Settings, "accounts" | "plans">,
  ledger: Pick<Ledger, "account">,
): Promise<LateProblem[]> {
  const plans = plansByName({ plans: present });
  const missing = accounts.filter(({ plan }) => plan !== "" && !plans.has(plan));
  const found = await Promise.all(missing.map(({ id }) => exists(id, ledger)));
  return missing.flatMap(({ id, plan }, index) =>
    found[index] === true
      ? []
      : [{ path: ["accounts", id, "plan"], rule: `must name a plan; "${plan}" is none${suggest(plan, plans.keys())}` }],
  );
}

async function exists(id: string, ledger: Pick<Ledger, "account">): Promise<boolean> {
  try {
    await ledger.account(id);
    return true;
  } catch (error) {
    if (GatewayError.from(error).reason === "ERROR_REASON_RESOURCE_UNKNOWN") return false;
    throw error;
  }
}

/** The account with its plan's values where it says none. */
export function withPlan(seed: AccountSeed, plans: PlansByName): SeededAccount {
  const plan = plans.get(seed.plan);
  if (plan === undefined) return seed;
  const { budgets, limits } = seed;
  const copied = copyOf(plan);
  const own = new Set(limits.modelLimits.map(({ model }) => model));
  const modelLimits = [...limits.modelLimits, ...copied.modelLimits.filter(({ model }) => !own.has(model))];
  return {
    ...seed,
    budgets: { ...plan.budgets, ...saidNumbers(budgets) },
    limits: { ...plan.limits, ...saidNumbers(limits), modelLimits, content: copied.content },
  };
}

/** The numbers that a block says itself: zero says nothing. */
export function saidNumbers(values: object): Readonly<Record<string, bigint>> {
  return Object.fromEntries(Object.entries(values).filter(([, one]) => typeof one === "bigint" && one > 0n));
}

/** Whether a person may change the limits and the content storage of an account. */
import type { AccountPlan } from "../../gen/console/account_service.js";
import { useSignedIn } from "../shell/session.ts";

/** Operators may; owners and admins where a plan says how far. */
export function useMayChange(plan: AccountPlan | undefined): boolean {
  const { isOperator, isManager } = useSignedIn();
  return isOperator || (isManager && plan !== undefined && plan.name !== "" && !plan.gone);
}

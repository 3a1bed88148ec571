/** The etag of an account: what tells one change of its settings or its freeze from another. */
import { hash } from "node:crypto";
import { AccountSettings } from "../../gen/tollgate/v1/account_service.js";
import type { AccountRow } from "./store.js";

/** The account with its etag, which is made of what may change, so that no row has to keep it. */
export function withEtag(account: Omit<AccountRow, "etag">): AccountRow {
  const { budgets, limits, plan, freeze } = account;
  const { modelLimits, content, demands } = limits;
  const settings = { ...budgets, ...limits, modelLimits: [...modelLimits], content, demands };
  const bytes = Buffer.from(AccountSettings.encode(settings).finish());
  const named = plan === "" ? "" : ` ${plan}`;
  const etag = hash("sha256", `${bytes.toString("base64")} ${JSON.stringify(freeze)}${named}`).slice(0, 16);
  return { ...account, etag };
}

/** AlertService: the rules by which the gateway tells of what happens. */
import type { AlertServiceService } from "../../api/index.js";
import type { Alerts } from "../../alerts/alerts.js";
import type { AlertRow } from "../../alerts/rows.js";
import type { Caller } from "../../keys/caller.js";
import { required, unknown } from "../../api/check.js";
import { alertOf } from "./event-messages.js";
import type { Handlers } from "../call/handler.js";
import { accountFilter, checkOwner, isOperator } from "../call/account-scope.js";
import { pageOf } from "./page.js";

export function alertService({ rules }: Pick<Alerts, "rules">): Handlers<typeof AlertServiceService> {
  const found = async (caller: Caller, id: string): Promise<AlertRow> => {
    const alert = await rules.find(required("id", id));
    if (alert === undefined) throw unknown("alert", id);
    checkOwner(caller, alert.accountId, "alert", id);
    return alert;
  };
  return {
    async createAlert({ accountId, settings }, { caller, act }) {
      return { alert: alertOf(await rules.create(ownerOf(caller, accountId), settings, act), []) };
    },
    async getAlert({ id }, { caller }) {
      const alert = await found(caller, id);
      return { alert: alertOf(alert, await rules.firing(id)) };
    },
    async listAlerts(request, { caller }) {
      const page = pageOf(request);
      const { rows, nextPageToken } = await rules.list(accountFilter(caller, request.accountId), page);
      const alerts = await Promise.all(rows.map(async (row) => alertOf(row, await rules.firing(row.id))));
      return { alerts, nextPageToken };
    },
    async updateAlert({ id, settings, updateMask = [], etag }, { caller, act }) {
      const alert = await rules.update(await found(caller, id), settings, updateMask, { act, etag });
      return { alert: alertOf(alert, await rules.firing(id)) };
    },
    async deleteAlert({ id }, { caller, act }) {
      await rules.delete(await found(caller, id), act);
      return {};
    },
  };
}

/** Whose what a caller makes is: an account's, or the operator's. */
export function ownerOf(caller: Caller, accountId: string): string {
  if (accountId === "") return isOperator(caller) ? "" : caller.accountId;
  checkOwner(caller, accountId, "account", accountId);
  return accountId;
}

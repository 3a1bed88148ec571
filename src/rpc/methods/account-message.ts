/** An account as the protocol shows it. */
import type { Account, Freeze } from "../../api/index.js";
import type { AccountRow } from "../../store/store.js";

export function accountOf(row: AccountRow): Account {
  const { id, name, createTimeMs, budgets, limits, plan, freeze, etag, fileState } = row;
  const settings = { ...budgets, ...limits, modelLimits: [...limits.modelLimits] };
  const managed = fileState !== "";
  return { id, name, createTime: new Date(createTimeMs), settings, plan, freeze: freezeOf(freeze), etag, managed };
}

function freezeOf(freeze: AccountRow["freeze"]): Freeze | undefined {
  if (freeze === null) return undefined;
  const { timeMs, reason, actor, endsStreams } = freeze;
  return { time: new Date(timeMs), reason, actor, endStreams: endsStreams };
}

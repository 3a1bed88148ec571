/** Lists of accounts: filtered, in an order, page by page. */
import type { AccountColumns } from "./columns.js";

export type AccountOrder = "id" | "available" | "spent" | "newest";

/** Absent parts narrow nothing. */
export interface AccountFilter {
  readonly isFrozen?: boolean | undefined;
  /** In the id or the name, in any case of its letters A to Z. */
  readonly text?: string | undefined;
  /** The name of their plan. */
  readonly plan?: string | undefined;
  /** True: those that a settings file manages, and those that it disabled. */
  readonly isOfFile?: true | undefined;
  /** True: those that a credit line granted money to. */
  readonly hasLine?: true | undefined;
  readonly order: AccountOrder;
}

/** The last account of the page before: what it was ordered by, and its id. */
export type AccountCursor = readonly [order: string, value: string, id: string];

export type ListedAccount = AccountColumns & { readonly sort_value: bigint };

/** The least value comes first. What is available is without what leases hold: it decides the order alone. */
const SORTS: Readonly<Record<AccountOrder, string>> = {
  id: "CAST(0 AS bigint)",
  available: "credits_posted - debits_posted - debits_pending",
  spent: "debited_nanos - debits_posted",
  newest: "-create_time_ms",
};

export interface AccountQuery {
  readonly text: string;
  readonly values: Readonly<Record<string, string | number | bigint>>;
}

export function accountQuery(filter: AccountFilter, count: number, after: AccountCursor | undefined): AccountQuery {
  const sort = SORTS[filter.order];
  const values: Record<string, string | number | bigint> = { count };
  const conditions = ["1 = 1"];
  if (filter.isFrozen !== undefined) conditions.push(`frozen_time_ms IS ${filter.isFrozen ? "NOT " : ""}NULL`);
  if (filter.text !== undefined) {
    values["text"] = `%${filter.text.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`;
    conditions.push("(lower(id) LIKE :text ESCAPE '\\' OR lower(name) LIKE :text ESCAPE '\\')");
  }
  if (filter.plan !== undefined) {
    values["plan"] = filter.plan;
    // The second condition is that of the index.
    conditions.push("(plan = :plan AND plan <> '')");
  }
  if (filter.isOfFile) conditions.push("file_state <> ''");
  if (filter.hasLine) conditions.push("line_start_day <> ''");
  if (after !== undefined) {
    const [, value, id] = after;
    Object.assign(values, { value: BigInt(value), id });
    conditions.push(`(${sort} > :value OR (${sort} = :value AND id > :id))`);
  }
  const text = `SELECT *, ${sort} AS sort_value FROM account WHERE ${conditions.join(" AND ")}
    ORDER BY sort_value, id LIMIT :count`;
  return { text, values };
}

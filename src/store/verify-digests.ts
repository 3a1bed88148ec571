/** The check of rows that change: each carries a digest of itself, so that one with a changed byte is named. */
import { type DigestedValue, digestOf } from "./digest.js";
import { TOKEN_COLUMNS } from "./token-columns.js";

const ACCOUNT = ["id", "name", "create_time_ms", "budget_day_nanos", "budget_month_nanos", "budget_total_nanos"];
ACCOUNT.push("request_cost_max_nanos");
const FREEZE = ["frozen_time_ms", "freeze_reason", "freeze_actor", "freeze_ends_streams"];
const LIMITS = ["requests_per_minute", "tokens_per_minute", "concurrency", "model_limits"];
const CHECKPOINT = ["hold_sequence", "cost_nanos", "upstream", "attempts", ...TOKEN_COLUMNS];
const KEY = ["id", "account_id", "settings", "digest", "previous_digest", "previous_until_ms", "hint"];
KEY.push("create_time_ms", "revoke_time_ms", "revision");

export const ARCHIVE_VALUES = ["number", "month", "until_ms", "transfer_count", "manifest_hash", "create_time_ms"];
const ARCHIVED = ["account_id", "account_sequence", "sequence", "hash", "transfer_count"];
export const ARCHIVE_ACCOUNT_VALUES = [...ARCHIVED, "available_nanos", "held_nanos"];

/** Who made a key in the console; the word before stands in the digest, and in no column. */
const USER = ["maker_kind", "maker_user_id"];

/** A kind of row: what it is called, what names one, where its digest is, and its values in the order of the digest. */
export interface DigestedRows {
  readonly what: string;
  readonly name: string;
  readonly digest: string;
  readonly values: readonly string[];
  readonly sql: string;
}

/** Rows that have, or have not, a part are digested with, or without it. */
function rows(what: string, from: string, digest: string, values: readonly string[]): DigestedRows {
  const [name = ""] = values;
  return { what, name, digest, values, sql: `SELECT ${[...new Set([...values, digest])].join(", ")} FROM ${from}` };
}

function accounts(freeze: readonly string[], limits: readonly string[]): DigestedRows {
  const isFrozen = `frozen_time_ms IS ${freeze.length === 0 ? "" : "NOT "}NULL`;
  const counts = "requests_per_minute + tokens_per_minute + concurrency";
  const isLimited =
    limits.length === 0 ? `${counts} = 0 AND length(model_limits) = 0` : `(${counts} > 0 OR length(model_limits) > 0)`;
  return rows("account", `account WHERE ${isFrozen} AND ${isLimited}`, "digest", [...ACCOUNT, ...freeze, ...limits]);
}

function checkpoints(condition: string, known: readonly string[]): DigestedRows {
  return rows("checkpoint of the hold", `checkpoint WHERE ${condition}`, "digest", [...CHECKPOINT, ...known]);
}

function keys(maker: readonly string[], user: readonly string[]): DigestedRows {
  const isMade = `maker_id IS ${maker.length === 0 ? "" : "NOT "}NULL`;
  const byUser = `maker_user_id IS ${user.length === 0 ? "" : "NOT "}NULL`;
  const from = `(SELECT *, 'user' AS maker_kind FROM key) AS made WHERE ${isMade} AND ${byUser}`;
  return rows("key", from, "row_digest", [...KEY, ...maker, ...user]);
}

export const DIGESTED: readonly DigestedRows[] = [
  ...[[], FREEZE].flatMap((freeze) => [[], LIMITS].map((limits) => accounts(freeze, limits))),
  checkpoints("meters IS NULL AND operator_cost_nanos IS NULL", []),
  checkpoints("meters IS NULL AND operator_cost_nanos IS NOT NULL", ["operator_cost_nanos"]),
  checkpoints("meters IS NOT NULL", ["operator_cost_nanos", "meters"]),
  ...[[], ["maker_id"]].flatMap((maker) => [[], USER].map((user) => keys(maker, user))),
  rows("archive", "archive", "digest", ARCHIVE_VALUES),
  rows("archive of the account", "archive_account", "digest", ARCHIVE_ACCOUNT_VALUES),
  rows("accepted loss", "accepted_loss", "digest", ["number", "accept_time_ms", "sequence", "found"]),
];

/** A sentence where the row was changed. */
export function changedRow(
  { what, name, digest, values }: DigestedRows,
  row: Readonly<Record<string, DigestedValue>>,
): string | undefined {
  const said = row[digest];
  const told = values.map((column) => row[column] ?? null);
  if (said instanceof Uint8Array && Buffer.compare(said, digestOf(...told)) === 0) return undefined;
  return `The ${what} ${String(row[name])} was changed: its digest does not fit it.`;
}

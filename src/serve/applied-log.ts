/** What the log says of the accounts and keys of a settings file that came into force. */
import type { Settings } from "../config/settings.js";
import type { Log } from "../observe/log.js";
import type { Applied } from "./seeds.js";
import { soldAt, type SoldModel } from "./sold-models.js";

/** So many prices stand in a line of the log; 'tollgate models' lists all. */
const PRICES_LOGGED_MAX = 100;

/** A file that was applied: what it says, and its keys. */
export interface AppliedFile {
  readonly settings: Pick<Settings, "accounts" | "manage">;
  readonly keyIds: Applied["keyIds"];
}

export function logApplied(log: Log, path: string | undefined, applied: Applied, left: readonly string[]): void {
  const { differences, changed } = applied;
  if (changed.length > 0) log.info({ path, changed }, "the settings file changed accounts and keys");
  for (const difference of differences)
    log.warn({ path, difference }, "the file creates accounts and keys once; this difference is ignored");
  for (const one of left) log.warn({ path, left: one }, "removed from the file, but still exists");
}

/** What one file named and the next does not. Only a file that manages its rows takes anything away. */
export function leftOut(before: AppliedFile, after: AppliedFile): string[] {
  if (after.settings.manage) return [];
  const kept = new Set([...after.settings.accounts.map(({ id }) => id), ...after.keyIds]);
  const accounts = before.settings.accounts.filter(({ id }) => !kept.has(id));
  const keys = before.keyIds.filter((id) => !kept.has(id));
  return [
    ...accounts.map(({ id }) => `the account ${id}; stop it with 'tollgate account freeze ${id}'`),
    ...keys.map((id) => `the key ${id}; end it with 'tollgate key revoke ${id}'`),
  ];
}

/** Logs what models are sold at, and which target costs more than that. */
export function logPrices(log: Log, sold: readonly SoldModel[]): void {
  const prices = sold.slice(0, PRICES_LOGGED_MAX).map((model) => `${model.id}: ${soldAt(model)}`);
  if (sold.length > 0) log.info({ prices, models: sold.length }, "model prices, in USD per million tokens");
  for (const loss of sold.flatMap(({ losses }) => losses)) log.warn({}, loss);
}

/** What a settings file that manages its accounts and keys changes of those that exist. */
import { isDeepStrictEqual } from "node:util";
import type { Act } from "../audit/act.js";
import type { AccountSeed, Settings } from "../config/settings.js";
import { managedKey, releasedKey, removedKey, type SeededKey } from "../keys/file-keys.js";
import { keyEvent } from "../keys/key-event.js";
import type { Keys } from "../keys/keys.js";
import type { KeysAndEdits } from "../ledger/accounts.js";
import type { Ledger } from "../ledger/ledger.js";
import { differingSettings } from "../plans/plan.js";
import type { AccountChange, AccountRow, KeyRow, Page, PageRequest } from "../store/store.js";
import { accountOrNone, type PlansByName, saidNumbers, withOwnModels, withPlan } from "./seeded-plans.js";

const PAGE_SIZE = 1_000;
/** The actor of a freeze that a file made, in the place of a key's id: a file that names the account again ends it. */
const FILE_ACTOR = "file";
const REMOVED = "removed from the settings file";

export interface EditedParts {
  readonly keys: Pick<Keys, "rowsOfFile">;
  readonly ledger: Pick<Ledger, "account" | "accounts">;
}

/** What is there when a file is applied. */
interface Present {
  readonly plans: PlansByName;
  /** For each key of the file, in its order. */
  readonly keys: readonly SeededKey[];
}

type Edits = Pick<KeysAndEdits, "accountEdits" | "keyEdits">;

/**
 * A file with `manage: true` changes the rows that it names, and disables those that it named before. Any other file
 * changes nothing but that it no longer manages what it names.
 */
export async function fileEdits(parts: EditedParts, settings: Settings, present: Present, act: Act): Promise<Edits> {
  const { keys, ledger } = parts;
  const accounts = await everyRow((page) => ledger.accounts(page, { isOfFile: true, order: "id" }));
  const keyRows = await everyRow((page) => keys.rowsOfFile(page));
  return {
    accountEdits: await accountEdits(ledger, settings, { plans: present.plans, ofFile: accounts }, act),
    keyEdits: keyEdits(settings, present.keys, keyRows, act),
  };
}

async function accountEdits(
  ledger: EditedParts["ledger"],
  { manage, accounts }: Settings,
  { plans, ofFile }: { readonly plans: PlansByName; readonly ofFile: readonly AccountRow[] },
  act: Act,
): Promise<Edits["accountEdits"]> {
  const rows = new Map(ofFile.map((row) => [row.id, row]));
  const named = await Promise.all(
    accounts.map(async (seed) => {
      const row = rows.get(seed.id) ?? (manage ? await accountOrNone(ledger, seed.id) : undefined);
      rows.delete(seed.id);
      return row && { row, change: manage ? managedChange(seed, row, plans) : releasedChange(row) };
    }),
  );
  const removed = manage ? [...rows.values()].map((row) => ({ row, change: removedChange(row, act.timeMs) })) : [];
  const edits = [...named, ...removed].flatMap((edit) =>
    edit?.change === undefined ? [] : [{ id: edit.row.id, change: edit.change, etag: edit.row.etag }],
  );
  // As the ledger locks accounts.
  return edits.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** Undefined where the account is as the file has it. */
function managedChange(seed: AccountSeed, row: AccountRow, plans: PlansByName): AccountChange | undefined {
  const settings = settingsOf(seed, row, plans);
  const freeze = row.freeze?.actor === FILE_ACTOR ? null : row.freeze;
  const { name, plan } = seed;
  const own = { name, plan, fileState: "managed", freeze } as const;
  const current = { ...row.budgets, ...row.limits };
  const isSame =
    isDeepStrictEqual(own, { name: row.name, plan: row.plan, fileState: row.fileState, freeze: row.freeze }) &&
    differingSettings(current, { ...current, ...settings }).length === 0;
  return isSame ? undefined : { ...settings, ...own };
}

/**
 * The budgets and limits of the account by the file. Of a plan, the account keeps what was copied when it got the plan,
 * where the file itself says nothing.
 */
function settingsOf(seed: AccountSeed, row: AccountRow, plans: PlansByName): AccountChange {
  const { plan, budgets, limits } = seed;
  if (plan === "") return { ...budgets, ...limits, creditLine: limits.creditLine, quotas: limits.quotas };
  if (plan !== row.plan) {
    const copied = withPlan(seed, plans, { ...row.budgets, ...row.limits });
    return { ...copied.budgets, ...copied.limits };
  }
  const modelLimits = withOwnModels(limits.modelLimits, row.limits.modelLimits);
  const demands = limits.demands ?? row.limits.demands;
  const creditLine = limits.creditLine ?? row.limits.creditLine;
  const quotas = limits.quotas ?? row.limits.quotas;
  const said = { ...saidNumbers(budgets), ...saidNumbers(limits), modelLimits, demands, creditLine, quotas };
  return { ...row.budgets, ...row.limits, ...said };
}

function releasedChange({ fileState }: AccountRow): AccountChange | undefined {
  return fileState === "managed" ? { fileState: "" } : undefined;
}

/** An account whose freeze an operator ended is frozen again: the file still does not name it. */
function removedChange({ fileState, freeze }: AccountRow, nowMs: number): AccountChange | undefined {
  if (fileState === "removed" && freeze !== null) return undefined;
  const timeMs = Math.floor(nowMs);
  return { fileState: "removed", freeze: freeze ?? { timeMs, reason: REMOVED, actor: FILE_ACTOR, endsStreams: false } };
}

function keyEdits(
  { manage, keys: seeds }: Settings,
  seeded: readonly SeededKey[],
  ofFile: readonly KeyRow[],
  act: Act,
): Edits["keyEdits"] {
  const named = seeded.flatMap(({ found }, index): { readonly row: KeyRow; readonly after: KeyRow }[] => {
    const seed = seeds[index];
    // A key of another account stays one.
    if (found === undefined || seed === undefined || found.accountId !== seed.accountId) return [];
    // A rotated key is found by both of its secrets: the first one in the file decides.
    if (seeded.findIndex((one) => one.found?.id === found.id) !== index) return [];
    return [{ row: found, after: manage ? managedKey(found, seed.settings) : releasedKey(found) }];
  });
  const ids = new Set(seeded.map(({ found }) => found?.id));
  const gone = manage ? ofFile.filter(({ id }) => !ids.has(id)) : [];
  const removed = gone.map((row) => ({ row, after: removedKey(row, Math.floor(act.timeMs)) }));
  return [...named, ...removed]
    .filter(({ row, after }) => after !== row)
    .map(({ row, after }) => ({ row: after, event: keyEvent(act, row, after) }));
}

async function everyRow<Row>(list: (page: PageRequest) => Promise<Page<Row>>): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let token = ""; ;) {
    const page = await list({ size: PAGE_SIZE, token });
    rows.push(...page.rows);
    if (page.nextPageToken === "") return rows;
    token = page.nextPageToken;
  }
}

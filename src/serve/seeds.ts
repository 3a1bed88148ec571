/**
 * What a first start makes: the operator's key, the settings' seeds, and a demonstration account where one is asked
 * for.
 */
import { OPERATOR_ACCOUNT_ID } from "../alerts/money-readings.js";
import { isDeepStrictEqual } from "node:util";
import type { Key, KeySettings } from "../api/index.js";
import type { AccountSeed, KeySeed, Settings } from "../config/settings.js";
import { type Act, gatewayAct } from "../audit/act.js";
import { GatewayError } from "../base/errors.js";
import { keyEvent } from "../keys/key-event.js";
import { keyOf } from "../keys/key-caller.js";
import { snakeCase } from "../api/field-name.js";
import { DEFAULT_SCOPES, emptySettings, newSettings } from "../keys/key-settings.js";
import type { Keys } from "../keys/keys.js";
import type { CreditRequest } from "../ledger/corrections.js";
import type { Ledger, NewAccount } from "../ledger/ledger.js";
import { formatUsd, NANOS_PER_USD } from "../base/money.js";
import type { AccountRow } from "../store/store.js";
import { fileEdits } from "./file-edits.js";
import { plansByName, saidNumbers, withPlan } from "./seeded-plans.js";

const OPERATOR = OPERATOR_ACCOUNT_ID;
const DEMO = "demo";
/** A file is applied so often against other changes of the same accounts and keys. */
const TRIES_MAX = 8;
const DEMO_CREDIT_NANOS = 10n * NANOS_PER_USD;

/** Secrets that are shown once; undefined where they were made before. */
export interface ShownOnce {
  readonly operatorKey: string | undefined;
  readonly clientKey: string | undefined;
}

export interface SeedParts {
  readonly keys: Keys;
  readonly ledger: Ledger;
  readonly nowMs: () => number;
}

/** Makes the operator's account and key at the first start, and the demonstration's. */
export async function firstStart(parts: SeedParts, operatorKey: string | undefined, demo: boolean): Promise<ShownOnce> {
  const act = gatewayAct("gateway.start", parts.nowMs());
  const isFirst = await openAccount(parts.ledger, { id: OPERATOR, name: "Operator" }, act);
  const operator = keySettings("operator", ["operator"]);
  let shown: string | undefined;
  if (operatorKey !== undefined) {
    await parts.keys.ensureSeed({ accountId: OPERATOR, secret: operatorKey, settings: operator }, act);
  } else if (isFirst) {
    shown = (await parts.keys.create({ accountId: OPERATOR, settings: operator }, act)).secret;
  }
  return { operatorKey: shown, clientKey: demo ? await openDemo(parts, act) : undefined };
}

export interface Applied {
  /** What the file says otherwise than what was applied before, and does not change. */
  readonly differences: readonly string[];
  /** The accounts and keys that existed and were changed, by their ids. */
  readonly changed: readonly string[];
  /** The keys that the file names, by their ids and in its order. */
  readonly keyIds: readonly string[];
}

/**
 * Opens the accounts, gives the credit and imports the keys that the settings name; each once, ever. With `manage`, it
 * also changes those that exist, and disables those that the file no longer names. All of one file is done, or nothing.
 * What stays otherwise than the file says is in the answer, with how it is changed.
 */
export async function applySeeds(parts: SeedParts, settings: Settings, act: Act): Promise<Applied> {
  for (let count = 0; count < TRIES_MAX; count++) {
    const applied = await tryToApply(parts, settings, act);
    if (applied !== "stale") return applied;
  }
  throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "others are changing the same accounts and keys" });
}

/** `stale` where an account or a key was changed at the same time: then nothing was done. */
async function tryToApply(parts: SeedParts, settings: Settings, act: Act): Promise<Applied | "stale"> {
  const { keys, ledger } = parts;
  const plans = plansByName(settings);
  const fileState = settings.manage ? "managed" : "";
  const present = await Promise.all(settings.keys.map((seed) => keys.seedRow(seed, seed.secret)));
  const edits = await fileEdits(parts, settings, { plans, keys: present }, act);
  const rows = present.map(({ row }) => Object.assign(row, { fileState } as const));
  const seeded = await ledger.seed(
    settings.accounts.map((seed) => ({ ...withPlan(seed, plans), fileState })),
    { ...edits, keys: rows.map((row) => ({ row, event: keyEvent(act, undefined, row) })) },
    act,
  );
  if (seeded === "stale") return seeded;
  await publishEdits(parts, edits);
  for (const { row, opened } of seeded.accounts)
    if (opened && row.limits.creditLine !== undefined) await ledger.creditLines.renew(row.id);
  const differences: string[] = [];
  for (const [index, seed] of settings.accounts.entries()) {
    const found = seeded.accounts[index];
    if (found?.opened === false) differences.push(...accountDifferences(seed, found.row, settings.manage));
    if (!seeded.creditedOtherwise.includes(seed.id)) continue;
    differences.push(
      `accounts.${seed.id}.credit is ${formatUsd(seed.creditNanos)} now, but another amount was given before; ` +
        "give more with 'tollgate account credit'",
    );
  }
  for (const [index, seed] of settings.keys.entries()) {
    const row = seeded.keys[index];
    if (row === undefined) continue;
    if (row.id === rows[index]?.id) await keys.publish(row);
    differences.push(...keyDifferences(`keys[${index}]`, seed, keyOf(row), settings.manage));
  }
  const changed = [...edits.accountEdits.map(({ id }) => id), ...edits.keyEdits.map(({ row }) => row.id)];
  return { differences, changed, keyIds: seeded.keys.map(({ id }) => id) };
}

/** Tells every node what was changed, as after a change over the API. */
async function publishEdits({ keys, ledger }: SeedParts, edits: Awaited<ReturnType<typeof fileEdits>>): Promise<void> {
  for (const { id, change } of edits.accountEdits) {
    await ledger.leases.recall(id);
    if ("creditLine" in change) await ledger.creditLines.renew(id);
    await keys.publishAccount(id);
  }
  for (const { row } of edits.keyEdits) await keys.publish(row);
}

/** What the file says of each account and key that is not in force, by their places in the file. Changes nothing. */
export async function seedDifferences(
  { keys, ledger }: SeedParts,
  settings: Settings,
  keyIds: Applied["keyIds"],
): Promise<{ readonly accounts: readonly (readonly string[])[]; readonly keys: readonly (readonly string[])[] }> {
  const { manage } = settings;
  const accounts = settings.accounts.map(async (seed) =>
    accountDifferences(seed, await ledger.account(seed.id), manage),
  );
  const found = settings.keys.map(async (seed, index) =>
    keyDifferences(`keys[${index}]`, seed, await keys.get(keyIds[index] ?? ""), manage),
  );
  return { accounts: await Promise.all(accounts), keys: await Promise.all(found) };
}

function accountDifferences(seed: AccountSeed, account: AccountRow, manage: boolean): string[] {
  const { id, name, plan } = seed;
  // Where there is a plan, the rest was the plan's when the account got it.
  const said = (values: object): object => (plan === "" ? values : saidNumbers(values));
  const { budgets, limits } = account;
  const changed = [...namesOfDifferent(said(seed.budgets), budgets), ...namesOfDifferent(said(seed.limits), limits)];
  const own = namesOfDifferent<object>({ name, plan }, account);
  if (manage) return changedElsewhere(`accounts.${id}`, [...own, ...changed]);
  const named = own.map((field) => `accounts.${id}.${field} is the ${field} of a new account only`);
  const hint = "change them with 'tollgate account update'";
  return changed.length === 0 ? named : [...named, `accounts.${id} says other limits (${changed.join(", ")}); ${hint}`];
}

function keyDifferences(place: string, seed: KeySeed, key: Key, manage: boolean): string[] {
  const named = `${place} (${key.id})`;
  if (key.revokeTime !== undefined) return [`${named} was revoked; a new key needs a new secret`];
  if (key.accountId !== seed.accountId) return [`${named} is a key of the account ${key.accountId} and stays one`];
  const changed = namesOfDifferent(newSettings(seed.settings), key.settings ?? emptySettings());
  if (manage) return changedElsewhere(named, changed);
  if (changed.length === 0) return [];
  return [`${named} says other settings (${changed.join(", ")}); change them with 'tollgate key update ${key.id}'`];
}

/** Of a row that the file manages. */
function changedElsewhere(named: string, fields: readonly string[]): string[] {
  if (fields.length === 0) return [];
  return [
    `${named} was changed elsewhere (${fields.join(", ")}); the next start or reload of the file changes it back`,
  ];
}

/** The names of the fields in which two messages of one kind differ, as the protocol spells them. */
function namesOfDifferent<Message extends object>(one: Message, other: Message): string[] {
  const others = new Map(Object.entries(other));
  return Object.entries(one).flatMap(([name, value]) =>
    isDeepStrictEqual(value, others.get(name)) ? [] : [snakeCase(name)],
  );
}

async function openDemo(parts: SeedParts, act: Act): Promise<string | undefined> {
  if (!(await openAccount(parts.ledger, { id: DEMO, name: "Demonstration" }, act))) return undefined;
  await creditOnce(parts.ledger, { creditId: "seed:demo", accountId: DEMO, amountNanos: DEMO_CREDIT_NANOS, act });
  const settings = keySettings("first key", [...DEFAULT_SCOPES]);
  return (await parts.keys.create({ accountId: DEMO, settings }, act)).secret;
}

/** True where the account was opened now. */
async function openAccount(ledger: Ledger, account: NewAccount, act: Act): Promise<boolean> {
  try {
    await ledger.createAccount(account, act);
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

/** False where another amount was given under this id: a credit is applied once. */
async function creditOnce(ledger: Ledger, credit: CreditRequest): Promise<boolean> {
  try {
    await ledger.credit(credit);
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof GatewayError && error.reason === "ERROR_REASON_ALREADY_EXISTS";
}

function keySettings(name: string, scopes: string[]): KeySettings {
  return { ...emptySettings(), name, scopes };
}

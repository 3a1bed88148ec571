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
import { plansByName, saidNumbers, withPlan } from "./seeded-plans.js";

const OPERATOR = OPERATOR_ACCOUNT_ID;
const DEMO = "demo";
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
  /** What the file says otherwise than what was applied once before. */
  readonly differences: readonly string[];
  /** The keys that the file names, by their ids and in its order. */
  readonly keyIds: readonly string[];
}

/**
 * Opens the accounts, gives the credit and imports the keys that the settings name; each once, ever, and all of one
 * file or nothing. What the file says otherwise now changes nothing: the sentences of the answer say so, and how it is
 * changed.
 */
export async function applySeeds({ keys, ledger }: SeedParts, settings: Settings, act: Act): Promise<Applied> {
  const plans = plansByName(settings);
  const rows = await Promise.all(settings.keys.map((seed) => keys.seedRow(seed, seed.secret)));
  const seeded = await ledger.seed(
    settings.accounts.map((seed) => withPlan(seed, plans)),
    rows.map((row) => ({ row, event: keyEvent(act, undefined, row) })),
    act,
  );
  const differences: string[] = [];
  for (const [index, seed] of settings.accounts.entries()) {
    const found = seeded.accounts[index];
    if (found?.opened === false) differences.push(...accountDifferences(seed, found.row));
    if (!seeded.creditedOtherwise.includes(seed.id)) continue;
    differences.push(
      `accounts.${seed.id}.credit is ${formatUsd(seed.creditNanos)} now, but another amount was given before; ` +
        "give more with 'tollgate account credit'",
    );
  }
  for (const [index, seed] of settings.keys.entries()) {
    const row = seeded.keys[index];
    if (row === undefined) continue;
    const key = row.id === rows[index]?.id ? await keys.publishNew(row) : keyOf(row);
    differences.push(...keyDifferences(`keys[${index}]`, seed, key));
  }
  return { differences, keyIds: seeded.keys.map(({ id }) => id) };
}

/** What the file says of each account and key that is not in force, by their places in the file. Changes nothing. */
export async function seedDifferences(
  { keys, ledger }: SeedParts,
  settings: Settings,
  keyIds: Applied["keyIds"],
): Promise<{ readonly accounts: readonly (readonly string[])[]; readonly keys: readonly (readonly string[])[] }> {
  const accounts = settings.accounts.map(async (seed) => accountDifferences(seed, await ledger.account(seed.id)));
  const found = settings.keys.map(async (seed, index) =>
    keyDifferences(`keys[${index}]`, seed, await keys.get(keyIds[index] ?? "")),
  );
  return { accounts: await Promise.all(accounts), keys: await Promise.all(found) };
}

/** What one file named and the next does not: it was made, and a file takes nothing away. */
export function leftOut(
  before: Pick<Settings, "accounts">,
  after: Pick<Settings, "accounts">,
  keysBefore: readonly string[],
  keysAfter: readonly string[],
): string[] {
  const kept = new Set([...after.accounts.map(({ id }) => id), ...keysAfter]);
  const accounts = before.accounts.filter(({ id }) => !kept.has(id));
  const keys = keysBefore.filter((id) => !kept.has(id));
  return [
    ...accounts.map(({ id }) => `the account ${id}; stop it with 'tollgate account freeze ${id}'`),
    ...keys.map((id) => `the key ${id}; end it with 'tollgate key revoke ${id}'`),
  ];
}

function accountDifferences(seed: AccountSeed, account: AccountRow): string[] {
  const { id, name, plan } = seed;
  const named = account.name === name ? [] : [`accounts.${id}.name is the name of a new account only`];
  if (account.plan !== plan) named.push(`accounts.${id}.plan is the plan of a new account only`);
  // Where there is a plan, the rest was the plan's when the account was made.
  const said = (values: object): object => (plan === "" ? values : saidNumbers(values));
  const { budgets, limits } = account;
  const changed = [...namesOfDifferent(said(seed.budgets), budgets), ...namesOfDifferent(said(seed.limits), limits)];
  const hint = "change them with 'tollgate account update'";
  return changed.length === 0 ? named : [...named, `accounts.${id} says other limits (${changed.join(", ")}); ${hint}`];
}

function keyDifferences(place: string, seed: KeySeed, key: Key): string[] {
  const named = `${place} (${key.id})`;
  if (key.revokeTime !== undefined) return [`${named} was revoked; a new key needs a new secret`];
  if (key.accountId !== seed.accountId) return [`${named} is a key of the account ${key.accountId} and stays one`];
  const changed = namesOfDifferent(newSettings(seed.settings), key.settings ?? emptySettings());
  if (changed.length === 0) return [];
  return [`${named} says other settings (${changed.join(", ")}); change them with 'tollgate key update ${key.id}'`];
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

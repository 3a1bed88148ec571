/**
 * What a first start makes: the operator's key, the settings' seeds, and a demonstration account where one is asked
 * for.
 */
import type { KeySettings } from "../api/index.js";
import type { Settings } from "../config/settings.js";
import { GatewayError } from "../errors.js";
import { emptySettings } from "../keys/key-settings.js";
import type { Keys } from "../keys/keys.js";
import type { Ledger, NewAccount } from "../ledger/ledger.js";
import { NANOS_PER_USD } from "../money.js";

const OPERATOR = "operator";
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
}

/** Makes the operator's account and key at the first start, and the demonstration's. */
export async function firstStart(parts: SeedParts, operatorKey: string | undefined, demo: boolean): Promise<ShownOnce> {
  const isFirst = await openAccount(parts.ledger, { id: OPERATOR, name: "Operator" });
  const operator = keySettings("operator", ["operator"]);
  let shown: string | undefined;
  if (operatorKey !== undefined) {
    await parts.keys.ensureSeed({ accountId: OPERATOR, secret: operatorKey, settings: operator });
  } else if (isFirst) {
    shown = (await parts.keys.create({ accountId: OPERATOR, settings: operator })).secret;
  }
  return { operatorKey: shown, clientKey: demo ? await openDemo(parts) : undefined };
}

/** Opens the accounts, gives the credit and imports the keys that the settings name; each once, ever. */
export async function applySeeds(parts: SeedParts, settings: Settings): Promise<void> {
  for (const { id, name, creditNanos, budgets } of settings.accounts) {
    await openAccount(parts.ledger, { id, name, budgets });
    const creditId = `seed:${id}`;
    if (creditNanos > 0n) await creditOnce(parts.ledger, creditId, id, creditNanos);
  }
  for (const seed of settings.keys) await parts.keys.ensureSeed(seed);
}

async function openDemo(parts: SeedParts): Promise<string | undefined> {
  if (!(await openAccount(parts.ledger, { id: DEMO, name: "Demonstration" }))) return undefined;
  await creditOnce(parts.ledger, "seed:demo", DEMO, DEMO_CREDIT_NANOS);
  const settings = keySettings("first key", ["chat", "embeddings", "models", "usage"]);
  return (await parts.keys.create({ accountId: DEMO, settings })).secret;
}

/** True where the account was opened now. */
async function openAccount(ledger: Ledger, account: NewAccount): Promise<boolean> {
  try {
    await ledger.createAccount(account);
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

/** A seed whose amount was changed later changes nothing: it was applied. */
async function creditOnce(ledger: Ledger, creditId: string, accountId: string, amountNanos: bigint): Promise<void> {
  try {
    await ledger.credit({ creditId, accountId, amountNanos });
  } catch (error) {
    if (!isTaken(error)) throw error;
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof GatewayError && error.reason === "ERROR_REASON_ALREADY_EXISTS";
}

function keySettings(name: string, scopes: string[]): KeySettings {
  return { ...emptySettings(), name, scopes };
}

/** How an operator opens, limits and freezes accounts. */
import { invalid, stale } from "../api/check.js";
import type { Act } from "../audit/act.js";
import { GatewayError } from "../base/errors.js";
import type {
  AccountBudgets,
  AccountChange,
  AccountLimits,
  AccountRow,
  FileState,
  Freeze,
  NewAccountRow,
  SeedOutcome,
  SeedRows,
  Store,
} from "../store/store.js";
import { checkSettings } from "./account-settings.js";
import { checkReason, isText } from "./corrections.js";
import { unknownAccount } from "./hold-refusal.js";

const ACCOUNT_ID = /^[a-z0-9_.-]{1,64}$/;
const NAME_CHARACTERS_MAX = 200;

/** A new account; without budgets or limits it has none. */
export interface NewAccount {
  readonly id: string;
  readonly name: string;
  readonly budgets?: AccountBudgets | undefined;
  readonly limits?: AccountLimits | undefined;
  /** The name of its plan. Absent or empty: none. */
  readonly plan?: string | undefined;
  /** Absent: no settings file manages it. */
  readonly fileState?: FileState | undefined;
}

/** An account of a settings file; a credit of zero means no credit. */
export interface SeededAccount extends NewAccount {
  readonly creditNanos: bigint;
}

/** What exists after the settings file was applied, in the order of the file. */
export interface Seeded extends Pick<SeedOutcome, "accounts" | "keys"> {
  /** Accounts that were credited with another amount before. */
  readonly creditedOtherwise: readonly string[];
}

/** The keys of a settings file, and what it changes of the rows that exist. */
export type KeysAndEdits = Pick<SeedRows, "keys" | "accountEdits" | "keyEdits">;

export class Accounts {
  constructor(
    private readonly store: Store,
    private readonly nowMs: () => number,
  ) {}

  async create(account: NewAccount, act: Act): Promise<AccountRow> {
    if (await this.store.accounts.create(this.#newRow(account), act)) return this.get(account.id);
    throw new GatewayError("ERROR_REASON_ALREADY_EXISTS", { kind: "account", id: account.id });
  }

  /** `stale` where a row has changed since its edit was made: then nothing was done. */
  async seed(accounts: readonly SeededAccount[], rows: KeysAndEdits, act: Act): Promise<Seeded | "stale"> {
    const nowMs = this.nowMs();
    const credited = accounts.filter(({ creditNanos }) => creditNanos > 0n);
    const outcome = await this.store.seed({
      accounts: accounts.map((account) => this.#newRow(account)),
      credits: credited.map(({ id, creditNanos: amountNanos }) => {
        return { kind: "credit", creditId: `seed:${id}`, accountId: id, amountNanos, nowMs, act };
      }),
      ...rows,
      act,
    });
    if (outcome.refused === "stale") return outcome.refused;
    if (outcome.refused === "credit") throw invalid("credit", "all credits together are more than the ledger holds");
    const otherwise = credited.filter((_, index) => outcome.credits[index]?.kind === "refused");
    return { accounts: outcome.accounts, keys: outcome.keys, creditedOtherwise: otherwise.map(({ id }) => id) };
  }

  async get(id: string): Promise<AccountRow> {
    const account = await this.store.accounts.get(id);
    if (account === undefined) throw unknownAccount(id);
    return account;
  }

  async setSettings(id: string, settings: AccountChange, etag: string, act: Act): Promise<AccountRow> {
    checkSettings(settings);
    const account = await this.store.accounts.setSettings(id, settings, etag, act);
    if (account === undefined) throw unknownAccount(id);
    if (account === "stale") throw stale("account", id);
    return account;
  }

  async freeze(id: string, freeze: Omit<Freeze, "timeMs">, act: Act): Promise<AccountRow> {
    checkReason(freeze.reason);
    const since = (await this.get(id)).freeze?.timeMs;
    const frozen = { timeMs: since ?? Math.floor(this.nowMs()), ...freeze };
    const account = await this.store.accounts.setFreeze(id, frozen, act);
    if (account === undefined) throw unknownAccount(id);
    return account;
  }

  async unfreeze(id: string, act: Act): Promise<AccountRow> {
    const account = await this.store.accounts.setFreeze(id, null, act);
    if (account === undefined) throw unknownAccount(id);
    return account;
  }

  #newRow({ id, name, plan, budgets, limits, fileState }: NewAccount): NewAccountRow {
    if (!ACCOUNT_ID.test(id)) throw invalid("id", "must be 1 to 64 of a-z, 0-9, _, . and -");
    if (!isText(name, 0, NAME_CHARACTERS_MAX))
      throw invalid("name", `must be at most ${NAME_CHARACTERS_MAX} characters`);
    checkSettings({ ...budgets, ...limits });
    return { id, name, plan, createTimeMs: this.nowMs(), budgets, limits, fileState };
  }
}

/** Asks again where a person types an amount that is ten times the last of its kind, or more. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { formatUsd } from "../base/money.js";
import { isLargeAmount } from "../base/typed-number.js";
import { connected, type Connection, type ConnectionOptions } from "./connection.js";
import { CommandFailure } from "./failure.js";

export interface TypedAmount {
  /** What the last amount is looked up by, such as `credit`. */
  readonly kind: string;
  /** Undefined where none was typed. */
  readonly nanos: bigint | undefined;
  /** What it is now, where it is changed: 0n where there is none. */
  readonly before?: bigint | undefined;
}

/** The terminal of whoever types, and the amounts that were typed there before. */
export interface Terminal {
  /** False where no person is there to be asked, as in a script: then nothing is asked and nothing kept. */
  readonly isInteractive: boolean;
  /** Resolves with what was answered. */
  ask(question: string): Promise<string>;
  /** Where the last amounts are kept. */
  readonly path: string;
}

const terminal: Terminal = {
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  ask: async (question) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await lines.question(question);
    } finally {
      lines.close();
    }
  },
  path: join(process.env["XDG_STATE_HOME"] || join(homedir(), ".local", "state"), "tollgate", "last-amounts.json"),
};

/**
 * Does what the amounts are for, after a person said that they are meant; then they are the last ones. Rejects with a
 * CommandFailure where they are not. `typed` is not called where no person is there.
 */
export async function withAmounts(
  typed: () => Promise<readonly TypedAmount[]> | readonly TypedAmount[],
  run: () => Promise<void>,
  { isInteractive, ask, path }: Terminal = terminal,
): Promise<void> {
  if (!isInteractive) return run();
  const amounts = await typed();
  const last = readLast(path);
  for (const { kind, nanos = 0n, before = 0n } of amounts) {
    const usual = before > 0n ? before : (last.get(kind) ?? 0n);
    if (!isLargeAmount(nanos, usual)) continue;
    const compared = `${formatUsd(nanos)} USD is at least ten times ${formatUsd(usual)} USD`;
    const question = `${compared}, the last amount of its kind. Go on? [y/N] `;
    if (!/^y(?:es)?$/i.test((await ask(question)).trim())) throw new CommandFailure("nothing was done", "usage");
  }
  await run();
  for (const { kind, nanos = 0n } of amounts) if (nanos > 0n) last.set(kind, nanos);
  keepLast(path, last);
}

/** Runs a command for one amount with a connection, after the person said that it is meant. */
export function typedIn(
  kind: string,
  nanos: bigint | undefined,
  options: ConnectionOptions,
  run: (connection: Connection) => Promise<void>,
): Promise<void> {
  return withAmounts(
    () => [{ kind, nanos }],
    () => connected(options, run),
  );
}

interface Budgets {
  readonly budgetDayNanos: bigint;
  readonly budgetWeekNanos: bigint;
  readonly budgetMonthNanos: bigint;
  readonly budgetQuarterNanos: bigint;
  readonly budgetTotalNanos: bigint;
  readonly requestCostMaxNanos: bigint;
}

interface BudgetOptions {
  readonly budgetDay?: bigint;
  readonly budgetWeek?: bigint;
  readonly budgetMonth?: bigint;
  readonly budgetQuarter?: bigint;
  readonly budgetTotal?: bigint;
  readonly requestCostMax?: bigint;
}

/** The budgets of an account or a key that were typed, beside those that it has. */
export function budgetsOf(whose: string, typed: BudgetOptions, now: Budgets | undefined): readonly TypedAmount[] {
  return [
    { kind: `${whose}.budget_day`, nanos: typed.budgetDay, before: now?.budgetDayNanos },
    { kind: `${whose}.budget_week`, nanos: typed.budgetWeek, before: now?.budgetWeekNanos },
    { kind: `${whose}.budget_month`, nanos: typed.budgetMonth, before: now?.budgetMonthNanos },
    { kind: `${whose}.budget_quarter`, nanos: typed.budgetQuarter, before: now?.budgetQuarterNanos },
    { kind: `${whose}.budget_total`, nanos: typed.budgetTotal, before: now?.budgetTotalNanos },
    { kind: `${whose}.request_cost_max`, nanos: typed.requestCostMax, before: now?.requestCostMaxNanos },
  ];
}

/** None where there is no such file, or it holds something else. */
function readLast(path: string): Map<string, bigint> {
  try {
    const read: unknown = JSON.parse(readFileSync(path, "utf8"));
    return new Map(
      Object.entries(read ?? {}).flatMap(([kind, nanos]) =>
        typeof nanos === "string" && /^\d{1,18}$/.test(nanos) ? [[kind, BigInt(nanos)]] : [],
      ),
    );
  } catch {
    return new Map();
  }
}

function keepLast(path: string, last: ReadonlyMap<string, bigint>): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const kept = [...last].map(([kind, nanos]) => [kind, nanos.toString()]);
    writeFileSync(path, `${JSON.stringify(Object.fromEntries(kept))}\n`, { mode: 0o600 });
  } catch {
    // Where nothing can be kept, the next amount is not compared.
  }
}

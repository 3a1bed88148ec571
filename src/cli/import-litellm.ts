/** `tollgate import litellm-database`: the keys and teams of a LiteLLM proxy, whose clients keep their keys. */
import type { Command } from "commander";
import {
  type AccountSettings,
  AccountServiceService,
  AccountSettings as AccountSettingsMessage,
  CreateKeyRequest,
  CreditPeriod,
  KeyServiceService,
  KeySettings,
} from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import type { CarriedLimits } from "../import/litellm-limits.js";
import type { Estate, PlannedAccount, PlannedKey, Remark } from "../import/litellm-estate.js";
import type { ReadRows } from "../import/litellm-rows.js";
import { connected, type Connection, type ConnectionOptions, withConnection } from "./connection.js";
import { CommandFailure } from "./failure.js";
import { print, printable, remark } from "./print.js";
import { writeDraft } from "./write-draft.js";

type Options = ConnectionOptions & { readonly apply?: true; readonly models?: string };

/** Calls at once. */
const RUNNING_MAX = 16;
/** Remarks with one reason that are printed one by one. */
const NAMES_SHOWN = 5;
const READ_MS_MAX = 60_000;
const CONNECT_MS_MAX = 10_000;
/** Of a message without fields: each has its default. */
const EMPTY = new Uint8Array();
const EXISTS = "ERROR_REASON_ALREADY_EXISTS";

const HELP = `
Environment:
  LITELLM_SALT_KEY    decrypts the models; without a salt key, set LITELLM_MASTER_KEY

Examples:
  tollgate import litellm-database postgresql://reader@db/litellm
  tollgate import litellm-database postgresql://reader@db/litellm --apply --models tollgate.yaml`;

export function addLiteLlmDatabaseCommand(group: Command): void {
  withConnection(
    group
      .command("litellm-database")
      .description(
        "import keys, teams and budgets from a LiteLLM proxy's database; clients keep their keys. Prints what it would " +
          "do, and does it with --apply",
      )
      .argument("<url>", "the address of the PostgreSQL database; a user who may only read is enough")
      .option("--apply", "create the accounts and keys; what a run before created stays as it is")
      .option("--models <file>", "also write the models in the database as a settings file, which must not exist")
      .addHelpText("after", HELP),
  ).action(run);
}

async function run(url: string, options: Options): Promise<void> {
  const { readLiteLlmRows } = await import("../import/litellm-rows.js");
  const { estateOf } = await import("../import/litellm-estate.js");
  const rows = await reading(url, readLiteLlmRows);
  const estate = estateOf(rows, Date.now());
  const models = rows.models.length;
  print(
    `Carried as it was: ${estate.accounts.length} accounts and ${estate.keys.length} keys, with the differences below.`,
  );
  printRemarks("Carried with a difference", estate.differences);
  printRemarks("Not carried, and what to do", [...estate.left, ...modelsLeft(models, options.models)]);
  if (options.models !== undefined) {
    const { draftOfModels } = await import("../import/litellm-models.js");
    const salt = process.env["LITELLM_SALT_KEY"] || process.env["LITELLM_MASTER_KEY"] || undefined;
    await writeDraft(draftOfModels(rows, salt), options.models, "the database of LiteLLM");
  }
  if (options.apply !== true) return remark("Nothing was created. Run it again with --apply.");
  await connected(options, (connection) => applyEstate(connection, estate));
}

function modelsLeft(count: number, file: string | undefined): readonly Remark[] {
  if (count === 0 || file !== undefined) return [];
  return [{ what: `${count} models`, reason: "write them to a settings file with --models" }];
}

/** Reads in one transaction that cannot write, so that all rows are of one moment. */
async function reading<Rows>(url: string, read: (rows: ReadRows) => Promise<Rows>): Promise<Rows> {
  const { default: pg } = await import("pg");
  // LiteLLM writes times without their zone, which is UTC.
  const getTypeParser = ((oid: number, format: "text" | "binary") =>
    oid === pg.types.builtins.TIMESTAMP
      ? (text: string) => new Date(`${text.replace(" ", "T")}Z`)
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser;
  const client = new pg.Client({
    connectionString: url,
    statement_timeout: READ_MS_MAX,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    types: { getTypeParser },
  });
  try {
    await client.connect();
    await client.query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return await read(async (sql) => (await client.query<Record<string, unknown>>(sql)).rows);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`the database cannot be read: ${printable(problem)}`, "unavailable", { cause: error });
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function applyEstate(connection: Connection, { accounts, keys }: Estate): Promise<void> {
  const made = { accounts: 0, keys: 0 };
  await each(accounts, async (account) => {
    if (await makeAccount(connection, account)) made.accounts += 1;
  });
  await each(keys, async (key) => {
    if (await isNew(connection.call(KeyServiceService.createKey, keyRequest(key)))) made.keys += 1;
  });
  remark(
    `Created ${made.accounts} accounts and ${made.keys} keys; ` +
      `${accounts.length - made.accounts} accounts and ${keys.length - made.keys} keys were there.`,
  );
}

/** An account that a run before created and could not finish is finished. False where nothing was left to do. */
async function makeAccount(connection: Connection, account: PlannedAccount): Promise<boolean> {
  const { id, name, limits, isBlocked } = account;
  const isMade = await isNew(connection.call(AccountServiceService.createAccount, { id, name, plan: "" }));
  const { account: found } = await connection.call(AccountServiceService.getAccount, { id });
  const [settings, mask] = accountSettings(limits);
  const hasLimits = found?.settings !== undefined && (mask.length === 0 || isLimited(found.settings));
  const isFinished = hasLimits && (!isBlocked || found.freeze !== undefined);
  if (!isMade && isFinished) return false;
  if (isBlocked && found?.freeze === undefined)
    await connection.call(AccountServiceService.freezeAccount, { id, reason: "blocked in LiteLLM", endStreams: false });
  const { budget } = limits;
  if (budget?.window === "total")
    await connection.call(AccountServiceService.creditAccount, {
      id,
      amountNanos: budget.nanos,
      creditId: `litellm-${id}`,
      reason: "what was left of the budget in LiteLLM",
    });
  if (mask.length > 0)
    await connection.call(AccountServiceService.updateAccount, { id, settings, updateMask: [...mask], etag: "" });
  return true;
}

/** True where it has one of the settings that are imported: the import writes all of them at once, and last. */
function isLimited(settings: AccountSettings): boolean {
  const { budgetDayNanos, budgetWeekNanos, budgetMonthNanos, budgetQuarterNanos, budgetTotalNanos } = settings;
  const { requestsPerMinute, tokensPerMinute, concurrency } = settings;
  const budgets = [budgetDayNanos, budgetWeekNanos, budgetMonthNanos, budgetQuarterNanos, budgetTotalNanos];
  return [...budgets, requestsPerMinute, tokensPerMinute, concurrency].some((value) => value > 0n);
}

/** Settings and their mask. The budget of a period is a credit line as well, so that the account needs no top-ups. */
function accountSettings(limits: CarriedLimits): readonly [AccountSettings, readonly string[]] {
  const { budget, requestsPerMinute, tokensPerMinute, concurrency } = limits;
  const line =
    budget === undefined || budget.window === "total"
      ? undefined
      : { amountNanos: budget.nanos, amount: undefined, period: PERIODS[budget.window] };
  const settings = {
    ...AccountSettingsMessage.decode(EMPTY),
    ...budgetFields(limits),
    requestsPerMinute,
    tokensPerMinute,
    concurrency,
    ...(line === undefined ? {} : { creditLine: line }),
  };
  const mask = [
    ...(budget === undefined ? [] : [`budget_${budget.window}_nanos`]),
    ...(line === undefined ? [] : ["credit_line"]),
    ...(requestsPerMinute > 0n ? ["requests_per_minute"] : []),
    ...(tokensPerMinute > 0n ? ["tokens_per_minute"] : []),
    ...(concurrency > 0n ? ["concurrency"] : []),
  ];
  return [settings, mask];
}

const PERIODS = {
  day: CreditPeriod.CREDIT_PERIOD_DAY,
  week: CreditPeriod.CREDIT_PERIOD_WEEK,
  month: CreditPeriod.CREDIT_PERIOD_MONTH,
  quarter: CreditPeriod.CREDIT_PERIOD_QUARTER,
} as const;

type Budgets = Partial<
  Pick<
    KeySettings,
    "budgetDayNanos" | "budgetWeekNanos" | "budgetMonthNanos" | "budgetQuarterNanos" | "budgetTotalNanos"
  >
>;

function budgetFields({ budget }: CarriedLimits): Budgets {
  switch (budget?.window) {
    case undefined:
      return {};
    case "day":
      return { budgetDayNanos: budget.nanos };
    case "week":
      return { budgetWeekNanos: budget.nanos };
    case "month":
      return { budgetMonthNanos: budget.nanos };
    case "quarter":
      return { budgetQuarterNanos: budget.nanos };
    case "total":
      return { budgetTotalNanos: budget.nanos };
  }
}

function keyRequest(key: PlannedKey): CreateKeyRequest {
  const { requestsPerMinute, tokensPerMinute, concurrency } = key.limits;
  return {
    accountId: key.accountId,
    secret: "",
    secretDigest: key.sha256,
    hint: key.hint,
    settings: {
      ...KeySettings.decode(EMPTY),
      name: key.name,
      models: [...key.models],
      expireTime: key.expireTime,
      metadata: { ...key.metadata },
      requestsPerMinute,
      tokensPerMinute,
      concurrency,
      ...budgetFields(key.limits),
    },
  };
}

/** False where it exists already. */
async function isNew(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.reason === EXISTS) return false;
    throw error;
  }
}

async function each<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: RUNNING_MAX }, async () => {
      for (const item of waiting) await run(item);
    }),
  );
}

/** One line a reason, with the first that it holds for. */
function printRemarks(title: string, remarks: readonly Remark[]): void {
  if (remarks.length === 0) return;
  print(`\n${title}:`);
  const byReason = new Map<string, Remark[]>();
  for (const one of remarks) {
    const same = byReason.get(one.reason);
    if (same === undefined) byReason.set(one.reason, [one]);
    else same.push(one);
  }
  for (const [reason, of] of byReason) {
    const names = of.slice(0, NAMES_SHOWN).map(({ what }) => printable(what));
    const more = of.length > NAMES_SHOWN ? ` and ${of.length - NAMES_SHOWN} more` : "";
    print(`  ${names.join(", ")}${more}: ${printable(reason)}`);
  }
}

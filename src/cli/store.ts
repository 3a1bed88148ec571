/**
 * `tollgate store`: backs up the embedded store, brings it back, and copies it to PostgreSQL; archives old transfers of
 * either, and proves them.
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { type Act, commandAct } from "../audit/act.js";
import { systemUser } from "../audit/system-user.js";
import { dayOf } from "../base/day.js";
import { readEnvironment } from "../config/environment.js";
import { deriveKey, readRootSecret } from "../config/secret.js";
import type { ArchiveDatabase } from "../store/archive/database.js";
import { CommandFailure } from "./failure.js";
import { print, printable } from "./print.js";

export function addStoreCommands(program: Command): void {
  const store = program.command("store").description("back up, restore, copy, archive or verify the database");
  store
    .command("backup")
    .description("write the database in TOLLGATE_DATA to a new file; the gateway may keep running")
    .argument("<file>", "the new file; keep a copy of TOLLGATE_DATA/secret with it")
    .action(backup);
  store
    .command("restore")
    .description("restore a backup into TOLLGATE_DATA, which must have no database")
    .argument("<file>", "the file that backup wrote")
    .action(restoreFile);
  store
    .command("copy")
    .description(
      "copy the database in TOLLGATE_DATA to TOLLGATE_DATABASE_URL; run it again to continue after an interruption",
    )
    .requiredOption("--from <database>", "sqlite")
    .requiredOption("--to <database>", "postgres")
    .action(copy);
  store
    .command("archive")
    .description(
      "move the transfers of past months from the database to files and verify them; gateways may keep running;" +
        " run it again to continue after an interruption",
    )
    .requiredOption("--before <month>", "the first month that stays in the database, such as 2026-05")
    .requiredOption("--to <directory>", "the directory of the archive; use the same one each time")
    .action(archive);
  store
    .command("verify")
    .description(
      "verify every account, transfer, hold, and settlement in the database; exits with 7 if an error is found",
    )
    .option(
      "--archive <directory>",
      "also verify the archived transfers in this directory; without it, only their sums are used",
    )
    .action(verify);
}

async function backup(file: string): Promise<void> {
  const { backUp, hasDatabase } = await import("../store/sqlite/backup.js");
  const { dataDirectory, databaseUrl } = environment();
  if (databaseUrl !== undefined && !hasDatabase(dataDirectory))
    throw new CommandFailure(
      "the database is the PostgreSQL of TOLLGATE_DATABASE_URL: back it up with PostgreSQL's own tools (docs/postgresql.md)",
      "usage",
    );
  say("backed up", backUp(dataDirectory, resolve(file), actOf("store.backup")));
}

async function restoreFile(file: string): Promise<void> {
  const { restore } = await import("../store/sqlite/backup.js");
  const { dataDirectory, witnessPath } = environment();
  say(
    `restored into ${printable(dataDirectory)}`,
    restore(resolve(file), dataDirectory, witnessPath, actOf("store.restore")),
  );
}

async function copy({ from, to }: { from: string; to: string }): Promise<void> {
  const { dataDirectory, witnessPath, databaseUrl, secret } = environment();
  if (from !== "sqlite" || to !== "postgres") throw new CommandFailure("say --from sqlite --to postgres", "usage");
  if (databaseUrl === undefined) throw new CommandFailure("set TOLLGATE_DATABASE_URL to where it goes", "usage");
  const { copyStore } = await import("../store/copy.js");
  const root = readRootSecret({ secret, dataDirectory }, false);
  const report = await copyStore({
    directory: dataDirectory,
    witnessPath,
    url: databaseUrl,
    act: actOf("store.copy"),
    keyCheck: deriveKey(root, "key check").toString("hex"),
    onProgress: (table, copied, total) => {
      if (copied === total || copied % 10_000 === 0) process.stderr.write(`tollgate: ${table} ${copied} of ${total}\n`);
    },
  });
  say("copied", report);
}

async function archive({ before, to }: { before: string; to: string }): Promise<void> {
  const { archiveLedger } = await import("../store/archive/archive.js");
  const { isMonth } = await import("../store/archive/month.js");
  if (!isMonth(before)) throw new CommandFailure(`'${before}' is no month: say one as 2026-05`, "usage");
  const act = actOf("store.archive");
  await withArchive(async (database) => {
    const { months, transferCount } = await archiveLedger({
      database,
      directory: resolve(to),
      before,
      act,
      nowMs: await database.timeMs(),
      onProgress: (month, transfers) => process.stderr.write(`tollgate: ${month} ${transfers} transfers\n`),
    });
    if (months.length === 0) print(`Nothing more to archive before ${before}.`);
    else print(`archived ${transferCount} transfers of ${months.join(", ")}.`);
  });
}

async function verify({ archive: directory }: { archive?: string }): Promise<void> {
  const { verifyWithArchive } = await import("../store/archive/verify.js");
  await withArchive(async (database) => {
    const report = await (directory === undefined
      ? database.verify()
      : verifyWithArchive(database, resolve(directory)));
    say("checked", report);
    const { archivedTransferCount: count, archivedUntilMs } = report;
    if (archivedUntilMs === undefined) return;
    const before = dayOf(archivedUntilMs);
    if (directory === undefined)
      print(`Before ${before}: ${count} transfers are archived; --archive DIR proves them too.`);
    else print(`Before ${before}: ${count} transfers that are archived were proven too.`);
  });
}

async function withArchive(work: (database: ArchiveDatabase) => Promise<void>): Promise<void> {
  const { openArchive } = await import("../store/archive/open.js");
  const database = await openArchive(environment());
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

function actOf(method: string): Act {
  return commandAct(method, systemUser(), Date.now());
}

function environment(): ReturnType<typeof readEnvironment> {
  return readEnvironment(process.env);
}

interface Report {
  readonly holds: boolean;
  readonly problems: readonly string[];
  readonly accountCount: number;
  readonly transferCount: number;
}

function say(what: string, { holds, problems, accountCount, transferCount }: Report): void {
  for (const problem of problems) print(printable(problem));
  if (!holds) throw new CommandFailure("the ledger does not hold", "unproven");
  print(`${what}, and the ledger holds: ${accountCount} accounts, ${transferCount} transfers.`);
}

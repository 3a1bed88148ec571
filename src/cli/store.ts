/** `tollgate store`: backs up the embedded store, brings it back, and copies it to PostgreSQL. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { type Act, commandAct } from "../audit/act.js";
import { systemUser } from "../audit/system-user.js";
import { readEnvironment } from "../config/environment.js";
import { deriveKey, readRootSecret } from "../config/secret.js";
import { CommandFailure } from "./failure.js";
import { print, printable } from "./print.js";

export function addStoreCommands(program: Command): void {
  const store = program.command("store").description("back up the database, bring it back, or move it");
  store
    .command("backup")
    .description("write the database in TOLLGATE_DATA to a new file, while a gateway serves from it")
    .argument("<file>", "the new file; keep TOLLGATE_DATA/secret beside it")
    .action(backup);
  store
    .command("restore")
    .description("put a backup into TOLLGATE_DATA, which has no database now")
    .argument("<file>", "what backup wrote")
    .action(restoreFile);
  store
    .command("copy")
    .description(
      "copy the database in TOLLGATE_DATA to the one at TOLLGATE_DATABASE_URL; go on where it was interrupted",
    )
    .requiredOption("--from <database>", "sqlite")
    .requiredOption("--to <database>", "postgres")
    .action(copy);
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
  say("restored", restore(resolve(file), dataDirectory, witnessPath, actOf("store.restore")));
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

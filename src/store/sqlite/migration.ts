/** Brings a database file to the newest schema, and refuses one that this program does not know. */
import type { Sqlite } from "./binding.js";
import { UnusableData } from "../../base/unusable-data.js";
import { checkSteps, stepDigests } from "../schema-steps.js";
import { APPLICATION_ID, type Migration } from "./schema.js";

const STEP_TABLE = `CREATE TABLE IF NOT EXISTS schema_step (version INTEGER PRIMARY KEY, digest TEXT NOT NULL) STRICT`;
const HAS_STEPS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_step'";

/** Brings a database to the newest version, one step after the other. Each step happens whole or not at all. */
export function migrate(database: Sqlite, migrations: readonly Migration[], directory: string): void {
  checkVersion(database, migrations, directory);
  const current = schemaVersion(database);
  const digests = stepDigests(migrations);
  for (const [place, { version, sql }] of migrations.entries()) {
    if (version <= current) continue;
    database.transaction(() => {
      database.exec(STEP_TABLE);
      database.exec(sql);
      database.prepare("INSERT INTO schema_step (version, digest) VALUES (?, ?)").run(version, digests[place]);
      database.pragma(`application_id = ${APPLICATION_ID}`);
      database.pragma(`user_version = ${version}`);
    })();
  }
}

/** Refuses a database that this program cannot bring to the newest version. */
export function checkVersion(database: Sqlite, migrations: readonly Migration[], directory: string): void {
  const current = schemaVersion(database);
  if (current === 0) return;
  if (Number(database.pragma("application_id")) !== APPLICATION_ID)
    throw new UnusableData(
      `The database in '${directory}' was written by an earlier build, whose schema was never released, or by another` +
        " program. Keep the directory, and start with a new one.",
    );
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest) {
    throw new UnusableData(
      `The database in '${directory}' has schema version ${current}, but this program knows versions up to ${newest}:` +
        " start the newer program that wrote it.",
    );
  }
  checkSteps(
    current,
    stepsOf(database),
    migrations,
    (why) => new UnusableData(`The database in '${directory}' ${why}`),
  );
}

function stepsOf(database: Sqlite): string[] {
  if (database.prepare(HAS_STEPS).get() === undefined) return [];
  return database.prepare<[], string>("SELECT digest FROM schema_step ORDER BY version").pluck().all();
}

export function schemaVersion(database: Sqlite): number {
  return Number(database.pragma("user_version"));
}

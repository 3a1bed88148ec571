/** The database of the environment as an archive works on it. */
import type { ArchiveDatabase } from "./database.js";

export interface ArchivePlace {
  readonly dataDirectory: string;
  /** Undefined where the database is the one in the directory. */
  readonly databaseUrl: string | undefined;
}

/** Rejects with an Error of one line. */
export async function openArchive({ dataDirectory, databaseUrl }: ArchivePlace): Promise<ArchiveDatabase> {
  if (databaseUrl === undefined) {
    const { openSqliteArchive } = await import("../sqlite/archive.js");
    return openSqliteArchive(dataDirectory);
  }
  const { openPostgresArchive } = await import("../postgres/archive.js");
  return openPostgresArchive(databaseUrl);
}

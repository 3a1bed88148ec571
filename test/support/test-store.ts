/**
 * Which database the gateways of the tests keep their state in: SQLite, or with `TOLLGATE_TEST_STORE=postgres` a
 * PostgreSQL, one database for each data directory.
 */
import { createHash } from "node:crypto";
import { administer, postgresServer } from "./postgres.js";

const SECRET = "a root secret of all tests, long enough";

export const testStore = process.env["TOLLGATE_TEST_STORE"] === "postgres" ? "postgres" : "sqlite";

/** What a gateway's environment says beside the data directory; a front end has no state. */
export async function databaseOf(
  dataDirectory: string,
  env: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  if (testStore === "sqlite" || "TOLLGATE_CORE" in env || "TOLLGATE_DATABASE_URL" in env) return {};
  const url = new URL(await postgresServer());
  const name = `tollgate_${createHash("sha256").update(dataDirectory).digest("hex").slice(0, 16)}`;
  const found = await administer(`SELECT 1 FROM pg_database WHERE datname = '${name}'`);
  if (found.length === 0) await administer(`CREATE DATABASE ${name}`);
  url.pathname = `/${name}`;
  return { TOLLGATE_DATABASE_URL: url.href, TOLLGATE_SECRET: SECRET };
}

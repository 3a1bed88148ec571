/**
 * Which database the gateways of the tests keep their state in: SQLite, or with `TOLLGATE_TEST_STORE=postgres` a
 * PostgreSQL, one database for each data directory, with a Redis beside it.
 */
import { createHash } from "node:crypto";
import { administer, postgresServer } from "./postgres.js";
import { redisOf } from "./redis-of.js";

const SECRET = "a root secret of all tests, long enough";

export const testStore = process.env["TOLLGATE_TEST_STORE"] === "postgres" ? "postgres" : "sqlite";

/** What a gateway's environment says beside the data directory; a front end has no state. */
export async function backendOf(
  dataDirectory: string,
  env: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const isElsewhere = "TOLLGATE_CORE" in env || "TOLLGATE_DATABASE_URL" in env;
  const url = isElsewhere ? undefined : await databaseOf(dataDirectory);
  if (url === undefined) return {};
  const redis = env["TOLLGATE_REDIS_URL"] ?? (await redisOf(dataDirectory));
  return { TOLLGATE_DATABASE_URL: url, TOLLGATE_REDIS_URL: redis, TOLLGATE_SECRET: SECRET };
}

/** The address of the database of a data directory, which is made when it is first asked for; undefined on SQLite. */
export async function databaseOf(dataDirectory: string): Promise<string | undefined> {
  if (testStore === "sqlite") return undefined;
  const url = new URL(await postgresServer());
  const name = `tollgate_${createHash("sha256").update(dataDirectory).digest("hex").slice(0, 16)}`;
  const found = await administer(`SELECT 1 FROM pg_database WHERE datname = '${name}'`);
  if (found.length === 0) await administer(`CREATE DATABASE ${name}`);
  url.pathname = `/${name}`;
  return url.href;
}

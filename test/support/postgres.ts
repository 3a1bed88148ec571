/**
 * A real PostgreSQL for tests: one server for a run, started by the first test that asks, and a database for each that
 * does. `TOLLGATE_TEST_DATABASE_URL` names a running one instead, whose user may make databases.
 */
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { onTestFinished } from "vitest";
import { PATIENCE_MS } from "./patience.js";
import { quickDirectory } from "./quick-directory.js";

const VERSION_LEAST = 14;
const TEMPLATE = "tollgate_template";
const UNFILLED = "tollgate_template_unfilled";

/** The newest that is installed, off the path or on it; undefined where there is none that will do. */
function programs(): string | undefined {
  const places = ["/usr/lib/postgresql", "/usr/libexec/postgresql"].flatMap((root) =>
    existsSync(root) ? readdirSync(root).map((version) => join(root, version, "bin")) : [],
  );
  const onPath = (process.env["PATH"] ?? "").split(":");
  return [...places.toSorted().toReversed(), ...onPath].find(
    (directory) => existsSync(join(directory, "initdb")) && versionOf(directory) >= VERSION_LEAST,
  );
}

/** Most places have it in their name, and most files of tests ask. */
function versionOf(directory: string): number {
  const named = /\/(\d+)\/bin$/.exec(directory)?.[1];
  if (named !== undefined) return Number(named);
  const { stdout } = spawnSync(join(directory, "postgres"), ["--version"], { encoding: "utf8" });
  return Number(/\d+/.exec(stdout)?.[0] ?? 0);
}

const named = process.env["TOLLGATE_TEST_DATABASE_URL"];
const bin = programs();

/** Why there is none; undefined where there is. */
export const postgresMissing: string | undefined =
  named === undefined && bin === undefined
    ? `no PostgreSQL from ${VERSION_LEAST} on (Debian: postgresql), and TOLLGATE_TEST_DATABASE_URL names none`
    : undefined;

/** Where the programs of PostgreSQL are, such as psql. */
export const postgresPrograms = bin;

let server: Promise<string> | undefined;

/** The address of the server, in a database that nobody's tests are in. */
export function postgresServer(): Promise<string> {
  server ??= named === undefined ? startedServer() : Promise.resolve(named);
  return server;
}

/** A new database, until it is dropped: a copy of the template, or empty without one. */
export async function createDatabase(
  template?: string,
): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const url = new URL(await postgresServer());
  const name = `tollgate_${randomBytes(8).toString("hex")}`;
  await administer(`CREATE DATABASE ${name}${template === undefined ? "" : ` TEMPLATE ${template}`}`);
  url.pathname = `/${name}`;
  const drop = async (): Promise<void> => {
    await administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  };
  return { url: url.href, drop };
}

/** The address of one that is gone when the test ends. */
export async function makeDatabase(template?: string): Promise<string> {
  const { url, drop } = await createDatabase(template);
  onTestFinished(drop);
  return url;
}

/**
 * The name of a database that `fill` fills once for all tests of a run. None on a server that outlives the run, since
 * another build may have filled it.
 */
export async function templateOf(fill: (url: string) => Promise<void>): Promise<string | undefined> {
  if (named !== undefined) return undefined;
  const url = new URL(await postgresServer());
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    // The first worker of the run that asks fills it, and the others wait. The lock ends with the connection.
    await client.query("SELECT pg_advisory_lock(1)");
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [TEMPLATE]);
    if (rowCount === 1) return TEMPLATE;
    await client.query(`DROP DATABASE IF EXISTS ${UNFILLED}`);
    await client.query(`CREATE DATABASE ${UNFILLED}`);
    url.pathname = `/${UNFILLED}`;
    await fill(url.href);
    await client.query(`ALTER DATABASE ${UNFILLED} RENAME TO ${TEMPLATE}`);
    return TEMPLATE;
  } finally {
    await client.end();
  }
}

/** Runs a statement as one who may do all, in the database of the address; without one in none that a test has. */
export async function administer(statement: string, url?: string): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: url ?? (await postgresServer()) });
  await client.connect();
  try {
    return (await client.query<pg.QueryResultRow>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** The workers of a run are children of one process, and share the server of the first of them that asks. */
async function startedServer(): Promise<string> {
  const runPid = process.env["VITEST_POOL_ID"] === undefined ? process.pid : process.ppid;
  const directory = join(quickDirectory(), `tollgate-postgres-${runPid}`);
  if (isFirst(directory)) {
    const keeper = new URL("./postgres-keeper.mjs", import.meta.url).pathname;
    const args = [keeper, directory, String(runPid), bin ?? ""];
    spawn(process.execPath, args, { detached: true, stdio: "ignore" }).unref();
  }
  return told(directory);
}

function isFirst(directory: string): boolean {
  try {
    mkdirSync(directory, { mode: 0o755 });
    return true;
  } catch {
    return false;
  }
}

async function told(directory: string): Promise<string> {
  for (let leftMs = PATIENCE_MS; leftMs > 0; leftMs -= 50) {
    if (existsSync(join(directory, "url"))) return readFileSync(join(directory, "url"), "utf8");
    if (existsSync(join(directory, "error"))) throw new Error(readFileSync(join(directory, "error"), "utf8"));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("PostgreSQL did not start in time");
}

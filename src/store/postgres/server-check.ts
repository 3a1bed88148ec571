/** What a PostgreSQL must be, so that what it acknowledged is kept. */
import type { ClientBase } from "pg";
import { UnusableDatabase } from "./failure.js";

/** The oldest one that the statements run on. */
const VERSION_LEAST = 14;
/** Each of these keeps what was committed over a crash of the server. */
const DURABLE = ["fsync", "full_page_writes", "synchronous_commit"] as const;

const CHECK = `SELECT current_setting('server_version_num')::int / 10000 AS version,
  current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit, current_setting('server_encoding') AS encoding,
  pg_is_in_recovery() AS standby, pg_backend_pid() AS pid`;

/** What a server says of itself. */
export interface Facts {
  readonly version: bigint;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly encoding: string;
  readonly standby: boolean;
  readonly pid: bigint;
}

export interface ServerFacts {
  /** True where a pooler stands between, so that two transactions may run on two servers' sessions. */
  readonly isPooled: boolean;
}

/** Throws UnusableDatabase, of one sentence that says what to do. */
export async function checkServer(client: ClientBase): Promise<ServerFacts> {
  const { rows } = await client.query<Facts>(CHECK);
  const [facts] = rows;
  if (facts === undefined) throw new Error("the server did not say what it is");
  checkFacts(facts);
  const said = "processID" in client ? Number(client.processID) : 0;
  return { isPooled: said !== Number(facts.pid) };
}

/** Throws UnusableDatabase where the server will not do. */
export function checkFacts(facts: Facts): void {
  if (facts.version < VERSION_LEAST)
    throw new UnusableDatabase(`it is version ${facts.version}: Tollgate needs PostgreSQL ${VERSION_LEAST} or later`);
  for (const name of DURABLE)
    if (facts[name] === "off")
      throw new UnusableDatabase(`${name} is off, so a crash could lose money that was acknowledged: set it on`);
  if (facts.encoding !== "UTF8")
    throw new UnusableDatabase(`its encoding is ${facts.encoding}: make a database with ENCODING 'UTF8'`);
  // A standby becomes the primary one day; until then another address has it.
  if (facts.standby) throw new Error("it is a standby, which takes no writes");
}

/** The way to PostgreSQL: bounded pools of connections, transactions with bounded times, and what runs once more. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { GatewayError } from "../../base/errors.js";
import { endsConnection, isLocked, isTaken, mayRunAgain, messageOf, refusalOf, UnusableDatabase } from "./failure.js";
import { checkServer } from "./server-check.js";
import { needsStandIn, STAND_IN, withNul, withoutNul } from "../nul-escape.js";
import type { Sql } from "./sql.js";

const CONNECT_MS = 5_000;
/** A statement of a request finds its rows by an index; one that takes longer waits for something that is wrong. */
const STATEMENT_MS = 5_000;
const LOCK_MS = 3_000;
/**
 * How long the server waits for the next word of a transaction. One that writes has locks, and who has them may be
 * suspended or cut off: others must get them before their own patience ends. One that only reads keeps nobody waiting.
 */
const IDLE_WRITER_MS = 1_500;
const IDLE_READER_MS = 10_000;
/** How much longer than the server's own bound, which says more, an answer is waited for. */
const ANSWER_MS = 2_000;
const IDLE_MS = 60_000;
/** Addresses change, and a failover should not be missed for ever. */
const LIFETIME_S = 1_800;
/** The batches of the ledger do not wait behind readers. */
const WRITERS_MAX = 3;
const READERS_MAX = 8;
/** As many as wait for SQLite: what bounds its callers, such as 1,024 keys looked up at once, bounds them here too. */
const WAITING_MAX = 10_000;
/**
 * What changes tables gives up a lock after this long and tries again later: while it waits, everybody who comes after
 * it waits behind it, and what it waits for may be a proof that reads for an hour.
 */
const TABLE_LOCK_MS = 100;
const TABLE_PAUSE_MS = 500;
/** How often a transaction runs again that others were in the way of. */
const RUNS_MAX = 10;

/** Integers of every size are bigints, as SQLite's are here, so that the rows of both are read by the same code. */
const BIGINT_OIDS: ReadonlySet<number> = new Set([20, 21, 23, 1700]);
const TEXT_OIDS: ReadonlySet<number> = new Set([25, 1043]);
const BYTES_OID = 17;
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text") => {
    if (BIGINT_OIDS.has(oid)) return BigInt;
    if (oid === BYTES_OID) return bytesOf;
    return TEXT_OIDS.has(oid) ? read : pg.types.getTypeParser(oid, format);
  }) as typeof pg.types.getTypeParser,
};

/** As SQLite gives them: no Buffer, which is spelled and compared otherwise. */
function bytesOf(text: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(text.slice(2), "hex");
  return new Uint8Array(buffer, byteOffset, length);
}

function read(text: string): string {
  return text.includes(STAND_IN) ? withNul(text) : text;
}

/** A text of a list too: batches of rows come as lists of their columns. */
function written(value: unknown): unknown {
  if (typeof value === "string") return needsStandIn(value) ? withoutNul(value) : value;
  return Array.isArray(value) ? value.map(written) : value;
}

/** What a row is, the program says where it asks. */
export type Row = object;

/** Runs statements: at once, or in a transaction. */
export interface Session {
  rows<Found extends Row>(statement: Sql, values?: readonly unknown[]): Promise<Found[]>;
  /** How many rows it changed. */
  run(statement: Sql, values?: readonly unknown[]): Promise<number>;
  /** Several statements at once, without values. */
  script(text: string): Promise<void>;
}

export interface TransactionOptions {
  /** Reads one moment, and writes nothing. */
  readonly snapshot?: boolean;
  /** In the place of the bounds of a request: a migration or a proof takes its time. */
  readonly statementMs?: number;
  readonly lockMs?: number;
}

export class Postgres implements Session {
  readonly #writers: pg.Pool;
  readonly #readers: pg.Pool;

  private constructor(
    config: pg.PoolConfig,
    /** True where a pooler stands between: nothing is kept from one transaction to the next. */
    readonly isPooled: boolean,
    /** The server and the database, without who asks. */
    readonly place: string,
  ) {
    const session = isPooled
      ? {}
      : {
          statement_timeout: STATEMENT_MS,
          lock_timeout: LOCK_MS,
          idle_in_transaction_session_timeout: IDLE_READER_MS,
        };
    // Statements that do not wait for each other's rows go out together.
    const client = { ...config, ...session, pipeline: true };
    const pooled = { ...client, idleTimeoutMillis: IDLE_MS, maxLifetimeSeconds: LIFETIME_S, verify };
    this.#writers = new pg.Pool({ ...pooled, max: WRITERS_MAX });
    this.#readers = new pg.Pool({ ...pooled, max: READERS_MAX });
    // A connection that broke while nobody used it is gone from its pool; whoever asks next makes another.
    for (const pool of [this.#writers, this.#readers]) {
      pool.on("error", () => undefined);
      // One that breaks while it is used tells its statement as well.
      pool.on("connect", (client) => void client.on("error", () => undefined));
    }
  }

  /** Rejects with an Error of one line, without the password, where the database cannot be used. */
  static async open(url: string): Promise<Postgres> {
    const config = configOf(url);
    const place = placeOf(url);
    const probe = new pg.Client(config);
    probe.on("error", () => undefined);
    try {
      await probe.connect();
      const { isPooled } = await checkServer(probe);
      return new Postgres(config, isPooled, place);
    } catch (error) {
      throw new Error(`PostgreSQL at ${place} cannot be used: ${messageOf(error)}`, { cause: error });
    } finally {
      await probe.end().catch(() => undefined);
    }
  }

  rows<Found extends Row>(statement: Sql, values: readonly unknown[] = []): Promise<Found[]> {
    return this.#withClient(this.#readers, (client) => this.#session(client).rows<Found>(statement, values));
  }

  run(statement: Sql, values: readonly unknown[] = []): Promise<number> {
    return this.#withClient(this.#readers, (client) => this.#session(client).run(statement, values));
  }

  script(text: string): Promise<void> {
    return this.#withClient(this.#readers, (client) => this.#session(client).script(text));
  }

  /** Runs it in one transaction, and again where another was in its way. Its changes are durable once this resolves. */
  transact<Result>(work: (session: Session) => Promise<Result>, options: TransactionOptions = {}): Promise<Result> {
    return this.#again(this.#readers, work, options);
  }

  /** The same for what changes tables, which tries for so long to get its locks without keeping anybody waiting. */
  async change<Result>(work: (session: Session) => Promise<Result>, changeMs: number): Promise<Result> {
    const options = { statementMs: changeMs, lockMs: TABLE_LOCK_MS };
    const endMs = performance.now() + changeMs;
    for (;;) {
      try {
        return await this.#again(this.#readers, work, options, mayRunAgain, isLocked);
      } catch (error) {
        if (!isLocked(error) || performance.now() > endMs) throw toldOf(error);
        await sleep(TABLE_PAUSE_MS);
      }
    }
  }

  /**
   * The same for a batch of the ledger, which does not wait for a reader's connection. It runs again also where another
   * made a row of its meanwhile: the next run finds that.
   */
  commit<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return this.#again(this.#writers, work, {}, (error) => mayRunAgain(error) || isTaken(error));
  }

  async close(): Promise<void> {
    await Promise.all([this.#writers.end(), this.#readers.end()]);
  }

  #session(client: pg.ClientBase): Session {
    return new ClientSession(client, this.isPooled);
  }

  async #again<Result>(
    pool: pg.Pool,
    work: (session: Session) => Promise<Result>,
    options: TransactionOptions,
    runsAgain: (error: unknown) => boolean = mayRunAgain,
    passes: (error: unknown) => boolean = () => false,
  ): Promise<Result> {
    for (let left = RUNS_MAX - 1; ; left -= 1) {
      try {
        return await this.#withClient(
          pool,
          (client) =>
            inTransaction(client, new ClientSession(client, this.isPooled, options.statementMs), work, options),
          (error) => runsAgain(error) || passes(error),
        );
      } catch (error) {
        if (passes(error)) throw error;
        if (left === 0 || !runsAgain(error)) throw toldOf(error);
      }
    }
  }

  /** What `passes` goes on as it is; every other error becomes what the program knows. */
  async #withClient<Result>(
    pool: pg.Pool,
    work: (client: pg.ClientBase) => Promise<Result>,
    passes: (error: unknown) => boolean = () => false,
  ): Promise<Result> {
    if (pool.waitingCount >= WAITING_MAX)
      throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "the database is behind" });
    let client: pg.PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      throw unavailable(error);
    }
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(endsConnection(error));
      throw passes(error) ? error : toldOf(error);
    }
  }
}

class ClientSession implements Session {
  /** What must have gone well before an answer to this session counts. */
  #begun: Promise<unknown> | undefined;

  constructor(
    private readonly client: pg.ClientBase,
    private readonly isPooled: boolean,
    private readonly statementMs = STATEMENT_MS,
  ) {}

  /** Begins a transaction. The first statements go out behind it, and do not wait for its answer. */
  begin(text: string): Promise<unknown> {
    this.#begun = this.client.query(text);
    // Where it fails, each statement behind it says so.
    this.#begun.catch(() => undefined);
    return this.#begun;
  }

  async rows<Found extends Row>(statement: Sql, values: readonly unknown[] = []): Promise<Found[]> {
    return (await this.#ask<Found>(statement, values)).rows;
  }

  async run(statement: Sql, values: readonly unknown[] = []): Promise<number> {
    return (await this.#ask(statement, values)).rowCount ?? 0;
  }

  async script(text: string): Promise<void> {
    const config = { text, query_timeout: this.statementMs + ANSWER_MS };
    await this.client.query(config);
  }

  async #ask<Found extends Row>({ text, name }: Sql, values: readonly unknown[]): Promise<pg.QueryResult<Found>> {
    // Behind a pooler the next transaction may be on a session that never heard of the name.
    const named = this.isPooled || name === "" ? {} : { name };
    const config = { ...named, text, values: values.map(written), query_timeout: this.statementMs + ANSWER_MS };
    const asked = this.client.query<Found>(config);
    if (this.#begun === undefined) return asked;
    const [found] = await Promise.all([asked, this.#begun]);
    return found;
  }
}

/** The bounds hold for the transaction alone, so that they hold behind a pooler as well. */
async function inTransaction<Result>(
  client: pg.ClientBase,
  session: ClientSession,
  work: (session: Session) => Promise<Result>,
  { snapshot = false, statementMs = STATEMENT_MS, lockMs = Math.max(LOCK_MS, statementMs / 2) }: TransactionOptions,
): Promise<Result> {
  const isQuick = !snapshot && statementMs === STATEMENT_MS;
  const begun = session.begin(
    `BEGIN ISOLATION LEVEL ${snapshot ? "REPEATABLE READ READ ONLY" : "READ COMMITTED"};` +
      `SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${lockMs};` +
      `SET LOCAL idle_in_transaction_session_timeout = ${isQuick ? IDLE_WRITER_MS : IDLE_READER_MS}`,
  );
  try {
    const result = await work(session);
    await begun;
    await client.query("COMMIT");
    return result;
  } catch (error) {
    if (!endsConnection(error)) await client.query("ROLLBACK");
    throw error;
  }
}

/** Each new connection: after a failover another server may answer than the one that was looked at. */
function verify(client: pg.PoolClient, done: (error?: Error) => void): void {
  checkServer(client).then(
    () => done(),
    (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
  );
}

function configOf(url: string): pg.PoolConfig {
  const asked = new URL(url);
  // `sslmode` means what PostgreSQL's own clients take it for.
  asked.searchParams.set("uselibpqcompat", "true");
  return {
    connectionString: asked.href,
    types,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS + ANSWER_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    fallback_application_name: "tollgate",
  };
}

/** The server and the database of an address, without who asks and what opens it. */
function placeOf(url: string): string {
  const { host, pathname, searchParams } = new URL(url);
  return `${host === "" ? (searchParams.get("host") ?? "localhost") : host}${pathname}`;
}

/** What a person has to do something about stays as it is. */
function toldOf(error: unknown): unknown {
  return error instanceof UnusableDatabase ? error : refusalOf(error);
}

function unavailable(error: unknown): GatewayError {
  const cause = error instanceof UnusableDatabase ? error : new Error(messageOf(error), { cause: error });
  return new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause });
}

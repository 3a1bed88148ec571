/** The one place that knows which package brings SQLite: ready-made binaries, so that no install needs a compiler. */
import { DatabaseSync, type StatementSyncInstance } from "@photostructure/sqlite";
import { needsStandIn, STAND_IN, withNul, withoutNul } from "../nul-escape.js";

/** What a statement takes and gives. */
type SqlValue = string | number | bigint | Uint8Array | null;
type Bound = readonly unknown[];

/** What SQLite refused. */
export class SqliteError extends Error {
  /** The name of SQLite's primary code, such as SQLITE_BUSY. */
  readonly code: string;

  constructor(message: string, code: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** The primary codes that mean something to us, with what SQLite says where only that reaches us. */
const CODES: readonly { readonly number: number; readonly name: string; readonly says: string }[] = [
  { number: 5, name: "SQLITE_BUSY", says: "database is locked" },
  { number: 6, name: "SQLITE_LOCKED", says: "database table is locked" },
  { number: 7, name: "SQLITE_NOMEM", says: "out of memory" },
  { number: 8, name: "SQLITE_READONLY", says: "attempt to write a readonly database" },
  { number: 10, name: "SQLITE_IOERR", says: "disk I/O error" },
  { number: 11, name: "SQLITE_CORRUPT", says: "database disk image is malformed" },
  { number: 13, name: "SQLITE_FULL", says: "database or disk is full" },
  { number: 14, name: "SQLITE_CANTOPEN", says: "unable to open database file" },
  { number: 19, name: "SQLITE_CONSTRAINT", says: "constraint failed" },
  { number: 26, name: "SQLITE_NOTADB", says: "file is not a database" },
];

/** SQLite's errors as ours; every other one as it is. */
function known(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const number = "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
  const found = CODES.find(({ number: one, says }) =>
    number === undefined ? error.message.includes(says) : one === number,
  );
  if (found !== undefined) return new SqliteError(error.message, found.name, error);
  const isOfSqlite = "code" in error && error.code === "ERR_SQLITE_ERROR";
  return isOfSqlite ? new SqliteError(error.message, "SQLITE_ERROR", error) : error;
}

/**
 * A statement, prepared when it is first used: most of what a gateway can ask of its database it is not asked in hours.
 * Integers come as its database's options say.
 */
export class Statement<Values extends Bound, Row> {
  readonly #prepare: () => StatementSyncInstance;
  #prepared: StatementSyncInstance | undefined;

  constructor(prepare: () => StatementSyncInstance) {
    this.#prepare = prepare;
  }

  get #native(): StatementSyncInstance {
    this.#prepared ??= this.#prepare();
    return this.#prepared;
  }

  /** Runs it where nobody asks what it changed: for an answer to that, `run` takes a third longer. */
  write(...values: Values): void {
    try {
      this.#native.get(...bound(values));
    } catch (error) {
      throw known(error);
    }
  }

  run(...values: Values): { readonly changes: number } {
    try {
      return { changes: Number(this.#native.run(...bound(values)).changes) };
    } catch (error) {
      throw known(error);
    }
  }

  get(...values: Values): Row | undefined {
    try {
      return told(this.#native.get(...bound(values))) as Row | undefined;
    } catch (error) {
      throw known(error);
    }
  }

  all(...values: Values): Row[] {
    try {
      const rows: unknown[] = this.#native.all(...bound(values));
      rows.forEach(told);
      return rows as Row[];
    } catch (error) {
      throw known(error);
    }
  }

  *iterate(...values: Values): Generator<Row, void> {
    try {
      for (const row of this.#native.iterate(...bound(values))) yield told(row) as Row;
    } catch (error) {
      throw known(error);
    }
  }

  /** The same statement, whose rows are lists of values. */
  raw<List = Row>(): Statement<Values, List> {
    return new Statement<Values, List>(() => {
      const native = this.#prepare();
      native.setReturnArrays(true);
      return native;
    });
  }

  /** The same statement, of which only the first column of each row is taken. */
  pluck(): Column<Values, Row> {
    return new Column<Values, Row>(this.raw<readonly [Row]>());
  }
}

/** The first column of a statement's rows. */
class Column<Values extends Bound, Value> {
  readonly #rows: Statement<Values, readonly [Value]>;

  constructor(rows: Statement<Values, readonly [Value]>) {
    this.#rows = rows;
  }

  get(...values: Values): Value | undefined {
    return this.#rows.get(...values)?.[0];
  }

  all(...values: Values): Value[] {
    return this.#rows.all(...values).map(([value]) => value);
  }
}

/** The values as the package takes them: a text that is read again is the one that was written, and hashed. */
function bound(values: Bound): SqlValue[] {
  for (const value of values) {
    if (typeof value === "string" && needsStandIn(value))
      return values.map((one) => (typeof one === "string" ? withoutNul(one) : one)) as SqlValue[];
  }
  return values as SqlValue[];
}

/** The row as it was written. It is the package's own, made for this read. */
function told(row: unknown): unknown {
  if (typeof row !== "object" || row === null) return row;
  for (const name in row) {
    const value: unknown = Reflect.get(row, name);
    if (typeof value === "string" && value.includes(STAND_IN)) Reflect.set(row, name, withNul(value));
  }
  return row;
}

export interface DatabaseOptions {
  readonly readonly?: boolean;
  /** How long a lock is waited for, in milliseconds. */
  readonly timeoutMs?: number;
  /** Integers come as bigints. Absent: as numbers. */
  readonly bigints?: boolean;
}

const TIMEOUT_MS = 5000;

/** An open database. Every method throws SqliteError for what SQLite refuses. */
export class Sqlite {
  readonly name: string;
  readonly #native;

  constructor(path: string, { readonly = false, timeoutMs = TIMEOUT_MS, bigints = false }: DatabaseOptions = {}) {
    this.name = path;
    try {
      this.#native = new DatabaseSync(path, {
        readOnly: readonly,
        timeout: timeoutMs,
        readBigInts: bigints,
        allowUnknownNamedParameters: true,
      });
    } catch (error) {
      throw known(error);
    }
  }

  prepare<Values extends Bound = unknown[], Row = unknown>(sql: string): Statement<Values, Row> {
    return new Statement(() => this.#native.prepare(sql));
  }

  exec(sql: string): void {
    try {
      this.#native.exec(sql);
    } catch (error) {
      throw known(error);
    }
  }

  /** Sets or asks one of SQLite's own settings, and gives its first value. */
  pragma(text: string): unknown {
    return this.prepare(`PRAGMA ${text}`).pluck().get();
  }

  /** The function in a transaction that takes the writer's place at once; what throws leaves nothing behind. */
  transaction<Arguments extends Bound, Result>(run: (...args: Arguments) => Result): (...args: Arguments) => Result {
    const [begin, commit, rollback] = ["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"].map((sql) => this.prepare(sql));
    return (...args) => {
      begin?.write();
      try {
        const result = run(...args);
        commit?.write();
        return result;
      } catch (error) {
        // SQLite may have ended it already, as where the disk is full.
        if (this.#native.isTransaction) rollback?.write();
        throw error;
      }
    };
  }

  /**
   * The package cannot end statements, so SQLite keeps the file open until they are collected. What the connection had
   * locked is free at once, because nothing is left of its transaction.
   */
  close(): void {
    if (this.#native.isTransaction) this.#native.exec("ROLLBACK");
    this.#native.close();
  }
}

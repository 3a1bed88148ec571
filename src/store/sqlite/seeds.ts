/** What a settings file makes and changes, in one transaction: a file is applied whole or not at all. */
import assert from "node:assert";
import { failpoint } from "../../base/failpoint.js";
import { decide } from "../../ledger/state.js";
import type { SqliteAccounts } from "./accounts.js";
import type { SqliteAudit } from "./audit.js";
import type { BookReader } from "./book-reader.js";
import type { BookWriter } from "./book-writer.js";
import type { Sqlite } from "./binding.js";
import type { SqliteKeys } from "./keys.js";
import { refusalOf, type SeedOutcome, type SeedRows } from "../seed-rows.js";

export interface SeedTables {
  readonly reader: BookReader;
  readonly writer: BookWriter;
  readonly accounts: SqliteAccounts;
  readonly keys: SqliteKeys;
  readonly audit: SqliteAudit;
}

/** Ends the transaction, so that nothing of it is left. */
class Undone extends Error {
  constructor(readonly outcome: SeedOutcome) {
    super(`the settings file is not applied: ${outcome.refused}`);
  }
}

export class SqliteSeeds {
  readonly #apply;

  constructor(database: Sqlite, tables: SeedTables) {
    this.#apply = database.transaction((rows: SeedRows): SeedOutcome => {
      const outcome = applied(rows, tables);
      if (outcome.refused !== undefined) throw new Undone(outcome);
      return outcome;
    });
  }

  apply(rows: SeedRows): SeedOutcome {
    try {
      return this.#apply(rows);
    } catch (error) {
      if (error instanceof Undone) return error.outcome;
      throw error;
    }
  }
}

function applied(rows: SeedRows, { reader, writer, accounts, keys, audit }: SeedTables): SeedOutcome {
  const edited = rows.accountEdits.map(({ id, change, etag }) => accounts.setSettings(id, change, etag, rows.act));
  const opened = rows.accounts.map((account) => accounts.create(account, rows.act));
  const book = reader.start();
  reader.read(book, rows.credits);
  const credits = rows.credits.map((credit) => decide(book, credit));
  writer.write(book);
  for (const event of book.events) audit.append(event);
  failpoint("during_commit");
  for (const { row, event } of rows.keys) if (keys.findByDigest(row.digest) === undefined) keys.create(row, event);
  const replaced = rows.keyEdits.map(({ row, event }) => keys.replace(row, event));
  return {
    refused: refusalOf(credits, [...edited, ...replaced]),
    accounts: rows.accounts.map(({ id }, index) => ({ row: there(accounts.get(id)), opened: opened[index] === true })),
    credits,
    keys: rows.keys.map(({ row }) => there(keys.findByDigest(row.digest))),
  };
}

function there<Row>(row: Row | undefined): Row {
  assert(row !== undefined, "a row that was just made is not there");
  return row;
}

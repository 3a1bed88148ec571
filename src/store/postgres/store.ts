/** The PostgreSQL driver: a store that many nodes share. */
import assert from "node:assert";
import type { AuditEvent } from "../../audit/act.js";
import type { AsyncTableCalls } from "../calls.js";
import { pagedStore } from "../paged-store.js";
import { refusalOf } from "../seed-rows.js";
import type { SeedOutcome, SeedRows, Store, VerifyReport } from "../store.js";
import { alertCalls } from "./alerts.js";
import { PostgresAnswers, type AnswersOptions } from "./answers.js";
import { appendAudit, auditCalls } from "./audit.js";
import { Anchors } from "./anchors.js";
import { Batches } from "./batches.js";
import { Postgres, type Session } from "./connection.js";
import { figureCalls } from "./figures.js";
import { entryCalls } from "./entries.js";
import { type NodeNotes, nodeNotes } from "./nodes.js";
import { runPeople } from "./people.js";
import { migrate } from "./migration.js";
import { MIGRATIONS } from "./schema.js";
import { sql } from "./sql.js";
import {
  accountCalls,
  createAccount,
  createKey,
  findAccount,
  findKey,
  keyCalls,
  replaceKey,
  requestCalls,
  setAccount,
} from "./tables.js";
import { timeOf } from "./time.js";
import { verifyDatabase } from "./verify.js";

const RECALLED = sql("SELECT id FROM lease WHERE node_id = $1 AND recalled = 1");
const PROBE = sql("UPDATE probe SET count = count + 1 WHERE id = 1");

export interface PostgresOptions {
  /** `postgresql://user:password@host:port/database`. */
  readonly url: string;
  /** As the ledger names itself. */
  readonly nodeId: string;
  /** Derived from the root secret in force, and from the other one while it is rotated. None: not compared. */
  readonly keyChecks?: readonly string[] | undefined;
  /** Where the last anchor is kept too, absolute. Absent: in the database alone. */
  readonly witnessPath?: string | undefined;
  /** Opens also what has lost state, and writes that down. */
  readonly acceptLoss?: boolean | undefined;
  /** Called once where a loss was accepted. */
  readonly onLossAccepted?: ((found: string) => void) | undefined;
  /** Called where no anchor could be made, or noted. */
  readonly onAnchorError?: ((error: unknown) => void) | undefined;
}

export interface PostgresStore extends Store {
  /** Answers with an Idempotency-Key, over the same connections. The store's end is theirs. */
  answers(options: AnswersOptions): PostgresAnswers;
  /** What the nodes say of themselves. */
  readonly nodes: NodeNotes;
  /** The time of day of the database's machine, in milliseconds. */
  time(): Promise<number>;
}

/** Opens the database, and brings it to the newest schema. Rejects with an Error of one line where it cannot. */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { url, nodeId, keyChecks = [] } = options;
  const database = await Postgres.open(url);
  let anchors: Anchors;
  try {
    await migrate(database, MIGRATIONS, keyChecks);
    anchors = await Anchors.start(database, {
      witnessPath: options.witnessPath,
      keyCheck: keyChecks[0] ?? "",
      acceptLoss: options.acceptLoss ?? false,
      onLossAccepted: (found) => options.onLossAccepted?.(found),
      onError: (error) => options.onAnchorError?.(error),
    });
  } catch (error) {
    await database.close();
    throw error;
  }
  const batches = new Batches(database, nodeId);
  const { ledgerReads, ...tables } = pagedStore(tableCalls(database, batches));
  let verifying: Promise<VerifyReport> | undefined;
  return {
    ...tables,
    ledger: {
      ...ledgerReads,
      commit: (operations) => batches.commit(operations),
      preview: (operations) => batches.preview(operations),
      recalled: async (nodeId) => (await database.rows<{ id: string }>(RECALLED, [nodeId])).map(({ id }) => id),
      verify: () => {
        // A proof reads everything; those who ask while one runs share it.
        verifying ??= verifyDatabase(database).finally(() => (verifying = undefined));
        return verifying;
      },
    },
    nodes: nodeNotes(database),
    time: () => timeOf(database),
    answers: (answers) => new PostgresAnswers(database, nodeId, answers),
    close: async () => {
      await batches.close();
      await anchors.close();
      await database.close();
    },
  };
}

function tableCalls(database: Postgres, batches: Batches): AsyncTableCalls {
  return {
    ...accountCalls(database),
    ...keyCalls(database),
    ...auditCalls(database),
    ...figureCalls(database),
    ...requestCalls(database),
    ...entryCalls(database),
    people: (name, args) => runPeople(database, name, args),
    ...alertCalls(database),
    seed: (rows) => seed(database, batches, rows),
    check: async () => {
      assert((await database.run(PROBE)) === 1, "the row that is written to see whether rows can be is gone");
    },
  };
}

/** In one transaction: a file is applied whole or not at all. */
async function seed(database: Postgres, batches: Batches, rows: SeedRows): Promise<SeedOutcome> {
  let undone: SeedOutcome | undefined;
  try {
    return await database.transact(async (session) => {
      undone = undefined;
      const outcome = await applied(session, batches, rows);
      if (outcome.refused === undefined) return outcome;
      undone = outcome;
      throw new Error(`the settings file is not applied: ${outcome.refused}`);
    });
  } catch (error) {
    if (undone !== undefined) return undone;
    throw error;
  }
}

async function applied(session: Session, batches: Batches, rows: SeedRows): Promise<SeedOutcome> {
  const events: AuditEvent[] = [];
  const edited: Parameters<typeof refusalOf>[1][number][] = [];
  for (const { id, change, etag } of rows.accountEdits)
    edited.push(await setAccount(session, id, change, { etag, act: rows.act, events }));
  for (const { row, event } of rows.keyEdits) {
    edited.push(await replaceKey(session, row));
    events.push(event);
  }
  const opened: boolean[] = [];
  for (const account of rows.accounts) {
    const event = await createAccount(session, account, rows.act);
    opened.push(event !== undefined);
    if (event !== undefined) events.push(event);
  }
  for (const { row, event } of rows.keys) {
    if ((await findKey(session, row.digest)) !== undefined) continue;
    if (await createKey(session, row)) events.push(event);
  }
  const { credits: asked } = rows;
  if (asked.length === 0) await appendAudit(session, events);
  const credits = asked.length === 0 ? [] : await batches.within(session, asked, events);
  const accounts: SeedOutcome["accounts"][number][] = [];
  for (const [index, { id }] of rows.accounts.entries())
    accounts.push({ row: there(await findAccount(session, id)), opened: opened[index] === true });
  const keys: SeedOutcome["keys"][number][] = [];
  for (const { row } of rows.keys) keys.push(there(await findKey(session, row.digest)));
  return { refused: refusalOf(credits, edited), accounts, credits, keys };
}

function there<Row>(row: Row | undefined): Row {
  assert(row !== undefined, "a row that was just made is not there");
  return row;
}

/** What a data directory lost since its ledger last wrote there, as its witness tells. */
import { UnusableData } from "../../base/unusable-data.js";
import assert from "node:assert";
import { SqliteAudit } from "./audit.js";
import type { Sqlite } from "./binding.js";
import { acceptedLoss, INSERT_LOSS, NEXT_LOSS, type NextLoss } from "../accepted-loss.js";
import { hexOf } from "../digest.js";
import type { WitnessNote } from "../witness.js";

/** What is lost, and where it must come back from. */
export interface Loss {
  readonly found: string;
  readonly restore: string;
}

const DATABASE = "tollgate.db, with tollgate.db-wal where there was one,";
const SECRET = "the root secret (the file 'secret', or TOLLGATE_SECRET)";

/** What a person is told to do. */
export function lossError(directory: string, losses: readonly Loss[]): Error {
  const restore = losses.map((loss) => loss.restore).join(" and ");
  return new UnusableData(
    `The data directory '${directory}' has lost state: ${foundIn(losses)}. Restore ${restore} from a backup, or start` +
      " without what is lost, once: tollgate serve --accept-loss",
  );
}

export function foundIn(losses: readonly Loss[]): string {
  return losses.map(({ found }) => found).join("; ");
}

/** The database's file is not there, or has nothing in it. */
export function lostDatabase(how: "gone" | "empty", note: WitnessNote | "damaged"): Loss {
  const had = note === "damaged" ? "" : `, and it had ${note.head.sequence} transfers`;
  return { found: `the database is ${how}${had}`, restore: DATABASE };
}

/** The database and its witness are gone together, and nothing but other files tells that they were there. */
export function lostTogether(traces: readonly string[]): Loss {
  const found = `the database and its witness are gone, but of a ledger there is still ${traces.join(", ")}`;
  return { found, restore: `${DATABASE} and witness.json` };
}

/** Every ledger has one, from its first start on. */
export function lostWitness(how: "gone" | "damaged"): Loss {
  return { found: `its witness.json is ${how}, so nobody knows what else is lost`, restore: "witness.json" };
}

/** Compares an open database with what its witness says. */
export function lossOf(database: Sqlite, { databaseId, head }: WitnessNote): Loss | undefined {
  if (identityOf(database) !== databaseId)
    return { found: "the database is not the one that was here (witness.json)", restore: DATABASE };
  const last = Number(database.prepare("SELECT coalesce(max(sequence), 0) FROM transfer").pluck().get());
  if (last < head.sequence) {
    const found = `the database ends at transfer ${last}, but transfer ${head.sequence} was written (witness.json)`;
    return { found, restore: DATABASE };
  }
  const hash = database
    .prepare<[number], Uint8Array>("SELECT hash FROM transfer WHERE sequence = ?")
    .pluck()
    .get(head.sequence);
  if (head.sequence === 0 || (hash !== undefined && hexOf(hash) === head.hash)) return undefined;
  return { found: `transfer ${head.sequence} is not the one that was written (witness.json)`, restore: DATABASE };
}

/** No root secret is the one of before. An empty check is no secret's. */
export function lostSecret(keyChecks: readonly string[], note: WitnessNote): Loss | undefined {
  if (keyChecks[0] === "" || note.keyCheck === "" || keyChecks.includes(note.keyCheck)) return undefined;
  const found = "the root secret is not the one that was used here, so that no key made with it would be known";
  return { found, restore: SECRET };
}

function identityOf(database: Sqlite): string | undefined {
  return database.prepare<[], string>("SELECT database_id FROM identity").pluck().get();
}

/** Writes down for good that an operator accepted a loss. */
export function recordLoss(database: Sqlite, found: string, nowMs: number): void {
  const audit = new SqliteAudit(database);
  database.transaction(() => {
    const next = database.prepare<[], NextLoss>(NEXT_LOSS).get();
    assert(next !== undefined, "what is counted has a next number");
    const { values, event } = acceptedLoss(next, "store/sqlite", found, nowMs);
    database.prepare(INSERT_LOSS).run(...values);
    audit.append(event);
  })();
}

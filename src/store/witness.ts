/**
 * The witness: a small file beside the database that says how far its ledger had come, so that a start finds out what
 * was lost since. It says only what the disk had already, so it may lag behind the database and never leads it.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { CHAIN_START, type ChainHead } from "../ledger/transfer.js";
import { WITNESS_NAME } from "./data-directory.js";
import type { Sqlite } from "./sqlite-file.js";

/** What the file says: which database, whose root secret, and the last transfer that the disk was known to have. */
export interface WitnessNote {
  readonly databaseId: string;
  /** Derived from the root secret; empty where none was told. */
  readonly keyCheck: string;
  readonly head: ChainHead;
}

/** How long it lags at most, while the disk keeps up. */
const LAG_MS = 100;
/** One sector, always written whole: no kill leaves half of it. */
const NOTE_BYTES = 512;
const NOTE =
  /^\{"database":"([0-9a-f]{32})","key_check":"([0-9a-f]{64}|)","sequence":(\d{1,15}),"hash":"([0-9a-f]{64})"\}\s*$/;

/** Undefined where there is no witness, and "damaged" where it is not one. */
export function readWitness(directory: string): WitnessNote | "damaged" | undefined {
  let text: string;
  try {
    text = readFileSync(join(directory, WITNESS_NAME), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  const [, databaseId, keyCheck, sequence, hash] = NOTE.exec(text) ?? [];
  if (databaseId === undefined || keyCheck === undefined || hash === undefined) return "damaged";
  return { databaseId, keyCheck, head: { sequence: Number(sequence), hash } };
}

/** The witness of an open database, kept by the thread that writes it. */
export class Witness {
  readonly #directory: string;
  readonly #databaseId: string;
  readonly #keyCheck: string;
  readonly #newest;
  #file: number | undefined;
  #noted = -1;
  #timer: NodeJS.Timeout | undefined;
  /** Something may have come to the disk since the last note. */
  #isLate = false;
  #onDue: () => boolean = () => true;

  constructor(directory: string, database: Sqlite, keyCheck: string) {
    this.#directory = directory;
    this.#databaseId = database.prepare<[], string>("SELECT database_id FROM identity").pluck().get() ?? "";
    this.#keyCheck = keyCheck;
    this.#newest = database.prepare<[], { sequence: bigint; hash: Buffer }>(
      "SELECT sequence, hash FROM transfer ORDER BY sequence DESC LIMIT 1",
    );
  }

  /**
   * Notes the newest transfer. All that is written must be on the disk. From now on `onDue` is called where a note is
   * due and no sync came to make it; it answers false where it could make none.
   */
  open(onDue: () => boolean): void {
    this.#onDue = onDue;
    this.#replace(this.newest());
  }

  newest(): ChainHead {
    const row = this.#newest.get();
    return row === undefined ? CHAIN_START : { sequence: Number(row.sequence), hash: row.hash.toString("hex") };
  }

  /** The transfer to note once it is on the disk. Undefined where one was noted just now. */
  take(): ChainHead | undefined {
    if (this.#timer === undefined) return this.newest();
    this.#isLate = true;
    return undefined;
  }

  /** Notes a transfer that is on the disk. */
  note(head: ChainHead | undefined): void {
    if (head === undefined || head.sequence <= this.#noted || this.#file === undefined) return;
    try {
      writeSync(this.#file, this.#spell(head), 0, "utf8");
      this.#noted = head.sequence;
    } catch {
      // It lags behind until the next note, which is all that a witness may do. The database tells of a bad disk.
    }
    this.#isLate = false;
    this.#wait();
  }

  /** The last note, for good. Undefined where nobody knows what the disk has. */
  close(head: ChainHead | undefined): void {
    clearTimeout(this.#timer);
    if (head !== undefined) this.#replace(head);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (!this.#isLate || this.#onDue()) return;
      this.#isLate = true;
      this.#wait();
    }, LAG_MS).unref();
  }

  /** Puts a new file in the place of the old one, whatever happened to that. */
  #replace(head: ChainHead): void {
    const path = join(this.#directory, WITNESS_NAME);
    const draft = `${path}.draft`;
    const file = openSync(draft, "w", 0o600);
    writeSync(file, this.#spell(head));
    fsyncSync(file);
    renameSync(draft, path);
    const directory = openSync(this.#directory, "r");
    fsyncSync(directory);
    closeSync(directory);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = file;
    this.#noted = head.sequence;
  }

  #spell({ sequence, hash }: ChainHead): string {
    const note = { database: this.#databaseId, key_check: this.#keyCheck, sequence, hash };
    return `${JSON.stringify(note).padEnd(NOTE_BYTES - 1)}\n`;
  }
}

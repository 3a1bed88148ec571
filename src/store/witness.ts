/**
 * The witness: a small file that says how far its ledger had come, so that a start finds out what was lost since. It
 * says what the disk has, and says it before anybody is told: it never leads the database, and knows every transfer
 * that was acknowledged.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { CHAIN_START, type ChainHead } from "../ledger/hash-chain.js";
import { hexOf } from "./digest.js";
import type { Sqlite } from "./sqlite/binding.js";

/** What the file says: which database, whose root secret, and the last transfer that the disk was known to have. */
export interface WitnessNote {
  readonly databaseId: string;
  /** Derived from the root secret; empty where none was told. */
  readonly keyCheck: string;
  readonly head: ChainHead;
}

/** One sector, always written whole: no kill leaves half of it. */
const NOTE_BYTES = 512;
const NOTE =
  /^\{"database":"([0-9a-f]{32})","key_check":"([0-9a-f]{64}|)","sequence":(\d{1,15}),"hash":"([0-9a-f]{64})"\}\s*$/;

/**
 * Undefined where there is no witness, and "damaged" where it is not one. Throws an Error of one line where none could
 * be kept there: a volume that is not mounted is no first start.
 */
export function readWitness(path: string): WitnessNote | "damaged" | undefined {
  if (!existsSync(path)) {
    if (existsSync(dirname(path))) return undefined;
    throw new Error(`The witness '${path}' cannot be kept: mount or make its directory, or change TOLLGATE_WITNESS.`);
  }
  if (!statSync(path).isFile()) throw new Error(`The witness '${path}' is not a file: change TOLLGATE_WITNESS.`);
  const [, databaseId, keyCheck, sequence, hash] = NOTE.exec(readFileSync(path, "utf8")) ?? [];
  if (databaseId === undefined || keyCheck === undefined || hash === undefined) return "damaged";
  return { databaseId, keyCheck, head: { sequence: Number(sequence), hash } };
}

/** Puts a note in the place of the one before, whole or not at all. */
export function replaceWitness(path: string, { databaseId, keyCheck, head }: WitnessNote): void {
  const text = `${startOf(databaseId, keyCheck)}${head.sequence},"hash":"${head.hash}"}`;
  closeSync(putFile(path, Buffer.from(`${text.padEnd(NOTE_BYTES - 1)}\n`)));
}

function startOf(databaseId: string, keyCheck: string): string {
  return `{"database":"${databaseId}","key_check":"${keyCheck}","sequence":`;
}

/** The new file, open, whatever happened to the old one. */
function putFile(path: string, bytes: Uint8Array): number {
  const draft = `${path}.draft`;
  const file = openSync(draft, "w", 0o600);
  writeSync(file, bytes);
  fsyncSync(file);
  renameSync(draft, path);
  const directory = openSync(dirname(path), "r");
  fsyncSync(directory);
  closeSync(directory);
  return file;
}

/** The witness of an open database, kept by the thread that writes it. */
export class Witness {
  readonly #path: string;
  readonly #former: string;
  /** What each note begins with. */
  readonly #start: string;
  readonly #newest;
  /** The note; its sequence only grows, so that a later one covers an earlier one. */
  readonly #bytes = Buffer.alloc(NOTE_BYTES, " ");
  #file: number | undefined;
  #noted = -1;
  #written: ChainHead | undefined;

  /** `former` is where it may have been before; nothing is left there. */
  constructor(path: string, database: Sqlite, keyCheck: string, former = path) {
    this.#path = path;
    this.#former = former;
    const databaseId = database.prepare<[], string>("SELECT database_id FROM identity").pluck().get() ?? "";
    this.#start = startOf(databaseId, keyCheck);
    this.#bytes.write("\n", NOTE_BYTES - 1);
    this.#newest = database.prepare<[], { sequence: bigint; hash: Uint8Array }>(
      "SELECT sequence, hash FROM transfer ORDER BY sequence DESC LIMIT 1",
    );
  }

  /** Notes the newest transfer. All that is written must be on the disk. */
  open(): void {
    this.#replace(this.newest());
    if (this.#former !== this.#path) rmSync(this.#former, { force: true });
  }

  /** What the last commit ended with, so that nobody need ask the database; undefined where that is not at hand. */
  wrote(head: ChainHead | undefined): void {
    this.#written = head;
  }

  /** The newest transfer, to be noted once it is on the disk. */
  newest(): ChainHead {
    if (this.#written !== undefined) return this.#written;
    const row = this.#newest.get();
    return row === undefined ? CHAIN_START : { sequence: Number(row.sequence), hash: hexOf(row.hash) };
  }

  /** Notes a transfer that is on the disk, and that nobody was told of yet. */
  note(head: ChainHead | undefined): void {
    if (head === undefined || head.sequence <= this.#noted || this.#file === undefined) return;
    try {
      writeSync(this.#file, this.#spell(head), 0, NOTE_BYTES, 0);
      this.#noted = head.sequence;
    } catch {
      // It lags behind until the next note, which is all that a witness may do. The database tells of a bad disk.
    }
  }

  /** The last note, for good. Undefined where nobody knows what the disk has. */
  close(head: ChainHead | undefined): void {
    if (head !== undefined) this.#replace(head);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #replace(head: ChainHead): void {
    const file = putFile(this.#path, this.#spell(head));
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = file;
    this.#noted = head.sequence;
  }

  #spell({ sequence, hash }: ChainHead): Buffer {
    this.#bytes.write(`${this.#start}${sequence},"hash":"${hash}"}`);
    return this.#bytes;
  }
}

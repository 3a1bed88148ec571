/**
 * Archives transfers by month: first a month's files are written, put on the disk, and proven by reading them back;
 * then the database notes that they are there; and only then the transfers go, account by account, some at a time. A
 * run that was killed is gone on with by the next.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Act } from "../../audit/act.js";
import { failpoint } from "../../base/failpoint.js";
import { CHAIN_START } from "../../ledger/hash-chain.js";
import { makeDirectory } from "../data-directory.js";
import { hexOf } from "../digest.js";
import type { ArchiveAccount, ArchiveDatabase, ArchiveRow } from "./database.js";
import { LineFile, readLines } from "./files.js";
import { fileName, KindSums, manifest, manifestName, transferLine } from "./format.js";
import { lockArchive } from "./lock.js";
import { monthOf, monthAfter, startOf } from "./month.js";
import { proveMonth } from "./proof.js";

const ACCOUNTS_AT_ONCE = 500;
/** How many transfers are read at once, and how many places one transaction takes on at most, and at least. */
const PLACES_AT_ONCE = 500;
const PLACES_LEAST = 50;
/** The calls of an account wait for such a transaction: one that takes longer is followed by smaller ones. */
const STEP_MS = 100;

export interface ArchiveOptions {
  readonly database: ArchiveDatabase;
  /** Where the files go, and where those of before are. */
  readonly directory: string;
  /** A month: what is older than its first moment is archived. */
  readonly before: string;
  readonly act: Act;
  readonly nowMs: number;
  onProgress(month: string, transfers: number): void;
}

export interface Archived {
  readonly months: readonly string[];
  readonly transferCount: number;
}

/** Rejects with an Error of one line. */
export async function archiveLedger(options: ArchiveOptions): Promise<Archived> {
  const { directory, before, nowMs } = options;
  if (before > monthOf(nowMs)) throw new Error(`${before} is not here yet: only months that are over are archived.`);
  makeDirectory(directory);
  const lock = lockArchive(directory);
  try {
    return await new Archiver(options).run(startOf(before));
  } finally {
    lock.close();
  }
}

class Archiver {
  readonly #database: ArchiveDatabase;
  readonly #directory: string;
  /** How many places the next transaction takes on. */
  #places = PLACES_AT_ONCE;

  constructor(private readonly options: ArchiveOptions) {
    this.#database = options.database;
    this.#directory = options.directory;
  }

  async run(untilMs: number): Promise<Archived> {
    let last = (await this.#database.archives()).at(-1);
    const months: string[] = [];
    let transferCount = 0;
    if (last !== undefined) {
      await this.#checkThere(last);
      await this.#takeOut(last);
    }
    for (;;) {
      const month = await this.#nextMonth(last, untilMs);
      if (month === undefined) return { months, transferCount };
      const written = await this.#write(month, last);
      failpoint("before_commit");
      await this.#database.begin(written, this.options.act);
      failpoint("after_commit");
      await this.#takeOut(written);
      months.push(month);
      transferCount += written.transferCount;
      last = written;
    }
  }

  /** The files of before may be elsewhere; a chain of archives is in one place. */
  async #checkThere({ month, manifestHash }: ArchiveRow): Promise<void> {
    const path = join(this.#directory, manifestName(month));
    if (!existsSync(path) || !existsSync(join(this.#directory, fileName(month))))
      throw new Error(`The archive of ${month} is not in '${this.#directory}': name the directory that has it.`);
    const { problems, manifestHash: found } = await proveMonth(this.#directory, month);
    const [problem] = problems;
    if (problem !== undefined) throw new Error(`The archive of ${month} does not hold: ${problem}`);
    if (found !== manifestHash)
      throw new Error(`The manifest of ${month} in '${this.#directory}' is not the one of this database.`);
  }

  /** The month of the oldest transfer that may go, or the first one behind what is archived. */
  async #nextMonth(last: ArchiveRow | undefined, untilMs: number): Promise<string | undefined> {
    const oldestMs = await this.#database.oldestMs();
    if (oldestMs === undefined) return undefined;
    const oldest = monthOf(oldestMs);
    const next = last === undefined ? oldest : monthAfter(last.month);
    const month = oldest > next ? oldest : next;
    return startOf(monthAfter(month)) <= untilMs ? month : undefined;
  }

  async #write(month: string, last: ArchiveRow | undefined): Promise<ArchiveRow> {
    const previous = last?.manifestHash ?? CHAIN_START.hash;
    const number = (last?.number ?? 0) + 1;
    const untilMs = startOf(monthAfter(month));
    const head = { tollgate_archive: 1, database: await this.#database.identity(), number, month, previous };
    const transfers = new LineFile(join(this.#directory, fileName(month)), true);
    const lines = new LineFile(join(this.#directory, manifestName(month)), false);
    lines.write(`${JSON.stringify(head)}\n`);
    const counts = { accounts: 0, transfers: 0 };
    for (let after = ""; ;) {
      const accounts = await this.#database.accounts(after, ACCOUNTS_AT_ONCE);
      for (const account of accounts) {
        const count = await this.#writeAccount(account, untilMs, transfers, lines);
        counts.transfers += count;
        if (count > 0) counts.accounts += 1;
      }
      failpoint("during_commit");
      const end = accounts.at(-1);
      if (end === undefined) break;
      after = end.id;
    }
    const file = { file: fileName(month), file_sha256: transfers.finish() };
    lines.write(`${JSON.stringify({ ...counts, ...file })}\n`);
    const manifestHash = lines.finish();
    const proof = await proveMonth(this.#directory, month);
    const [problem] = proof.problems;
    if (problem !== undefined || proof.manifestHash !== manifestHash)
      throw new Error(`What was written of ${month} does not read back: ${problem ?? "its manifest is another"}`);
    const createTimeMs = Math.floor(this.options.nowMs);
    return { number, month, untilMs, transferCount: counts.transfers, manifestHash, createTimeMs };
  }

  /** The places behind the archive of before whose transfers are all older, but not the last. */
  async #writeAccount(account: ArchiveAccount, untilMs: number, transfers: LineFile, lines: LineFile): Promise<number> {
    const { id, place: from, hash, last } = account;
    const sums = new KindSums();
    let to = { place: from, hash };
    for (let isOlder = true; isOlder && to.place < last - 1;) {
      const rows = await this.#database.chain(id, to.place, last - 1, PLACES_AT_ONCE);
      if (rows.length === 0) break;
      for (const row of rows) {
        isOlder = Number(row.create_time_ms) < untilMs;
        if (!isOlder) break;
        transfers.write(transferLine(row));
        sums.add(row);
        to = { place: Number(row.account_sequence), hash: hexOf(row.hash) };
      }
    }
    if (to.place === from) return 0;
    lines.write(`${JSON.stringify({ account: id, from: { place: from, hash }, to, sums: sums.told() })}\n`);
    return to.place - from;
  }

  /** By the manifest: what it names is on the disk. An account that an interrupted run took on goes on where it was. */
  async #takeOut({ month, manifestHash, transferCount }: ArchiveRow): Promise<void> {
    const { lines, hash } = readLines(join(this.#directory, manifestName(month)), false);
    const wanted: { readonly id: string; readonly to: number }[] = [];
    let isHead = true;
    for await (const line of lines) {
      const said = isHead ? undefined : manifest.line(line);
      isHead = false;
      if (said !== undefined && "account" in said) wanted.push({ id: said.account, to: said.to.place });
    }
    if (hash() !== manifestHash) throw new Error(`The manifest of ${month} was changed while it was read.`);
    const places = new Map<string, number>();
    for (let after = ""; ;) {
      const accounts = await this.#database.accounts(after, ACCOUNTS_AT_ONCE);
      for (const { id, place } of accounts) places.set(id, place);
      const end = accounts.at(-1);
      if (end === undefined) break;
      after = end.id;
    }
    for (const { id, to } of wanted) await this.#takeOutOf(id, places.get(id) ?? 0, to);
    this.options.onProgress(month, transferCount);
  }

  async #takeOutOf(id: string, from: number, last: number): Promise<void> {
    for (let place = from; place < last;) {
      const startMs = performance.now();
      const to = Math.min(place + this.#places, last);
      await this.#database.advance(id, place, to);
      failpoint("after_commit");
      place = to;
      const tookMs = performance.now() - startMs;
      this.#places = nextPlaces(this.#places, tookMs);
      // Whoever serves from the database gets half of the time.
      await sleep(tookMs);
    }
  }
}

/** Half as many where a transaction took too long, and as many again once they are short. */
export function nextPlaces(places: number, tookMs: number): number {
  if (tookMs > STEP_MS) return Math.max(PLACES_LEAST, Math.floor(places / 2));
  return tookMs < STEP_MS / 2 ? Math.min(PLACES_AT_ONCE, places * 2) : places;
}

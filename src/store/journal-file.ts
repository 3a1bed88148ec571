/**
 * An append-only file of lines on this machine's disk, for what a database that is away has to be told later. A line is
 * acknowledged once it is synced; lines that come together are synced together.
 */
import { hash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";

/** A few minutes of a busy node. What comes beyond is refused, so that no outage fills a disk. */
const JOURNAL_BYTES_MAX = 64 * 1024 * 1024;
const JOURNAL_LINES_MAX = 100_000;
const SUM_CHARACTERS = 16;

export interface JournalBounds {
  readonly bytesMax: number;
  readonly linesMax: number;
}

/** What a file holds from before. */
export interface JournalFound {
  /** The texts of the lines that are whole, in their order. */
  readonly texts: readonly string[];
  /** Lines that are not what was written, with whole ones behind them. */
  readonly damaged: number;
  /** Bytes at the end that are no whole line: of lines that nobody was told of. */
  readonly tornBytes: number;
}

interface Waiting {
  readonly line: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class JournalFile {
  readonly found: JournalFound;
  readonly #handle: FileHandle;
  readonly #bounds: JournalBounds;
  #gathering: Waiting[] = [];
  /** What is synced, and with what is on its way. */
  #syncedBytes: number;
  #bytes: number;
  #lines: number;
  #pumping = false;
  #clearing = false;
  /** How often it was cleared: what failed before counts no more. */
  #clears = 0;
  /** Why nothing is taken any more. */
  #broken: unknown;

  private constructor(handle: FileHandle, found: JournalFound, bytes: number, bounds: JournalBounds) {
    this.#handle = handle;
    this.found = found;
    this.#syncedBytes = this.#bytes = bytes;
    this.#lines = found.texts.length + found.damaged;
    this.#bounds = bounds;
  }

  /** Opens the file, or makes it, for this process alone: the caller has a lock. Rejects where it cannot be used. */
  static async open(path: string, given: Partial<JournalBounds> = {}): Promise<JournalFile> {
    const bounds = { bytesMax: JOURNAL_BYTES_MAX, linesMax: JOURNAL_LINES_MAX, ...given };
    closeSync(openSync(path, "a", 0o600));
    syncDirectory(dirname(path));
    const bytes = readFileSync(path);
    const found = read(bytes);
    const handle = await open(path, "r+");
    return new JournalFile(handle, found, bytes.length - found.tornBytes, bounds);
  }

  /** False where nothing would be taken: it is full, or its disk failed. */
  get hasRoom(): boolean {
    return this.#broken === undefined && this.#bytes < this.#bounds.bytesMax && this.#lines < this.#bounds.linesMax;
  }

  get lines(): number {
    return this.#lines;
  }

  /** Resolves once the line is synced. Rejects where it is not in the file, and the file is as if it never was. */
  append(text: string): Promise<void> {
    const line = Buffer.from(`${sumOf(text)} ${text}\n`);
    if (this.#broken !== undefined) return Promise.reject(new Error("the journal broke", { cause: this.#broken }));
    const { bytesMax, linesMax } = this.#bounds;
    if (this.#bytes + line.length > bytesMax || this.#lines >= linesMax)
      return Promise.reject(new Error("the journal is full"));
    this.#bytes += line.length;
    this.#lines += 1;
    return new Promise((resolve, reject) => {
      this.#gathering.push({ line, resolve, reject });
      if (!this.#pumping) void this.#pump();
    });
  }

  /** Empties the file: nobody needs what is in it any more, nor what is on its way into it. */
  clear(): void {
    for (const { resolve } of this.#gathering.splice(0)) resolve();
    this.#bytes = this.#lines = 0;
    this.#clears += 1;
    this.#clearing = true;
    if (!this.#pumping) void this.#pump();
  }

  /** Waits for what is on its way. */
  async close(): Promise<void> {
    while (this.#pumping) await new Promise((resolve) => setTimeout(resolve, 1));
    this.#broken ??= new Error("it is closed");
    await this.#handle.close();
  }

  /** One group after the other: what comes while one is synced is the next. */
  async #pump(): Promise<void> {
    this.#pumping = true;
    while (this.#clearing || this.#gathering.length > 0) {
      if (this.#clearing) await this.#empty();
      const group = this.#gathering.splice(0);
      if (group.length > 0) await this.#write(group);
    }
    this.#pumping = false;
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    const bytes = Buffer.concat(group.map(({ line }) => line));
    const clears = this.#clears;
    try {
      if (this.#broken !== undefined) throw this.#broken;
      await this.#place(bytes);
      this.#syncedBytes += bytes.length;
      for (const { resolve } of group) resolve();
    } catch (error) {
      if (clears === this.#clears) {
        this.#bytes -= bytes.length;
        this.#lines -= group.length;
      }
      for (const { reject } of group) reject(error);
    }
  }

  async #place(bytes: Buffer): Promise<void> {
    try {
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, this.#syncedBytes + done);
        done += bytesWritten;
      }
    } catch (error) {
      // A full disk may take a part. What is behind the last synced line must not look like lines.
      await this.#handle.truncate(this.#syncedBytes).catch((broken: unknown) => (this.#broken = broken));
      throw error;
    }
    // After a sync that failed nobody knows what the disk has: nothing more is trusted to it.
    await this.#handle.datasync().catch((error: unknown) => {
      this.#broken = error;
      throw error;
    });
  }

  async #empty(): Promise<void> {
    this.#clearing = false;
    try {
      await this.#handle.truncate(0);
      await this.#handle.datasync();
      this.#syncedBytes = 0;
    } catch (error) {
      this.#broken ??= error;
    }
  }
}

function read(bytes: Buffer): JournalFound {
  const texts: string[] = [];
  let [damaged, bad, wholeUntil] = [0, 0, 0];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0) break;
    const text = textOf(bytes.toString("utf8", start, end));
    start = end + 1;
    if (text === undefined) {
      bad += 1;
      continue;
    }
    damaged += bad;
    bad = 0;
    texts.push(text);
    wholeUntil = start;
  }
  return { texts, damaged, tornBytes: bytes.length - wholeUntil };
}

/** Undefined where the line is not what was written. */
function textOf(line: string): string | undefined {
  const text = line.slice(SUM_CHARACTERS + 1);
  return line[SUM_CHARACTERS] === " " && line.slice(0, SUM_CHARACTERS) === sumOf(text) ? text : undefined;
}

function sumOf(text: string): string {
  return hash("sha256", text).slice(0, SUM_CHARACTERS);
}

/** So that the file is still there after a power cut. */
function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

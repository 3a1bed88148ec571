/**
 * The journals of a data directory, one for each process that uses it: a process takes the first that no other has, and
 * with it all that processes left behind which are gone.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "./data-directory.js";
import { IntentFile } from "./intent-file.js";
import { type JournalBounds, JournalFile } from "./journal-file.js";
import { lockOf } from "./sqlite/database-file.js";

const DIRECTORY = "journals";
const NAME = "journal";
const INTENTS = "intents";
/** How many processes may share a directory. */
const PLACES_MAX = 256;

interface Place {
  readonly file: JournalFile;
  readonly intents: IntentFile;
  readonly path: string;
  unlock(): void;
}

/** Settlements on their way, by their requests. */
export interface Intents {
  readonly found: readonly string[];
  keep(requestId: string, text: string): void;
  /** Resolves once all that was kept outlives this process. Undefined where it does. Never rejects. */
  readonly written: Promise<void> | undefined;
  ended(requestId: string): void;
  /** All that was found is in the database. */
  forget(): void;
}

export interface Journals {
  readonly intents: Intents;
  /** The texts that were left behind, those of each process in their order. */
  readonly found: readonly string[];
  /** How many lines of them are not what was written. A copy of their file stays. */
  readonly damaged: number;
  readonly hasRoom: boolean;
  readonly lines: number;
  append(text: string): Promise<void>;
  clear(): void;
  /** All that was found is where it belongs: its files are emptied, and the places of others are theirs again. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

/** Rejects where the directory takes no files, or all places are taken. */
export async function openJournals(dataDirectory: string, bounds: Partial<JournalBounds> = {}): Promise<Journals> {
  const directory = join(dataDirectory, DIRECTORY);
  makeDirectory(directory);
  const known = readdirSync(directory).filter((name) => /^\d{1,3}$/.test(name));
  const [own, ...others] = await placesOf(directory, known.map(Number), bounds);
  if (own === undefined) throw new Error(`${PLACES_MAX} processes use '${directory}' already`);
  const all = [own, ...others];
  const { file, intents } = own;
  return {
    intents: {
      found: all.flatMap((place) => place.intents.found),
      keep: (requestId, text) => intents.keep(requestId, text),
      get written() {
        return intents.written;
      },
      ended: (requestId) => intents.ended(requestId),
      forget: () => {
        for (const place of all) place.intents.forget();
      },
    },
    found: all.flatMap((place) => place.file.found.texts),
    damaged: all.reduce((sum, place) => sum + place.file.found.damaged, 0),
    get hasRoom() {
      return file.hasRoom;
    },
    get lines() {
      return file.lines;
    },
    append: (text) => file.append(text),
    clear: () => file.clear(),
    forget: async () => {
      for (const place of all) {
        if (place.file.found.damaged > 0) copyFileSync(place.path, `${place.path}.damaged-${Date.now()}`);
        place.file.clear();
      }
      for (const place of others.splice(0)) await leave(place);
    },
    close: async () => {
      for (const place of [own, ...others]) await leave(place);
    },
  };
}

/** Those that no process has: first the one to write to, then all others in which something was left. */
async function placesOf(directory: string, known: readonly number[], bounds: Partial<JournalBounds>): Promise<Place[]> {
  const places: Place[] = [];
  for (let number = 0; number < PLACES_MAX; number += 1) {
    if (places.length > 0 && !known.includes(number)) continue;
    const place = await openPlace(join(directory, String(number)), bounds);
    if (place === undefined) continue;
    const { file, intents } = place;
    const isLeft = file.found.texts.length + file.found.damaged + intents.found.length > 0;
    if (places.length === 0 || isLeft) places.push(place);
    else await leave(place);
  }
  return places;
}

/** Undefined where another process has it. */
async function openPlace(directory: string, bounds: Partial<JournalBounds>): Promise<Place | undefined> {
  if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
  const lock = lockOf(directory);
  if (lock === undefined) return undefined;
  const path = join(directory, NAME);
  try {
    const file = await JournalFile.open(path, bounds);
    return { file, intents: new IntentFile(join(directory, INTENTS)), path, unlock: () => lock.close() };
  } catch (error) {
    lock.close();
    throw error;
  }
}

async function leave({ file, intents, unlock }: Place): Promise<void> {
  await file.close();
  intents.close();
  unlock();
}

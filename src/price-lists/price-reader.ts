/** Reads the snapshot of published prices where the settings say so: one node of all, some times a day. */
import { withoutSecrets } from "../base/redaction.js";
import type { PriceListSettings } from "../config/settings.js";
import type { PeopleStore } from "../store/people-store.js";
import { textAt } from "./list-text.js";
import type { PriceLists } from "./price-lists.js";

export interface PriceReaderOptions {
  readonly lists: PriceLists;
  readonly store: Pick<PeopleStore, "priceSnapshot" | "claimPriceSnapshot" | "notePriceProblem">;
  /** Those in force. */
  readonly settings: () => PriceListSettings;
  readonly nowMs: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Hears why a snapshot could not be read, and for how long none was. */
  readonly onProblem: (problem: string, sinceMs: number) => void;
}

const LOOK_MS = 60_000;
const EVERY_MS = 6 * 3_600_000;
/** Nodes of many gateways do not all ask at the same moment. */
const SPREAD_MS = 30 * 60_000;
const RETRY_MS = 10 * 60_000;
const PROBLEM_CHARACTERS_MAX = 300;

export class PriceReader {
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;

  constructor(private readonly options: PriceReaderOptions) {}

  start(): void {
    this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
  }

  /** Reads the snapshot now. Rejects only where the database is away: what else goes wrong is kept there. */
  async read(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  async #look(): Promise<void> {
    const { store, settings, nowMs, onProblem } = this.options;
    if (settings().refresh === "pinned") return;
    try {
      if (await store.claimPriceSnapshot(nowMs(), nowMs() + RETRY_MS)) await this.read();
    } catch (error) {
      onProblem(wordsOf(error), 0);
    }
  }

  async #read(): Promise<void> {
    const { lists, store, nowMs, random, onProblem } = this.options;
    const settings = this.options.settings();
    const nextTimeMs = nowMs() + EVERY_MS + random() * SPREAD_MS;
    try {
      await lists.take(await textAt(settings.url ?? ""), settings, Math.round(nextTimeMs));
    } catch (error) {
      const problem = wordsOf(error);
      await store.notePriceProblem(problem, nowMs(), nowMs() + RETRY_MS);
      const row = await store.priceSnapshot();
      onProblem(problem, nowMs() - (row?.readTimeMs || row?.firstTimeMs || nowMs()));
    }
    // Also without a newer snapshot: the date of a price may have come.
    await lists.apply(settings);
  }
}

function wordsOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // What fetch says of itself is only that it failed.
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return withoutSecrets(text + cause).slice(0, PROBLEM_CHARACTERS_MAX);
}

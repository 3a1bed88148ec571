/** The nightly files: what was used and booked on each UTC day, written once, by one node of many, as whole files. */
import { join } from "node:path";
import { DAY_MS, dayNumber, dayOf } from "../base/day.js";
import { ENTRY_FORMS } from "../api/entry-export.js";
import { USAGE_FORMS } from "../api/usage-export.js";
import type { ExportForm, ExportSettings } from "../config/settings.js";
import type { Ledger } from "../ledger/ledger.js";
import type { Log } from "../observe/log.js";
import { entryOf } from "../rpc/methods/entry.js";
import { summaryOf } from "../rpc/methods/usage-summary.js";
import type { AlertStep, Store } from "../store/store.js";
import { writeWhole } from "./whole-file.js";

export interface NightlyExportOptions {
  readonly store: Pick<Store, "alertSteps" | "accounts">;
  readonly ledger: Pick<Ledger, "statement" | "requests">;
  readonly nodeId: string;
  /** Those in force. */
  readonly settings: () => ExportSettings;
  readonly nowMs: () => number;
  readonly log: Log;
}

/** By which the nodes know whose turn it is. */
const TURN = "export";
const LOOK_MS = 60_000;
/** After a failure, such as a full disk. */
const RETRY_MS = 600_000;
/** Requests of a day are settled so long after its end. */
const SETTLED_MS = 15 * 60_000;
/** So many days are made up for at most. */
const DAYS_MAX = 31;
/** A node that dies while it writes leaves its turn to another one after so long. */
const TURN_MS = 300_000;
const PAGE_ROWS = 500;

export class NightlyExport {
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(private readonly options: NightlyExportOptions) {}

  /** Looks now, for what a night missed, and each minute from then on. */
  start(): void {
    this.#lookIn(0);
  }

  /** Writes what is due. Never rejects; returns false where it failed. Who asks while it writes shares that. */
  async look(): Promise<boolean> {
    let isWell = true;
    this.#running ??= this.#writeDue()
      .catch((err: unknown) => {
        isWell = false;
        this.options.log.error({ err }, "the nightly export failed; it is tried again in ten minutes");
      })
      .finally(() => (this.#running = undefined));
    await this.#running;
    return isWell;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #lookIn(afterMs: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      void this.look().then((isWell) => this.#lookIn(isWell ? LOOK_MS : RETRY_MS));
    }, afterMs).unref();
  }

  async #writeDue(): Promise<void> {
    const { directory, formats } = this.options.settings();
    if (directory === undefined) return;
    for (let next = await this.#nextDay(); next !== undefined; next = await this.#nextDay()) {
      // Whoever has the turn looks again: the day may be written meanwhile.
      if (this.#closed || !(await this.#hasTurn()) || (await this.#nextDay()) !== next) return;
      const day = dayOf(next * DAY_MS);
      for (const format of formats) await this.#writeDay(directory, format, day);
      await this.#steps([{ statement: "noteExport", values: { day: next } }]);
      await this.#steps([{ statement: "endTurn", values: { name: TURN, nodeId: this.options.nodeId } }]);
      this.options.log.info({ day, formats }, "the nightly export is written");
    }
  }

  /** The number of the oldest day that is over and not written; undefined where there is none. */
  async #nextDay(): Promise<number | undefined> {
    const [[noted] = []] = await this.#steps([{ statement: "noted", values: { name: "export" } }]);
    const last = dayNumber(this.options.nowMs() - SETTLED_MS) - 1;
    const next = noted === undefined ? last : Math.max(Number(noted["value"]) + 1, last - DAYS_MAX + 1);
    return next > last ? undefined : next;
  }

  async #writeDay(directory: string, format: ExportForm, day: string): Promise<void> {
    const ending = format === "jsonl" ? "jsonl" : "csv";
    const form = format === "focus" ? "-focus" : "";
    await writeWhole(join(directory, `usage${form}-${day}.${ending}`), this.#usage(format, day));
    if (format !== "focus") await writeWhole(join(directory, `entries-${day}.${ending}`), this.#entries(format, day));
  }

  async *#usage(format: ExportForm, day: string): AsyncGenerator<string> {
    const { head, line } = USAGE_FORMS[format];
    yield head;
    const { requests } = this.options.ledger;
    const days = { fromDay: day, toDay: day };
    for (let token = ""; ;) {
      const { rows, nextPageToken } = await requests.summarize(undefined, days, { size: PAGE_ROWS, token });
      yield rows.map((row) => line(summaryOf(row, true))).join("");
      await this.#keepTurn();
      if ((token = nextPageToken) === "") return;
    }
  }

  async *#entries(format: "csv" | "jsonl", day: string): AsyncGenerator<string> {
    const { head, line } = ENTRY_FORMS[format];
    yield head;
    const fromMs = Date.parse(`${day}T00:00:00Z`);
    const period = { fromMs, toMs: fromMs + DAY_MS };
    for await (const id of this.#accountIds()) {
      for (let token = ""; ;) {
        const page = await this.options.ledger.statement(id, period, { size: PAGE_ROWS, token });
        yield page.entries
          .map((row) => {
            const { availableNanos, heldNanos } = row;
            return line(id, { entry: entryOf(row), balance: { availableNanos, heldNanos } });
          })
          .join("");
        if ((token = page.nextPageToken) === "") break;
      }
    }
  }

  async *#accountIds(): AsyncGenerator<string> {
    for (let token = ""; ;) {
      const { rows, nextPageToken } = await this.options.store.accounts.list({ size: PAGE_ROWS, token });
      for (const { id } of rows) yield id;
      await this.#keepTurn();
      if ((token = nextPageToken) === "") return;
    }
  }

  /** Throws where another node has the turn: it took this one for dead, and writes. */
  async #keepTurn(): Promise<void> {
    if (!(await this.#hasTurn())) throw new Error("another node has the turn to write it");
  }

  async #hasTurn(): Promise<boolean> {
    const { nodeId } = this.options;
    const nowMs = this.options.nowMs();
    const values = { name: TURN, nodeId, nowMs, untilMs: nowMs + TURN_MS };
    const [rows = []] = await this.#steps([{ statement: "turn", values }]);
    return rows.length > 0;
  }

  #steps(steps: readonly AlertStep[]): ReturnType<Store["alertSteps"]> {
    return this.options.store.alertSteps(steps);
  }
}

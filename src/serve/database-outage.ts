/** Whether the ledger's database takes writes. An outage is logged once when it begins and once when it ends. */
import { type GatewayError, isLedgerUnavailable } from "../base/errors.js";
import type { Log } from "../observe/log.js";
import type { Store } from "../store/store.js";

/** The writes by which an outage is found. A node without requests still writes its heartbeat every few seconds. */
export interface Writes {
  readonly ledger: Pick<Store["ledger"], "commit">;
  check(): Promise<void>;
}

const AWAY = "the ledger's database takes no writes: calls that cost money get 503 LEDGER_UNAVAILABLE";
const BACK = "the ledger's database takes writes again";

export class DatabaseOutage {
  /** For the parts that use the database: what an outage alone causes them to log is at level debug while it lasts. */
  readonly log: Log;
  readonly #log: Log;
  readonly #monotonicMs: () => number;
  #sinceMs: number | undefined;
  #failures = 0;

  constructor(log: Log, monotonicMs: () => number) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
    const quiet = (write: Log["warn"]): Log["warn"] => {
      return ({ err, ...fields }, message) => {
        if (err === undefined) write(fields, message);
        else if (!isLedgerUnavailable(err)) write({ err, ...fields }, message);
        else if (this.isAway) log.debug({ err, ...fields }, message);
        // Where it fails says nothing: what the database said is all that there is.
        else write({ problem: problemOf(err), ...fields }, message);
      };
    };
    this.log = { ...log, warn: quiet(log.warn), error: quiet(log.error) };
  }

  get isAway(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** The store, whose writes say from now on whether the database is away. */
  watch<Kind extends Writes>(store: Kind): Kind {
    const watched = async <Result>(write: () => Promise<Result>): Promise<Result> => {
      try {
        const result = await write();
        this.#answered();
        return result;
      } catch (error) {
        if (isLedgerUnavailable(error)) this.#failed(error);
        throw error;
      }
    };
    const { ledger } = store;
    const commit: Writes["ledger"]["commit"] = (operations) => watched(() => ledger.commit(operations));
    return { ...store, ledger: { ...ledger, commit }, check: () => watched(() => store.check()) };
  }

  #failed(error: GatewayError): void {
    this.#failures += 1;
    if (this.isAway) return;
    this.#sinceMs = this.#monotonicMs();
    this.#log.error({ problem: problemOf(error) }, AWAY);
  }

  #answered(): void {
    if (this.#sinceMs === undefined) return;
    const seconds = Math.round((this.#monotonicMs() - this.#sinceMs) / 1_000);
    this.#log.warn({ seconds, failed_writes: this.#failures }, BACK);
    this.#sinceMs = undefined;
    this.#failures = 0;
  }
}

function problemOf({ cause, message }: GatewayError): string {
  return cause instanceof Error ? cause.message : message;
}

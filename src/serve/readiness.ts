/** What `/readyz` says: whether calls that cost money can be served here. */
import type { Ledger } from "../ledger/ledger.js";
import type { Store } from "../store/store.js";
import type { DatabaseOutage } from "./database-outage.js";

/** Probes give up after a second by default. What the database has not said by then is what it said last. */
const LOOK_MS = 500;
/** A database that has said nothing for so long is away, though nothing failed. */
const SILENT_MS_MAX = 5_000;

export interface ReadinessParts {
  readonly store: Pick<Store, "check">;
  readonly outage: Pick<DatabaseOutage, "isAway">;
  readonly ledger: Pick<Ledger, "servesByJournal">;
  readonly monotonicMs: () => number;
}

/** Probes that come together share one look at the database. The answer never rejects. */
export function readinessOf({ store, outage, ledger, monotonicMs }: ReadinessParts): () => Promise<boolean> {
  let looking: Promise<void> | undefined;
  let sinceMs = 0;
  return async () => {
    if (looking === undefined) sinceMs = monotonicMs();
    // How it ends is what `outage` knows.
    looking ??= store
      .check()
      .catch(() => undefined)
      .finally(() => (looking = undefined));
    await within(looking, LOOK_MS);
    const isSilent = looking !== undefined && monotonicMs() - sinceMs >= SILENT_MS_MAX;
    return (!outage.isAway && !isSilent) || ledger.servesByJournal;
  };
}

/** Resolves with it, or after so long. */
async function within(awaited: Promise<void>, waitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => (timer = setTimeout(resolve, waitMs).unref()));
  await Promise.race([awaited, waited]);
  clearTimeout(timer);
}

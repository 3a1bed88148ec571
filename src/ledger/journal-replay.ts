/**
 * Replays a journal of an earlier process into the database. Each operation takes effect once, by its request id, so a
 * journal may be replayed again, also if the database already has a part of it.
 */
import { type JournalOperation, journalOperation } from "./journal-text.js";
import type { LedgerIntents, Replayed } from "./ledger-options.js";
import type { CheckpointOperation, HoldOperation, SettleOperation } from "./operation.js";
import { termsOf } from "./late-terms.js";
import { SOURCE_RECOVERED } from "./rows.js";
import type { LedgerWriter } from "./writer.js";

/** How many requests are sent at once. */
const REQUESTS_MAX = 256;

/** All that a journal has of one request: the newest of each kind. */
interface Known {
  hold?: HoldOperation;
  checkpoint?: CheckpointOperation;
  settle?: SettleOperation;
}

type End = "settled" | "unfinished" | "refused";

/** Rejects with LEDGER_UNAVAILABLE if the database does not take it now. */
export async function replay(writer: LedgerWriter, texts: readonly string[]): Promise<Replayed> {
  const counts = { settled: 0, unfinished: 0, refused: 0 };
  const requests = new Map<string, Known>();
  for (const text of texts) {
    const operation = journalOperation(text);
    if (operation === undefined) counts.refused += 1;
    else add(requests, operation);
  }
  const all = [...requests.values()];
  for (let start = 0; start < all.length; start += REQUESTS_MAX) {
    const ends = await Promise.all(all.slice(start, start + REQUESTS_MAX).map((known) => tell(writer, known)));
    for (const end of ends) counts[end] += 1;
  }
  return counts;
}

/** Replays what clients may have received before their process was killed. True if there was any. */
export async function replayIntents(writer: LedgerWriter, intents: LedgerIntents | undefined): Promise<boolean> {
  const found = intents?.found ?? [];
  if (found.length > 0) await replay(writer, found);
  intents?.forget();
  return found.length > 0;
}

function add(requests: Map<string, Known>, operation: JournalOperation): void {
  const known = requests.get(operation.requestId) ?? {};
  requests.set(operation.requestId, known);
  if (operation.kind === "hold") known.hold = operation;
  else if (operation.kind === "checkpoint") known.checkpoint = operation;
  else known.settle = operation;
}

/**
 * Sends the hold first: if its lease still exists, the request is charged from it. If not, the end is sent with the
 * terms of the admission, as a late record.
 */
async function tell(writer: LedgerWriter, { hold, checkpoint, settle }: Known): Promise<End> {
  const holding = hold === undefined ? undefined : writer.submit(hold);
  const terms = hold && termsOf(hold);
  if (settle !== undefined) {
    const [result] = await Promise.all([writer.submit({ ...settle, terms: settle.terms ?? terms }), holding]);
    return result.kind === "settled" ? "settled" : "refused";
  }
  await holding;
  if (checkpoint === undefined) return "unfinished";
  // Where the database has the hold, recovery charges the checkpoint, or a later one that it has too.
  const noted = await writer.submit(checkpoint);
  if (noted.kind === "noted" || terms === undefined) return "unfinished";
  const { kind: _, ...charge } = checkpoint;
  const late = { kind: "settle", ...charge, usageSource: SOURCE_RECOVERED, attemptLog: "", terms } as const;
  const result = await writer.submit(late);
  return result.kind === "settled" ? "settled" : "refused";
}

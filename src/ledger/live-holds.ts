/** The holds that a node answers for: from before each is asked for until its end is in the database. */
import { HoldTable, type TableRow } from "./hold-table.js";

/** A hold as the node that asked for it knows it. */
export interface LiveHold extends TableRow<LiveHold> {
  readonly requestId: string;
  /** When its request must be over, on the monotonic clock. */
  readonly endMs: number;
  /** True once its settlement is on its way, which may take as long as the database is away. */
  readonly isSettling: boolean;
}

/**
 * Whoever is in here is nobody's orphan. What is open in the database and not in here can only be there where an answer
 * of the database was lost, a settlement was, or a request never ended: each of them is a doubt, and only doubt makes
 * recovery look through this node's own holds.
 */
export class LiveHolds {
  readonly #holds = new HoldTable<LiveHold>();
  #doubts = 0;
  #settledDoubts = 0;

  get size(): number {
    return this.#holds.size;
  }

  /** False where its request has a hold already, which goes on answering for it. */
  add(hold: LiveHold): boolean {
    return this.#holds.add(hold);
  }

  /** Nobody answers for the hold any more. Removing what is not here changes nothing. */
  remove(requestId: string): void {
    const hold = this.#holds.get(requestId);
    if (hold !== undefined) this.#holds.remove(hold);
  }

  /** The database may hold what nobody here answers for. */
  doubt(): void {
    this.#doubts += 1;
  }

  /** Lets go of what should have ended before a time, and says what. Only a fault of the program leaves any. */
  letGoBefore(timeMs: number): string[] {
    const overdue: LiveHold[] = [];
    for (const hold of this.#holds.values()) if (hold.endMs < timeMs && !hold.isSettling) overdue.push(hold);
    for (const hold of overdue) this.#holds.remove(hold);
    if (overdue.length > 0) this.doubt();
    return overdue.map(({ requestId }) => requestId);
  }

  /** What recovery must leave alone, where there is doubt; `resolved` is called once it left nothing else. */
  doubted(): { readonly live: ReadonlySet<string>; readonly resolved: () => void } | undefined {
    const doubts = this.#doubts;
    if (doubts === this.#settledDoubts) return undefined;
    const live = new Set<string>();
    for (const { requestId } of this.#holds.values()) live.add(requestId);
    return { live, resolved: () => (this.#settledDoubts = doubts) };
  }
}

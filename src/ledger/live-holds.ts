/** The holds that a node is responsible for: from before each is requested until its end is in the database. */
import { HoldTable, type TableRow } from "./hold-table.js";

/** A hold as the node that requested it knows it. */
export interface LiveHold extends TableRow<LiveHold> {
  readonly requestId: string;
  /** When its request must end, on the monotonic clock. */
  readonly endMs: number;
  /** True once its settlement is on its way, which may take as long as the database is away. */
  readonly isSettling: boolean;
}

/**
 * A hold in here is not an orphan. A hold that is open in the database and not in here has one of three causes: a
 * result of the database was lost, a settlement was lost, or a request never ended. Each is marked by `doubt`, and only
 * then does recovery search this node's own holds.
 */
export class LiveHolds {
  readonly #holds = new HoldTable<LiveHold>();
  #doubts = 0;
  #settledDoubts = 0;

  get size(): number {
    return this.#holds.size;
  }

  /** False if the request has a hold already, which stays. */
  add(hold: LiveHold): boolean {
    return this.#holds.add(hold);
  }

  /** The node is no longer responsible for the hold. Removing one that is not here changes nothing. */
  remove(requestId: string): void {
    const hold = this.#holds.get(requestId);
    if (hold !== undefined) this.#holds.remove(hold);
  }

  /** The database may have a hold that is not in here. */
  doubt(): void {
    this.#doubts += 1;
  }

  /** Removes holds that should have ended before a time, and returns them. Only a fault of the program leaves any. */
  letGoBefore(timeMs: number): string[] {
    const overdue: LiveHold[] = [];
    for (const hold of this.#holds.values()) if (hold.endMs < timeMs && !hold.isSettling) overdue.push(hold);
    for (const hold of overdue) this.#holds.remove(hold);
    if (overdue.length > 0) this.doubt();
    return overdue.map(({ requestId }) => requestId);
  }

  /** The holds that recovery must leave alone, if there is doubt; `resolved` is called once no others are left. */
  doubted(): { readonly live: ReadonlySet<string>; readonly resolved: () => void } | undefined {
    const doubts = this.#doubts;
    if (doubts === this.#settledDoubts) return undefined;
    const live = new Set<string>();
    for (const { requestId } of this.#holds.values()) live.add(requestId);
    return { live, resolved: () => (this.#settledDoubts = doubts) };
  }
}

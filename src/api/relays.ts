/** How one node reads what another one has, where they share something that carries it. */

/** Who reads. */
export interface RelayReader {
  /** One piece, in order. */
  piece(bytes: Buffer): void;
  /** No more comes. `nobody`: all were asked, and none has it. */
  lost(nobody: boolean): void;
}

/** What is being read. */
export interface RelayInlet {
  /** Asks for no more until `resume`. */
  pause(): void;
  resume(): void;
  /** The reader needs no more. */
  close(): void;
}

/** Who writes what another node reads. */
export interface RelayWriter {
  /** The next piece, at most so many bytes of it; undefined where there is nothing to send. It must be taken. */
  next(): Buffer | undefined;
  /** The reader is gone, or has all. */
  gone(): void;
}

export interface RelayOutlet {
  /** There is something to send. */
  wake(): void;
}

export interface Relays {
  /**
   * Asks all other nodes, on behalf of an account. At most one answers. Resolves with undefined where nobody can be
   * asked now: the account reads too much in this way already, or nodes do not reach each other.
   */
  ask(accountId: string, question: Buffer, reader: RelayReader): Promise<RelayInlet | undefined>;
  /** Calls back for what others ask. Who has it calls `accept`, in the same turn. */
  onAsked(callback: (question: Buffer, accept: (writer: RelayWriter) => RelayOutlet) => void): void;
}

/** The lines to one origin: each has a connection of its own, for one exchange at a time. */
import { Client } from "undici";
import { type Connection, createConnector } from "./connection.js";

export interface LinesOptions {
  readonly connectTimeoutMs: number;
  /** The most connections. */
  readonly linesMax: number;
  readonly client: Client.Options;
}

/** A client of undici, which opens its connection when it is needed and again once it is closed. */
export interface Line {
  readonly client: Client;
  connection: Connection | undefined;
}

/** Who waits for a line. */
export interface Waiter {
  begin(line: Line): void;
}

export class Lines {
  readonly #all: Line[] = [];
  /** The one that was used last is used next, so that those that are not needed may close. */
  readonly #free: Line[] = [];
  readonly #waiting: Waiter[] = [];
  #isGiving = false;

  constructor(
    private readonly origin: string,
    private readonly options: LinesOptions,
  ) {}

  /** Gives a line to the waiter, now or in its turn. */
  take(waiter: Waiter): void {
    const line = this.#free.pop() ?? (this.#all.length < this.options.linesMax ? this.#add() : undefined);
    if (line === undefined) this.#waiting.push(waiter);
    else waiter.begin(line);
  }

  giveBack(line: Line): void {
    this.#free.push(line);
    // A waiter that wants its line no more, or fails at once, gives it back in here.
    if (this.#isGiving) return;
    this.#isGiving = true;
    try {
      for (let next = this.#waiting[0]; next !== undefined && this.#free.length > 0; next = this.#waiting[0]) {
        this.#waiting.shift();
        this.take(next);
      }
    } finally {
      this.#isGiving = false;
    }
  }

  /** Ends what still runs; what waits begins on a line that is closed, and hears so. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.destroy()));
  }

  #add(): Line {
    const { connectTimeoutMs, client } = this.options;
    const connect = createConnector(connectTimeoutMs, (opened) => (line.connection = opened));
    const line: Line = { client: new Client(this.origin, { ...client, connect }), connection: undefined };
    this.#all.push(line);
    return line;
  }
}

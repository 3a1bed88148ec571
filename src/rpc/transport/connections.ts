/** The connections of a channel whose calls go each by itself: a server takes only so many calls on one. */
import type { Client } from "@grpc/grpc-js";

/** Below the 1,000 that our server takes, so that no call waits for another to end. */
const CALLS_PER_CONNECTION = 900;
const CONNECTIONS_MAX = 12;

/** A connection on which one more call runs. */
export interface Connection {
  readonly client: Client;
  /** The call ended. */
  release(): void;
}

class CountedConnection implements Connection {
  running = 0;

  constructor(readonly client: Client) {}

  release(): void {
    this.running -= 1;
  }
}

export class Connections {
  readonly #connect: () => Client;
  readonly #all: CountedConnection[] = [];

  constructor(connect: () => Client) {
    this.#connect = connect;
  }

  /** A connection with room; where all are full and no more may be, the one with the fewest calls. */
  take(): Connection {
    const connection = this.#withRoom() ?? this.#opened() ?? this.#leastBusy();
    connection.running += 1;
    return connection;
  }

  close(): void {
    for (const { client } of this.#all) client.close();
  }

  #withRoom(): CountedConnection | undefined {
    return this.#all.find(({ running }) => running < CALLS_PER_CONNECTION);
  }

  #opened(): CountedConnection | undefined {
    if (this.#all.length >= CONNECTIONS_MAX) return undefined;
    const connection = new CountedConnection(this.#connect());
    this.#all.push(connection);
    return connection;
  }

  #leastBusy(): CountedConnection {
    return this.#all.reduce((best, one) => (one.running < best.running ? one : best));
  }
}

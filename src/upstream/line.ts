/** A client of undici's pool, with its one connection, which tells each exchange that it takes which one that is. */
import { Client, type Dispatcher } from "undici";
import type { Connect, Connection } from "./connection.js";

/** Where the connection stands that a line has now. */
export interface Opened {
  connection: Connection | undefined;
}

/** A request as it is asked of the pool, which hands it on to one of its clients. */
export class Asked implements Dispatcher.DispatchOptions {
  constructor(
    readonly path: string,
    readonly method: Dispatcher.HttpMethod,
    readonly headers: string[],
    readonly body: Buffer | null,
    /** Hears which line takes the request. */
    readonly exchange: { onLine(line: Opened): void },
  ) {}
}

export class Line extends Client {
  readonly #opened: Opened;

  constructor(origin: URL, options: Client.Options, connect: Connect) {
    const opened: Opened = { connection: undefined };
    super(origin, {
      ...options,
      connect: (asked, done) => connect(asked, done, (connection) => (opened.connection = connection)),
    });
    this.#opened = opened;
  }

  override dispatch(asked: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (asked instanceof Asked) asked.exchange.onLine(this.#opened);
    return super.dispatch(asked, handler);
  }
}

/** A client of undici's pool, which tells each exchange that it is given which connection it has. */
import assert from "node:assert/strict";
import { Client, type Dispatcher } from "undici";
import type { Connect, Connection } from "./connection.js";

/** The connection that a client has now: none before its first, and another after one that closed. */
export interface CurrentConnection {
  connection: Connection | undefined;
}

/** A request as it is asked of the pool, which hands it on to one of its clients. */
export class PooledRequest implements Dispatcher.DispatchOptions {
  constructor(
    readonly path: string,
    readonly method: Dispatcher.HttpMethod,
    readonly headers: string[],
    readonly body: Buffer | null,
    /** Hears which client is given the request. */
    readonly exchange: { onClient(client: CurrentConnection): void },
  ) {}
}

export class PoolClient extends Client {
  readonly #current: CurrentConnection;

  constructor(origin: URL, options: Client.Options, connect: Connect) {
    const current: CurrentConnection = { connection: undefined };
    super(origin, {
      ...options,
      connect: (asked, done) => connect(asked, done, (connection) => (current.connection = connection)),
    });
    this.#current = current;
  }

  override dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    assert(request instanceof PooledRequest);
    request.exchange.onClient(this.#current);
    return super.dispatch(request, handler);
  }
}

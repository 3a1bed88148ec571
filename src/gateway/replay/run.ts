/** One execution of a request that may outlive the client that began it. */
import { Cancellation } from "../../base/cancellation.js";
import type { Sink } from "../../api/channel.js";
import { GatewayError } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import type { GatewayCall } from "../gateway.js";

/** The method itself. Rejects with the error that refused or cut it. */
export type Work<Message> = (call: GatewayCall, sink: Sink<Message>) => Promise<void>;

export class Run<Message> {
  readonly requestId: string;
  readonly keyId: string;
  readonly accountId: string;
  readonly caller: Caller;
  /** Resolves with the run's error, once it is settled; undefined if it was complete. Never rejects. */
  readonly ended: Promise<GatewayError | undefined>;
  readonly #cancellation = new Cancellation();
  #isOver = false;

  /** Starts at once. The call's own signal does not end it. */
  constructor(call: GatewayCall, work: Work<Message>, sink: Sink<Message>, beforeHold?: () => Promise<void>) {
    const { caller, requestId, record } = call;
    this.requestId = requestId;
    this.caller = caller;
    this.keyId = caller.keyId;
    this.accountId = caller.accountId;
    this.ended = work({ caller, requestId, signal: this.#cancellation, beforeHold, record }, sink).then(
      () => this.#over(undefined),
      (error: unknown) => this.#over(GatewayError.from(error)),
    );
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends it early, if it still runs. */
  cancel(reason: GatewayError): void {
    this.#cancellation.abort(reason);
  }

  #over(error: GatewayError | undefined): GatewayError | undefined {
    this.#isOver = true;
    return error;
  }
}

/** The requests to models that run now: bounded, and told to end when the server stops for good. */
import { Roster, type RosterEntry } from "../base/roster.js";
import { GatewayError } from "../base/errors.js";

export interface RunningRequest extends RosterEntry {
  /** Ends the request at once; its client is told why. */
  stop(reason: GatewayError): void;
}

export class Running {
  readonly #max: number;
  readonly #requests = new Roster<RunningRequest>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#requests.size;
  }

  /** Throws OVERLOADED where as many run as may. */
  add(request: RunningRequest): void {
    if (this.#requests.size >= this.#max) {
      throw new GatewayError("ERROR_REASON_OVERLOADED", {
        problem: `${this.#max} requests run on it`,
        retry_after_ms: "1000",
      });
    }
    this.#requests.add(request);
  }

  remove(request: RunningRequest): void {
    this.#requests.remove(request);
  }

  stopAll(reason: GatewayError): void {
    for (const request of this.#requests) request.stop(reason);
  }
}

/** The messages that are on their way in: their bytes count against the budget, and none may come too slowly. */
import type { ByteBudget } from "../../base/bytes/byte-budget.js";
import { listeningClock, type Waiting } from "../../base/event-loop/listening-clock.js";
import { GatewayError } from "../../base/errors.js";
import type { GrpcConnection } from "./listener.js";

/** How often messages that are not whole are looked at. Most are whole with their first read. */
const SWEEP_MS = 50;
/** After the grace a message must have come at this rate, on average. */
const BYTES_PER_SECOND_MIN = 16 * 1024;
/** How long a refusal may take to go out before the connection ends, which alone frees what came. */
const CUT_MS = 100;

class Incoming {
  #bytes = 0;
  #isPartial = true;
  readonly sinceMs = listeningClock.nowMs();

  constructor(
    private readonly budget: ByteBudget | undefined,
    private readonly holder: string,
    readonly connection: GrpcConnection | undefined,
    readonly refuse: (error: GatewayError) => void,
    private readonly onWhole: (incoming: Incoming) => void,
  ) {
    connection?.begin();
  }

  /** Its share of what has come over its connection. */
  get partialBytes(): number {
    const { connection } = this;
    return connection === undefined ? 0 : connection.partialBytes / Math.max(1, connection.receiving);
  }

  /** The message is whole. Throws where there is no room for it. */
  arrived(bytes: number): void {
    this.#settle(bytes);
    this.takeTo(bytes);
  }

  /** The call has its answer. */
  end(): void {
    this.#settle(0);
    this.budget?.give(this.holder, this.#bytes);
    this.#bytes = 0;
  }

  /** Takes of the budget what is more than before. */
  takeTo(bytes: number): void {
    const whole = Math.ceil(bytes);
    if (whole > this.#bytes) this.budget?.take(this.holder, whole - this.#bytes);
    else this.budget?.give(this.holder, this.#bytes - whole);
    this.#bytes = whole;
  }

  #settle(bytes: number): void {
    if (!this.#isPartial) return;
    this.#isPartial = false;
    this.connection?.end(bytes);
    this.onWhole(this);
  }
}

export class Receiving {
  readonly #budget: ByteBudget | undefined;
  readonly #slowMs: number;
  /** The oldest first. */
  readonly #partial = new Set<Incoming>();
  #timer: Waiting | undefined;

  constructor(budget: ByteBudget | undefined, slowMs: number) {
    this.#budget = budget;
    this.#slowMs = slowMs;
  }

  /** A message is awaited. `refuse` ends its call. */
  begin(holder: string, connection: GrpcConnection | undefined, refuse: (error: GatewayError) => void): Incoming {
    const incoming = new Incoming(this.#budget, holder, connection, refuse, this.#onWhole);
    this.#partial.add(incoming);
    if (this.#timer === undefined) this.#timer = listeningClock.after(SWEEP_MS, this.#sweep).unref();
    return incoming;
  }

  readonly #onWhole = (incoming: Incoming): void => {
    this.#partial.delete(incoming);
  };

  readonly #sweep = (): void => {
    const nowMs = listeningClock.nowMs();
    for (const incoming of this.#partial) {
      try {
        const bytes = incoming.partialBytes;
        incoming.takeTo(bytes);
        const lateMs = nowMs - incoming.sinceMs - this.#slowMs;
        if (lateMs >= 0 && bytes <= (lateMs / 1000) * BYTES_PER_SECOND_MIN) throw tooSlow();
      } catch (error) {
        this.#partial.delete(incoming);
        cut(incoming, GatewayError.from(error));
      }
    }
    this.#timer = this.#partial.size > 0 ? listeningClock.after(SWEEP_MS, this.#sweep).unref() : undefined;
  };
}

function cut({ refuse, connection }: Incoming, error: GatewayError): void {
  refuse(error);
  setTimeout(() => connection?.socket.destroy(), CUT_MS).unref();
}

function tooSlow(): GatewayError {
  return new GatewayError("ERROR_REASON_BODY_INVALID", { problem: "it did not arrive in time" });
}

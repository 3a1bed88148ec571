/**
 * The money of a session, such as a realtime one, that nobody knows the end of. It is paid slice by slice: each is a
 * hold of its own, named `<session>:<number>`, and the next one is taken while the present one runs. So a session never
 * runs unpaid. When its node dies, recovery charges the slice as any request: a session needs no rule of its own.
 */
import { GatewayError } from "../base/errors.js";
import type { Checkpoint, Hold, SettleOutcome, Settlement } from "./hold.js";
import { partId } from "./transfer.js";
import type { HoldRequest } from "./ledger-options.js";

/** What each slice asks for: the most that it can cost, and how long it runs. */
export type SliceRequest = Omit<HoldRequest, "requestId">;

interface Holds {
  hold(request: HoldRequest): Hold | Promise<Hold>;
}

export class Slices {
  #number = 1;
  #next: Promise<Hold> | undefined;

  private constructor(
    private readonly ledger: Holds,
    private readonly sessionId: string,
    private readonly request: SliceRequest,
    private current: Hold,
  ) {}

  /** Takes the money of the first slice. Rejects as a hold does. */
  static async begin(ledger: Holds, sessionId: string, request: SliceRequest): Promise<Slices> {
    // A slice is held from when the one before it begins: twice as long as it runs.
    const held = { ...request, timeoutMs: 2 * request.timeoutMs };
    return new Slices(ledger, sessionId, held, await ledger.hold({ ...held, requestId: partId(sessionId, 1) }));
  }

  /** The request of the present slice. */
  get requestId(): string {
    return partId(this.sessionId, this.#number);
  }

  /** Notes what the present slice has delivered, for a crash. */
  checkpoint(delivered: Checkpoint): void {
    this.current.checkpoint(delivered);
  }

  /** Takes the money of the next slice, once. Rejects as a hold does: the session may run to the end of this one. */
  async renew(): Promise<void> {
    this.#next ??= Promise.resolve(
      this.ledger.hold({ ...this.request, requestId: partId(this.sessionId, this.#number + 1) }),
    );
    try {
      await this.#next;
    } catch (error) {
      this.#next = undefined;
      throw error;
    }
  }

  /** Settles the present slice and begins the next, which was renewed before: nothing runs unpaid between them. */
  async turn(settlement: Settlement): Promise<SettleOutcome | undefined> {
    if (this.#next === undefined) throw new GatewayError("ERROR_REASON_INTERNAL", { problem: "no slice was renewed" });
    const ended = this.current;
    this.current = await this.#next;
    this.#next = undefined;
    this.#number += 1;
    return ended.settle(settlement, true);
  }

  /** Settles the present slice, and gives the money of the next back. */
  async end(settlement: Settlement): Promise<SettleOutcome | undefined> {
    const next = await this.#next?.catch(() => undefined);
    next?.close();
    return this.current.settle(settlement, true);
  }
}

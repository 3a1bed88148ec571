/**
 * Who runs the request of an Idempotency-Key, where several processes keep their answers in one place: of two that
 * claim a key one is first, and the other runs nothing.
 */
import { GatewayError } from "../base/errors.js";

/** Money is held at once behind a claim, so that whoever comes later finds the request in the ledger. */
const CLAIM_MS = 60_000;

interface Claim<Holder> {
  readonly holder: Holder;
  readonly requestId: string;
  readonly untilMs: number;
}

export class Claims<Holder> {
  /** In the order of their times. */
  readonly #claims = new Map<string, Claim<Holder>>();

  constructor(private readonly monotonicMs: () => number) {}

  /** Throws OVERLOADED where another holder runs another request with the key. */
  take(id: Uint8Array, requestId: string, holder: Holder): void {
    const nowMs = this.monotonicMs();
    for (const [name, { untilMs }] of this.#claims) {
      if (untilMs > nowMs) break;
      this.#claims.delete(name);
    }
    const name = nameOf(id);
    const claim = this.#claims.get(name);
    if (claim !== undefined && claim.holder !== holder && claim.requestId !== requestId)
      throw new GatewayError("ERROR_REASON_OVERLOADED", {
        problem: "another worker runs a request with this Idempotency-Key",
        retry_after_ms: "1000",
      });
    this.#claims.delete(name);
    this.#claims.set(name, { holder, requestId, untilMs: nowMs + CLAIM_MS });
  }

  /** Ends the claim, and says whether there is none of another. */
  release(id: Uint8Array, holder: Holder): boolean {
    const name = nameOf(id);
    const claim = this.#claims.get(name);
    if (claim !== undefined && claim.holder !== holder) return false;
    this.#claims.delete(name);
    return true;
  }

  /** The holder is gone, and its requests with it. */
  left(holder: Holder): void {
    for (const [name, claim] of this.#claims) if (claim.holder === holder) this.#claims.delete(name);
  }
}

function nameOf(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString("latin1");
}

/**
 * Room for calls that no limit of a key counts: questions, and streams that last. Each key and each account has a
 * bounded share, so that nobody takes all of it. Pure.
 */
import { GatewayError } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import { isOperator } from "./account-scope.js";

/** Calls at once. */
interface RoomBounds {
  readonly ofKey: number;
  readonly ofAccount: number;
  /** Whoever has less than an even share still gets in beyond it, up to twice as many. */
  readonly ofAll: number;
}

type RoomKind = "calls" | "streams";

/** A console's page asks for a few at once, and a watcher needs one stream for each tab. */
const BOUNDS: Readonly<Record<RoomKind, RoomBounds>> = {
  calls: { ofKey: 64, ofAccount: 128, ofAll: 1_024 },
  streams: { ofKey: 32, ofAccount: 64, ofAll: 1_024 },
};
/** A call is over soon, and a stream may be: whoever comes back then is not in the way. */
const RETRY_MS: Readonly<Record<RoomKind, string>> = { calls: "1000", streams: "5000" };

export type Asker = Pick<Caller, "keyId" | "accountId" | "hasScope">;

export class ConcurrencyLimiter {
  readonly #rooms: Readonly<Record<RoomKind, Room>>;

  constructor(bounds = BOUNDS) {
    this.#rooms = { calls: new Room("calls", bounds.calls), streams: new Room("streams", bounds.streams) };
  }

  /** A place in the caller's share; who got it leaves by what it returns. Throws RATE_LIMITED where that is full. */
  enter(kind: RoomKind, caller: Asker): () => void {
    return this.#rooms[kind].enter(caller);
  }
}

class Room {
  readonly #running = new Map<string, number>();
  #accounts = 0;
  #size = 0;

  constructor(
    private readonly kind: RoomKind,
    private readonly bounds: RoomBounds,
  ) {}

  /** Returns what leaves again. */
  enter(caller: Asker): () => void {
    const key = `key ${caller.keyId}`;
    // Operators stand for no account, and together may have what all have.
    const ofOperators = isOperator(caller);
    const account = ofOperators ? "operators" : `account ${caller.accountId || caller.keyId}`;
    if (!ofOperators) this.#require(key, this.bounds.ofKey);
    this.#require(account, this.#shareOf(account, ofOperators ? this.bounds.ofAll : this.bounds.ofAccount));
    if (this.#of(account) === 0) this.#accounts += 1;
    this.#add(key, 1);
    this.#add(account, 1);
    this.#size += 1;
    return () => {
      this.#add(key, -1);
      this.#add(account, -1);
      this.#size -= 1;
      if (this.#of(account) === 0) this.#accounts -= 1;
    };
  }

  /** Where all is taken, whoever has less than an even share of it gets in all the same. */
  #shareOf(account: string, most: number): number {
    const { ofAll } = this.bounds;
    if (this.#size < ofAll) return most;
    if (this.#size >= 2 * ofAll) return 0;
    const accounts = this.#of(account) === 0 ? this.#accounts + 1 : this.#accounts;
    return Math.min(most, Math.ceil(ofAll / accounts));
  }

  #require(owner: string, most: number): void {
    const running = this.#of(owner);
    if (running < most) return;
    throw new GatewayError("ERROR_REASON_RATE_LIMITED", {
      limit: `${this.kind} at once`,
      owner,
      limit_value: String(most),
      remaining: "0",
      reset_ms: RETRY_MS[this.kind],
    });
  }

  #of(owner: string): number {
    return this.#running.get(owner) ?? 0;
  }

  #add(owner: string, count: number): void {
    const running = this.#of(owner) + count;
    if (running === 0) this.#running.delete(owner);
    else this.#running.set(owner, running);
  }
}

/** Tells the nodes of changes, and knows of which it could not. */
import { LRUCache } from "lru-cache";
import { boundedTo } from "../api/bounded-to.js";
import type { Coordination } from "../coordination/coordination.js";
import { ENTRY_TTL_MS } from "./authentication.js";

const PENDING_MAX = 10_000;

export class ChangePublisher {
  /** Changes that other nodes were not told of, while they may believe what they remember. */
  readonly #pending = new LRUCache<string, true>({ ...boundedTo(PENDING_MAX), ttl: ENTRY_TTL_MS });

  /** `onError` hears of which change other nodes were not told. */
  constructor(
    private readonly coordination: Pick<Coordination, "publishRevision">,
    private readonly onError: (error: unknown, name: string) => void = () => undefined,
  ) {}

  /** Of a key or a person, or of an account as `ACCOUNT` begins it. Never rejects. */
  async publish(accountId: string, name: string): Promise<void> {
    try {
      await this.coordination.publishRevision(accountId, name);
      this.#pending.delete(name);
    } catch (error) {
      // The change is durable, so that an error would say the wrong thing.
      this.#pending.set(name, true);
      this.onError(error, name);
    }
  }

  /** True where other nodes may not know the last change of that name for up to 30 seconds. */
  isPending(name: string): boolean {
    return this.#pending.has(name);
  }
}

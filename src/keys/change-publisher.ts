/** Tells the nodes of changes, and knows of which it could not. */
import { LRUCache } from "lru-cache";
import { boundedTo } from "../base/bounded-to.js";
import type { Coordination } from "../coordination/coordination.js";
import type { Store } from "../store/store.js";
import { ENTRY_TTL_MS } from "./authentication.js";
import { ACCOUNT, PERSON } from "./standing.js";

const PENDING_MAX = 10_000;

export class ChangePublisher {
  /** Changes that other nodes were not told of, while they may believe what they remember. */
  readonly #pending = new LRUCache<string, true>({ ...boundedTo(PENDING_MAX), ttl: ENTRY_TTL_MS });

  /** `onError` hears of which change other nodes were not told. */
  constructor(
    private readonly coordination: Pick<Coordination, "publishRevision">,
    private readonly onError: (error: unknown, name: string) => void = () => undefined,
  ) {}

  /** Of a key. Never rejects. */
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

  /** Of all keys of an account. Never rejects. */
  publishAccount(accountId: string): Promise<void> {
    return this.publish(accountId, `${ACCOUNT}${accountId}`);
  }

  /** Of a person's sessions. Never rejects. */
  publishUser(userId: string): Promise<void> {
    return this.publish("people", `${PERSON}${userId}`);
  }

  /** Of what a person may, and with it the keys that the person made. Never rejects. */
  async publishRights(userId: string, people: Pick<Store["people"], "accountsOfMaker">): Promise<void> {
    await this.publishUser(userId);
    try {
      for (const accountId of await people.accountsOfMaker(userId)) await this.publishAccount(accountId);
    } catch (error) {
      this.onError(error, `${PERSON}${userId}`);
    }
  }

  /** True where other nodes may not know the last change of that name for up to 30 seconds. */
  isPending(name: string): boolean {
    return this.#pending.has(name);
  }
}

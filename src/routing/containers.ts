/** The containers that upstreams made, each for one account: nobody else may name it, and no other upstream has it. */
import { LRUCache } from "lru-cache";
import { boundedTo } from "../base/bounded-to.js";
import type { WireRequest } from "../wire/wire.js";
import type { Target } from "./model.js";

/** As long as Anthropic keeps one at most. */
const KEPT_MS = 30 * 24 * 3_600_000;
const CONTAINERS_MAX = 50_000;
/** Real ones have some forty. What is longer is not kept, and nobody can go on with it. */
const ID_CHARACTERS_MAX = 256;

/** In this process alone: after its end a client leaves the name out, and has a new container made. */
export class Containers {
  readonly #made = new LRUCache<string, true>({ ...boundedTo(CONTAINERS_MAX), ttl: KEPT_MS });

  /** The upstream's answer to the account named a container. */
  note({ served }: Target, accountId: string, id: string): void {
    if (id.length > ID_CHARACTERS_MAX) return;
    this.#made.set(nameOf(served.id, accountId, id), true);
  }

  /** The container that the request names, where this target made it for the account. */
  heldAt({ served }: Target, { facts }: WireRequest, accountId: string): readonly string[] {
    const { container } = facts;
    if (container === undefined) return NONE;
    return this.#made.has(nameOf(served.id, accountId, container)) ? [container] : NONE;
  }

  /** The targets that can go on with the container; all of them where the request names none, or none has it. */
  holders(targets: readonly Target[], request: WireRequest, accountId: string): readonly Target[] {
    if (request.facts.container === undefined) return targets;
    const holders = targets.filter((target) => this.heldAt(target, request, accountId).length > 0);
    return holders.length === 0 ? targets : holders;
  }
}

const NONE: readonly string[] = [];

function nameOf(upstream: string, accountId: string, id: string): string {
  return JSON.stringify([upstream, accountId, id]);
}

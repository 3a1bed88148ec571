/** The salts that keep accounts apart in the caches of upstreams. */
import { createHmac } from "node:crypto";
import { LRUCache } from "lru-cache";
import { boundedTo } from "../base/bounded-to.js";
import type { Endpoint, ModelKind } from "../families/family.js";
import { memberOf, type PromptCache } from "../wire/request/prompt-cache.js";
import type { Target } from "./model.js";

/** Making one costs some microseconds. */
const SALTS_MAX = 10_000;

/** Each salt comes from the root alone: every node has the same, after every start. Nobody logs them. */
export class PromptCaches {
  readonly #salts = new LRUCache<string, string>(boundedTo(SALTS_MAX));

  /** `root` is a key of 32 bytes, derived from the root secret. */
  constructor(private readonly root: Buffer) {}

  /** What is written for an account's request; undefined where accounts share the target's cache. */
  of(
    { promptCache }: Pick<Target, "promptCache">,
    endpoint: Pick<Endpoint, "cacheMember">,
    kind: ModelKind,
    accountId: string,
  ): PromptCache | undefined {
    if (promptCache === "shared") return undefined;
    const member = promptCache === undefined ? endpoint.cacheMember : memberOf(promptCache, kind === "chat");
    return { salt: this.#saltOf(accountId), member };
  }

  #saltOf(accountId: string): string {
    const known = this.#salts.get(accountId);
    if (known !== undefined) return known;
    const salt = createHmac("sha256", this.root).update(accountId).digest("base64url");
    this.#salts.set(accountId, salt);
    return salt;
  }
}

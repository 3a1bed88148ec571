/** Lets callers in for a front end whose core is elsewhere: a key that the core took lately is not asked for again. */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Admission, CallMetadata, Channel } from "../api/channel.js";
import { Cancellation } from "../api/cancellation.js";
import { KeyServiceService } from "../api/index.js";
import { GatewayError } from "../errors.js";
import { credentialOf } from "../keys/credential.js";
import { CLIENT_ADDRESS_HEADER } from "./address.js";

/** The core asks again on every call; here it is only about whose bytes are read. */
const BELIEVED_MS = 30_000;
const ENTRIES_MAX = 10_000;
/** A caller is found in memory or with one query. */
const TIMEOUT_MS = 10_000;

export class Admissions {
  readonly #way: Pick<Channel, "unary">;
  readonly #known = new LRUCache<string, Admission>({ max: ENTRIES_MAX, ttl: BELIEVED_MS });

  constructor(way: Pick<Channel, "unary">) {
    this.#way = way;
  }

  /** As `Channel.admit`. */
  admit(scope: string, metadata: CallMetadata): Admission | Promise<Admission> {
    const secret = credentialOf(metadata);
    const id = `${scope} ${metadata[CLIENT_ADDRESS_HEADER]} ${secret}`;
    return (secret === undefined ? undefined : this.#known.get(id)) ?? this.#ask(id, scope, secret ?? "", metadata);
  }

  async #ask(id: string, scope: string, secret: string, metadata: CallMetadata): Promise<Admission> {
    const options = { metadata, signal: new Cancellation(), timeoutMs: TIMEOUT_MS };
    const admission = { holder: createHash("sha256").update(secret).digest("base64") };
    try {
      await this.#way.unary(KeyServiceService.getCaller, { scope }, options);
    } catch (error) {
      // The core checks the address of this question before it reads the scope in it. The call itself is told in order.
      if (error instanceof GatewayError && error.reason === "ERROR_REASON_ADDRESS_NOT_ALLOWED") return admission;
      throw error;
    }
    this.#known.set(id, admission);
    return admission;
  }
}

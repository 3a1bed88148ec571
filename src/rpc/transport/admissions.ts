/** Lets callers in for a front end whose core is elsewhere: a key that the core took lately is not asked for again. */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { boundedTo } from "../../base/bounded-to.js";
import type { Admission, CallMetadata, Channel, Entry } from "../../api/channel.js";
import { Cancellation } from "../../base/cancellation.js";
import { type CheckCallerRequest, FrontServiceService } from "../../api/index.js";
import { GatewayError } from "../../base/errors.js";
import { credentialOf } from "../../keys/credential.js";
import { CLIENT_ADDRESS_HEADER } from "../call/client-address.js";
import { beginsRequest, mayComeAgain } from "../call/begins-request.js";
import { queueName } from "../call/queue-name.js";

/** The core asks again on every call; here it is only about whose bytes are read. */
const BELIEVED_MS = 30_000;
const ENTRIES_MAX = 10_000;
/** A caller is found in memory or with one query. */
const TIMEOUT_MS = 10_000;

export class Admissions {
  readonly #way: Pick<Channel, "unary">;
  readonly #known = new LRUCache<string, Admission>({ ...boundedTo(ENTRIES_MAX), ttl: BELIEVED_MS });
  /** The accounts of keys, by the name of the key's holder. A key never changes its account. */
  readonly #accounts = new LRUCache<string, string>(boundedTo(ENTRIES_MAX));

  constructor(way: Pick<Channel, "unary">) {
    this.#way = way;
  }

  /** As `Channel.admit`. */
  admit({ scope, method = "", isLong }: Entry, metadata: CallMetadata): Admission | Promise<Admission> {
    const secret = credentialOf(metadata);
    const id = `${scope} ${metadata[CLIENT_ADDRESS_HEADER]} ${secret}`;
    // A short body costs less than the question; before its message the core looks at the limits anyway.
    // Where an answer may come again only the core knows of it, once it has the message.
    const asksLimits = isLong && beginsRequest(method) && !mayComeAgain(metadata);
    const known = secret === undefined || asksLimits ? undefined : this.#known.get(id);
    return known ?? this.#ask(id, { scope, beginsRequest: asksLimits, method }, secret ?? "", metadata);
  }

  /** As `Channel.queueOf`. */
  queueOf(metadata: CallMetadata): string {
    return queueName(metadata, (secret) => this.#accounts.get(holderOf(secret)));
  }

  async #ask(id: string, asked: CheckCallerRequest, secret: string, metadata: CallMetadata): Promise<Admission> {
    const options = { metadata, signal: new Cancellation(), timeoutMs: TIMEOUT_MS };
    const admission = { holder: holderOf(secret) };
    try {
      const { message } = await this.#way.unary(FrontServiceService.checkCaller, asked, options);
      if (message.accountId !== "") this.#accounts.set(admission.holder, message.accountId);
    } catch (error) {
      // The core checks the address of this question before it reads the scope in it. The call itself is told in order.
      if (error instanceof GatewayError && error.reason === "ERROR_REASON_ADDRESS_NOT_ALLOWED") return admission;
      throw error;
    }
    this.#known.set(id, admission);
    return admission;
  }
}

/** Names a key without its secret. */
function holderOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64");
}

/** In whose queue a request waits while more come than this process can work off. */
import type { CallMetadata } from "../../api/channel.js";
import { SESSION_HEADER } from "../../api/session-headers.js";
import { credentialOf } from "../../keys/credential.js";

/** One queue of all people who have a session. */
const PEOPLE = "people";
/** One queue of all whose account is not known. */
const UNKNOWN = "";

/** Each account has a queue of its own. `knownAccount` finds the account of a secret without a wait. */
export function queueName(metadata: CallMetadata, knownAccount: (secret: string) => string | undefined): string {
  try {
    const secret = credentialOf(metadata);
    if (secret !== undefined) return knownAccount(secret) ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
  return metadata["cookie"] !== undefined || metadata[SESSION_HEADER] !== undefined ? PEOPLE : UNKNOWN;
}

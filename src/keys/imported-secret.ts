/** Secrets that come from a gateway that stores their SHA-256: their clients keep them, and this gateway learns them at
 * their first use. */
import { createHash } from "node:crypto";
import { invalid } from "../api/check.js";
import { importedDigestOf } from "./secret.js";

export interface ImportedSecret {
  /** The same for the same secret, so that a second import finds the key of the first also after its first use. */
  readonly id: string;
  readonly digest: Buffer;
  readonly hint: string;
}

const SHA256_HEX = /^[0-9a-f]{64}$/i;
const HINT = /^[\x21-\x7e]{0,20}$/;
/** As long as the ids of other keys. */
const ID_LENGTH = 26;

/** Throws PARAMETER_INVALID. */
export function importedSecretOf(sha256: string, hint: string): ImportedSecret {
  if (!SHA256_HEX.test(sha256))
    throw invalid("secret_digest", "must be 64 hexadecimal digits, the SHA-256 of a secret");
  if (!HINT.test(hint)) throw invalid("hint", "must be at most 20 printable ASCII characters without spaces");
  const bytes = Buffer.from(sha256, "hex");
  const id = createHash("sha256").update("tollgate imported key\0").update(bytes).digest("hex").slice(0, ID_LENGTH);
  return { id: `key_${id}`, digest: importedDigestOf(bytes), hint: hint === "" ? "sk-..." : hint };
}

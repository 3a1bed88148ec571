/**
 * The machine's own identity at Amazon's, by the chain of its SDK: a profile, web identity (IRSA), the container's
 * endpoint (ECS, EKS Pod Identity), or the instance (IMDSv2). A profile may assume a role, with an external id.
 */
import { type Issued, RenewedCredential, sourceFailure } from "../../upstream/renewed-credential.js";
import type { Signer } from "./credential.js";

/** The source of a pair of keys, the same pair until its end is near. */
export type SignerSource = Pick<RenewedCredential<Signer>, "value" | "replace">;

export interface IdentityClock {
  /** The time of day, in which a credential's end is told. */
  nowMs(): number;
  /** The clock of its life, which no setting of the time changes. */
  monotonicMs(): number;
}

/** A pair that never changes. */
export function fixedSigner(signer: Signer): SignerSource {
  return { value: () => signer, replace: () => Promise.resolve(false) };
}

export function machineSigner({ nowMs, monotonicMs }: IdentityClock): SignerSource {
  return new RenewedCredential({ issue: () => issue(nowMs), monotonicMs, random: Math.random });
}

async function issue(nowMs: () => number): Promise<Issued<Signer>> {
  // Loaded where it is used: a gateway without it starts faster.
  const { fromNodeProviderChain } = await import("@aws-sdk/credential-providers");
  try {
    // A new chain has no memory, so that changed files and tokens are read again.
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await fromNodeProviderChain()();
    const value = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
    return { value, lifeMs: expiration === undefined ? Infinity : expiration.getTime() - nowMs() };
  } catch (error) {
    throw sourceFailure("Amazon Web Services", codeOf(error));
  }
}

/** Such as ENOENT, or AccessDenied. The message of an error may quote what the source answered, so it stays here. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

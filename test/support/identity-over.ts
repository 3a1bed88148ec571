/** People over a store, as a core has them. */
import { randomBytes } from "node:crypto";
import { SecretSeal } from "../../src/alerts/seal.js";
import { Identity, type IdentityOptions } from "../../src/identity/identity.js";
import type { Store } from "../../src/store/store.js";
import { quickHashing } from "./quick-hashing.js";

type Parts = Pick<IdentityOptions, "coordination" | "keys" | "nowMs"> & Partial<IdentityOptions>;

export function identityOver({ people, accounts }: Pick<Store, "people" | "accounts">, parts: Parts): Identity {
  return new Identity({
    store: people,
    randomBytes,
    accountExists: async (id) => (await accounts.get(id)) !== undefined,
    seal: new SecretSeal({ keys: [randomBytes(32)] }),
    signInSeal: new SecretSeal({ keys: [randomBytes(32)] }),
    relyingParty: () => undefined,
    issuers: () => [],
    onIssuerFailed: () => undefined,
    secondFactorFor: "nobody",
    hashing: () => Promise.resolve(quickHashing),
    ...parts,
  });
}

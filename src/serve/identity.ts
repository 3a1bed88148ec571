/** People, as this process has them. */
import { randomBytes } from "node:crypto";
import { SecretSeal } from "../alerts/seal.js";
import type { Coordination } from "../coordination/coordination.js";
import { Identity } from "../identity/identity.js";
import type { Keys } from "../keys/keys.js";
import type { Store } from "../store/store.js";
import type { CoreOptions } from "./core.js";
import type { Derived } from "./root-secrets.js";

export function createIdentity(
  store: Store,
  coordination: Coordination,
  keys: Keys,
  { factorKeys }: Derived,
  { environment }: CoreOptions,
): Identity {
  const accountExists = async (id: string): Promise<boolean> => (await store.accounts.get(id)) !== undefined;
  const { secondFactorFor } = environment;
  const seal = new SecretSeal(factorKeys);
  const parts = { store: store.people, coordination, keys, seal, accountExists };
  return new Identity({ ...parts, secondFactorFor, nowMs: Date.now, randomBytes });
}

/** What the parts of a core derive from the root secret, and from the other one while it is rotated. */
import type { SealKeys } from "../alerts/seal.js";
import type { Environment } from "../config/environment.js";
import { deriveKey, readRootSecrets, rootSecretsOf, type RootSecretSet } from "../config/secret.js";
import type { SecondFactors } from "../identity/second-factors.js";
import type { Keys } from "../keys/keys.js";
import type { Log } from "../observe/log.js";
import type { SettingsKeeper } from "./settings-keeper.js";

/** Each list begins with what comes from the secret in force. */
export interface Derived {
  readonly secrets: RootSecretSet;
  /** By which a database knows its secret again. */
  readonly keyChecks: readonly string[];
  /** The roots of the seals of stored answers. */
  readonly answerRoots: readonly Buffer[];
  /** The root of the salts of upstreams' caches. */
  readonly cacheRoot: Buffer;
  readonly affinityRoot: Buffer;
  /** Of what the database keeps sealed. Each is sealed anew while both secrets are in force. */
  readonly seals: Readonly<Record<Sealed, SealKeys>>;
  /** Of sign-ins that browsers carry to issuers and back, for some minutes. */
  readonly signInKeys: SealKeys;
  /** What front ends show. */
  readonly frontTokens: readonly string[];
}

/** What is kept sealed by a key of the root secret, and the purpose by which the key is derived. */
export const SEALED = {
  webhooks: "webhook secrets",
  content: "content keys",
  secondFactors: "second factors",
  settings: "settings secrets",
} as const;
export type Sealed = keyof typeof SEALED;

const COUNT_EVERY_MS = 10 * 60_000;
/** All keys are read for it, which is not to slow a start. */
const TELL_ENDED_MS = 10_000;
const NAMED_MAX = 20;

/** Throws a ConfigError where there is no root secret. */
export function deriveSecrets(environment: Environment, mayMake: boolean): Derived {
  const secrets = readRootSecrets(environment, mayMake);
  const all = rootSecretsOf(secrets);
  const { previousSecret } = secrets;
  const sealKeys = (purpose: string): SealKeys => ({
    keys: all.map((secret) => deriveKey(secret, purpose)),
    previous: previousSecret && deriveKey(previousSecret, purpose),
  });
  const texts = (purpose: string): string[] => all.map((secret) => deriveKey(secret, purpose).toString("hex"));
  return {
    secrets,
    keyChecks: texts("key check"),
    answerRoots: all.map((secret) => deriveKey(secret, "answers")),
    cacheRoot: deriveKey(secrets.rootSecret, "prompt caches"),
    affinityRoot: deriveKey(secrets.rootSecret, "session affinity"),
    seals: {
      webhooks: sealKeys(SEALED.webhooks),
      content: sealKeys(SEALED.content),
      secondFactors: sealKeys(SEALED.secondFactors),
      settings: sealKeys(SEALED.settings),
    },
    signInKeys: { keys: all.map((secret) => deriveKey(secret, "sign-ins")) },
    frontTokens: texts("front token"),
  };
}

/** What has secrets that are sealed anew. */
interface Rotated {
  readonly keys: Keys;
  readonly secondFactors: SecondFactors;
  readonly settings: Pick<SettingsKeeper, "sealAnew">;
}

/**
 * While there is a root secret before: seals anew, now and every ten minutes, what only that one opens, and says how
 * many keys still need it. Another node may go on sealing with it until it is restarted too. Returns how it is stopped.
 */
export function watchRotation({ keys, secondFactors, settings }: Rotated, { secrets }: Derived, log: Log): () => void {
  if (secrets.previousSecret === undefined) return tellEnded(keys, log);
  const count = async (): Promise<void> => {
    try {
      const factors = await secondFactors.sealAnew();
      if (factors > 0) log.info({ factors }, "secrets of second factors are encrypted with the new root secret");
      const count = await settings.sealAnew();
      if (count > 0) log.info({ objects: count }, "secrets of settings objects are encrypted with the new root secret");
      const left = await keys.leftBehind();
      if (left.length === 0)
        log.info({ keys: 0 }, "no key needs TOLLGATE_SECRET_PREVIOUS any more: unset it after a day");
      else
        log.info(
          named(left),
          "these keys were not used since TOLLGATE_SECRET changed, and work only while TOLLGATE_SECRET_PREVIOUS is set",
        );
    } catch (err) {
      log.warn({ err }, "what needs TOLLGATE_SECRET_PREVIOUS could not be encrypted anew or counted");
    }
  };
  void count();
  const timer = setInterval(() => void count(), COUNT_EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** Names the keys that ended with a root secret of earlier, once after a start. Returns how that is stopped. */
function tellEnded(keys: Keys, log: Log): () => void {
  const tell = async (): Promise<void> => {
    try {
      const ended = await keys.leftBehind();
      if (ended.length > 0)
        log.warn(named(ended), "these keys were made with another TOLLGATE_SECRET: nobody can use them; revoke them");
    } catch (err) {
      log.warn({ err }, "the keys of another TOLLGATE_SECRET could not be looked for");
    }
  };
  const timer = setTimeout(() => void tell(), TELL_ENDED_MS).unref();
  return () => clearTimeout(timer);
}

/** How many there are, and the first of them. */
function named(ids: readonly string[]): { readonly keys: number; readonly key_ids: readonly string[] } {
  return { keys: ids.length, key_ids: ids.slice(0, NAMED_MAX) };
}

/** What the parts of a core derive from the root secret, and from the other one while it is rotated. */
import type { Environment } from "../config/environment.js";
import { deriveKey, readRootSecrets, rootSecretsOf, type RootSecretSet } from "../config/secret.js";
import type { Keys } from "../keys/keys.js";
import type { Log } from "../observe/log.js";

/** Each list begins with what comes from the secret in force. */
export interface Derived {
  readonly secrets: RootSecretSet;
  /** By which a database knows its secret again. */
  readonly keyChecks: readonly string[];
  /** The roots of the seals of stored answers. */
  readonly answerRoots: readonly Buffer[];
  /** Of the secrets of webhooks. */
  readonly webhookKeys: readonly Buffer[];
  /** That of them which will be gone. */
  readonly previousWebhookKey: Buffer | undefined;
  /** Of the keys of accounts' content, and that of them which will be gone. */
  readonly contentKeys: { readonly keys: readonly Buffer[]; readonly previous: Buffer | undefined };
  /** Of the secrets of second factors. */
  readonly factorKeys: readonly Buffer[];
  /** What front ends show. */
  readonly frontTokens: readonly string[];
}

const WEBHOOK_SECRETS = "webhook secrets";
const CONTENT_KEYS = "content keys";
const COUNT_EVERY_MS = 10 * 60_000;

/** Throws a ConfigError where there is no root secret. */
export function deriveSecrets(environment: Environment, mayMake: boolean): Derived {
  const secrets = readRootSecrets(environment, mayMake);
  const all = rootSecretsOf(secrets);
  const { previousSecret } = secrets;
  const texts = (purpose: string): string[] => all.map((secret) => deriveKey(secret, purpose).toString("hex"));
  return {
    secrets,
    keyChecks: texts("key check"),
    answerRoots: all.map((secret) => deriveKey(secret, "answers")),
    webhookKeys: all.map((secret) => deriveKey(secret, WEBHOOK_SECRETS)),
    previousWebhookKey: previousSecret && deriveKey(previousSecret, WEBHOOK_SECRETS),
    contentKeys: {
      keys: all.map((secret) => deriveKey(secret, CONTENT_KEYS)),
      previous: previousSecret && deriveKey(previousSecret, CONTENT_KEYS),
    },
    factorKeys: all.map((secret) => deriveKey(secret, "second factors")),
    frontTokens: texts("front token"),
  };
}

/** Says, now and every ten minutes, how many keys still need the root secret before. Returns how it is stopped. */
export function watchRotation(keys: Keys, { secrets }: Derived, log: Log): () => void {
  if (secrets.previousSecret === undefined) return () => undefined;
  const count = async (): Promise<void> => {
    try {
      const left = await keys.countPrevious();
      if (left === 0) log.info({ keys: left }, "no key needs TOLLGATE_SECRET_PREVIOUS any more: unset it after a day");
      else log.info({ keys: left }, "so many keys were not used yet since TOLLGATE_SECRET changed");
    } catch (err) {
      log.warn({ err }, "the keys that need TOLLGATE_SECRET_PREVIOUS could not be counted");
    }
  };
  void count();
  const timer = setInterval(() => void count(), COUNT_EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** The root secret of a node, and the keys derived from it. */
import { hkdfSync, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "./config-error.js";
import type { Environment } from "./environment.js";

/** At least so many characters make a root secret. */
const SECRET_LENGTH_MIN = 32;

/** The root secret in force, and another one while it is rotated. */
export interface RootSecretSet {
  readonly rootSecret: Buffer;
  readonly previousSecret: Buffer | undefined;
  readonly nextSecret: Buffer | undefined;
}

/** All root secrets of the environment; that in force as `readRootSecret` finds it. Throws a ConfigError. */
export function readRootSecrets(
  environment: Pick<Environment, "secret" | "secretPrevious" | "secretNext" | "dataDirectory">,
  mayMake: boolean,
): RootSecretSet {
  const { secretPrevious, secretNext } = environment;
  const other = secretPrevious ?? secretNext;
  // One that were made now would be new beside the other, which is meant to be beside an old one.
  const rootSecret = readRootSecret(environment, mayMake && other === undefined);
  if (other !== undefined && rootSecret.equals(Buffer.from(other, "utf8"))) {
    const name = secretPrevious === undefined ? "TOLLGATE_SECRET_NEXT" : "TOLLGATE_SECRET_PREVIOUS";
    throw new ConfigError([`${name} is the root secret in force: unset it, or set TOLLGATE_SECRET to another one`]);
  }
  return {
    rootSecret,
    previousSecret: secretPrevious === undefined ? undefined : Buffer.from(secretPrevious, "utf8"),
    nextSecret: secretNext === undefined ? undefined : Buffer.from(secretNext, "utf8"),
  };
}

/** Those that are there, the one in force first. */
export function rootSecretsOf({ rootSecret, previousSecret, nextSecret }: RootSecretSet): Buffer[] {
  return [rootSecret, previousSecret, nextSecret].filter((secret) => secret !== undefined);
}

/**
 * The root secret: the environment's, else the file `secret` in the data directory, which must exist. It is made there
 * once, where `mayMake`: beside a ledger that knows an earlier one, a new one would end every key. The file's text and
 * the variable are the same secret, so that one can become the other. Throws a ConfigError where there is none.
 */
export function readRootSecret(
  { secret, dataDirectory }: Pick<Environment, "secret" | "dataDirectory">,
  mayMake: boolean,
  random: (byteCount: number) => Buffer = randomBytes,
): Buffer {
  if (secret !== undefined) return Buffer.from(secret, "utf8");
  const path = join(dataDirectory, "secret");
  try {
    const found = read(path);
    if (found !== undefined) return found;
    if (mayMake) return create(dataDirectory, path, random(32).toString("hex"));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`the root secret cannot be kept in ${path}: ${problem}`], { cause: error });
  }
  throw new ConfigError([
    `the root secret ${path} is gone, and without it no key that was made over the API is known: restore it, or set` +
      " TOLLGATE_SECRET to it, or make a new one, once: tollgate serve --accept-loss",
  ]);
}

/**
 * A key of 32 bytes for one purpose, such as `key-pepper`. HKDF-SHA-256 (RFC 5869) without salt: the root is random
 * already.
 */
export function deriveKey(root: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", root, "", `tollgate ${purpose}`, 32));
}

function read(path: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  if (text.length >= SECRET_LENGTH_MIN) return Buffer.from(text, "utf8");
  // A new secret would make every key and every stored credential unreadable, so a person decides.
  throw new ConfigError([
    `${path} must hold at least ${SECRET_LENGTH_MIN} characters: restore it, or remove it and make a new one, once:` +
      " tollgate serve --accept-loss",
  ]);
}

/** The link fails where another process made the file first; then that one's secret counts. */
function create(directory: string, path: string, secret: string): Buffer {
  const draft = `${path}.${process.pid}.draft`;
  const file = openSync(draft, "w", 0o600);
  try {
    writeSync(file, `${secret}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(draft, path);
    syncDirectory(directory);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    unlinkSync(draft);
  }
  return read(path) ?? Buffer.from(secret, "utf8");
}

/** Makes the file's name outlive a power cut, as its bytes do. */
function syncDirectory(directory: string): void {
  const handle = openSync(directory, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** The certificates of the listeners and of the way to a core: read from files, and read again when they change. */
import { readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "./config-error.js";

/** Files in PEM, as the environment names them. */
export interface TlsPaths {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The authorities whose certificates are taken from the other side. */
  readonly ca: string | undefined;
}

/** What stands in the files. */
export interface TlsFiles {
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
  readonly ca: Buffer | undefined;
}

/** Throws a ConfigError where a file cannot be read, or where they do not belong together. */
export function readTlsFiles(paths: TlsPaths): TlsFiles {
  const files = { cert: read(paths.cert), key: read(paths.key), ca: read(paths.ca) };
  try {
    createSecureContext({ ...files, minVersion: "TLSv1.2" });
  } catch (error) {
    const names = Object.values(paths).filter((path) => path !== undefined);
    throw new ConfigError([`${names.join(" and ")} make no certificate with its key: ${messageOf(error)}`]);
  }
  return files;
}

export interface TlsWatch {
  close(): void;
}

/**
 * Looks at the files every `pollMs`. What changed and is whole goes to `onChange`; what is not is told to `onRefused`,
 * and the old stays: a renewal writes two files, one after the other. Files that are written again as they were change
 * nothing: whoever takes a certificate anew forgets the sessions by which its clients go on.
 */
export function watchTlsFiles(
  { paths, inUse, pollMs = 1_000 }: { readonly paths: TlsPaths; readonly inUse: TlsFiles; readonly pollMs?: number },
  onChange: (files: TlsFiles) => void,
  onRefused: (error: unknown) => void,
): TlsWatch {
  let used = inUse;
  // The first look reads them: they may have changed since they were read for use.
  let seen = "";
  const timer = setInterval(() => {
    const stamp = stampOf(paths);
    if (stamp === seen) return;
    seen = stamp;
    try {
      const files = readTlsFiles(paths);
      if (isDeepStrictEqual(files, used)) return;
      used = files;
      onChange(files);
    } catch (error) {
      onRefused(error);
    }
  }, pollMs).unref();
  return { close: () => clearInterval(timer) };
}

function stampOf({ cert, key, ca }: TlsPaths): string {
  return [cert, key, ca].map((path) => (path === undefined ? "" : fileStamp(path))).join(" ");
}

function fileStamp(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? "none" : `${stat.ino}:${stat.size}:${stat.mtimeMs}`;
}

function read(path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError([`${path} cannot be read: ${messageOf(error)}`], { cause: error });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * A mark in the user's own state directory, that a data directory holds a ledger: where the whole directory is gone, a
 * start finds the mark and is no first start. It is kept where it can be, and is no condition of anything.
 */
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, relative } from "node:path";
import { makeDirectory } from "./data-directory.js";

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Where the mark of a data directory is. Undefined where the process has no home, of a directory that is temporary, and
 * of one that would take its mark along.
 */
export function markPath(directory: string, env: Variables): string | undefined {
  const state = stateDirectory(env);
  if (state === undefined || isWithin(directory, tmpdir())) return undefined;
  const name = createHash("sha256").update(directory).digest("hex").slice(0, 32);
  const path = join(state, "tollgate", "ledgers", `${name}.json`);
  return isWithin(path, directory) ? undefined : path;
}

/** Leaves the mark. Returns what stood in the way. */
export function leaveMark(path: string, directory: string): Error | undefined {
  try {
    if (existsSync(path)) return undefined;
    makeDirectory(dirname(path));
    writeFileSync(path, `${JSON.stringify({ data_directory: directory })}\n`, { mode: 0o600, flush: true });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** By the XDG Base Directory Specification, where a relative path counts as none. A home that is not there is none. */
function stateDirectory({ XDG_STATE_HOME: state, HOME: home }: Variables): string | undefined {
  if (state !== undefined && isAbsolute(state)) return state;
  return home !== undefined && isAbsolute(home) && existsSync(home) ? join(home, ".local", "state") : undefined;
}

function isWithin(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}

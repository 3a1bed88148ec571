/** Directories in memory: a disk would sync each write of many small databases, which proves nothing more here. */
import { accessSync, constants, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY_BYTES_MIN = 4 * 2 ** 30;
const RUN = "tollgate-run-";

/** A directory in memory, where it has room: many tests make a database, and a disk would sync each. */
export function quickDirectory(): string {
  try {
    accessSync("/dev/shm", constants.W_OK);
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize >= MEMORY_BYTES_MIN ? "/dev/shm" : tmpdir();
  } catch {
    return tmpdir();
  }
}

/**
 * What is temporary in this process and those that it starts lies there from now on, unless `TMPDIR` says where. The
 * returned call removes it.
 */
export function useQuickDirectory(): () => void {
  if (process.env["TMPDIR"] !== undefined) return () => undefined;
  const root = quickDirectory();
  removeOfGone(root);
  const directory = join(root, `${RUN}${process.pid}`);
  // Others, such as the user whom PostgreSQL runs as, find their way through it.
  mkdirSync(directory, { mode: 0o755, recursive: true });
  process.env["TMPDIR"] = directory;
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  // A run that is ended by hand leaves nothing in memory either.
  process.once("exit", remove);
  return remove;
}

/** What runs left that were killed. */
function removeOfGone(root: string): void {
  for (const name of readdirSync(root)) {
    if (!name.startsWith(RUN) || isAlive(Number(name.slice(RUN.length)))) continue;
    rmSync(join(root, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Where workers reach the process that owns the database of a data directory. */
import { join, relative } from "node:path";
import { ConfigError } from "../config/config-error.js";

/** What the system takes as the name of a socket, in bytes. */
const SOCKET_PATH_BYTES_MAX = 103;

/** Where workers reach the owner of a data directory. Throws a ConfigError where no socket can have that name. */
export function ownerPath(dataDirectory: string): string {
  const whole = join(dataDirectory, "workers.sock");
  const near = relative(process.cwd(), whole);
  const path = near.length < whole.length ? near : whole;
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return path;
  throw new ConfigError([
    `TOLLGATE_DATA=${JSON.stringify(dataDirectory)} is too long for the socket that several workers need in it: name a` +
      ` directory of at most ${SOCKET_PATH_BYTES_MAX - "/workers.sock".length} bytes, or leave TOLLGATE_WORKERS out`,
  ]);
}

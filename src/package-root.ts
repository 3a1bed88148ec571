/**
 * Where the package is: the sources, what the compiler makes of them and the bundle stand at different depths of it,
 * and read the same files.
 */
import { existsSync } from "node:fs";

/** It is beside every build, also where a build stands alone. */
const MARK = "gen/tollgate.binpb";

/** A URL of a folder, which ends with a slash. */
export const PACKAGE_ROOT = findRoot(new URL("./", import.meta.url));

function findRoot(folder: URL): URL {
  if (existsSync(new URL(MARK, folder))) return folder;
  const above = new URL("../", folder);
  if (above.href === folder.href) throw new Error(`${MARK} is missing from the package: it is made by npm run gen`);
  return findRoot(above);
}

/** The JavaScript of a thread, by its name in `src/bundle.mjs`: no thread of this Node loads TypeScript. */
export function threadEntry(name: "database-thread" | "reading-thread" | "record-thread" | "settings-thread"): URL {
  return new URL(`dist/program/${name}.js`, PACKAGE_ROOT);
}

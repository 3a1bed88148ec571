/**
 * Where the package is: the sources, what the compiler makes of them and the bundle stand at different depths of it,
 * and read the same files.
 */
import { existsSync } from "node:fs";
import { basename, delimiter, dirname, join, relative } from "node:path";

/** It is beside every build, also where a build stands alone. */
const MARK = "gen/tollgate.binpb";

/** A URL of a folder, which ends with a slash. */
export const PACKAGE_ROOT = findRoot(new URL("../", import.meta.url));

function findRoot(folder: URL): URL {
  if (existsSync(new URL(MARK, folder))) return folder;
  const above = new URL("../", folder);
  if (above.href === folder.href) throw new Error(`${MARK} is missing from the package: it is made by npm run gen`);
  return findRoot(above);
}

/** The JavaScript of a thread, by its name in `src/build/bundle.mjs`: no thread of this Node loads TypeScript. */
export function threadEntry(name: "database-thread" | "reading-thread" | "record-thread" | "settings-thread"): URL {
  return new URL(`dist/program/${name}.js`, PACKAGE_ROOT);
}

export interface Started {
  /** The file that was started. */
  readonly file: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a person types to start this program again, from the same folder: there is none of its name in any registry. */
export function startCommand(
  { file, directory, env }: Started = { file: process.argv[1] ?? "", directory: process.cwd(), env: process.env },
): string {
  const folder = dirname(file);
  const isCommand = basename(file) === "tollgate";
  const ofPackages = join("node_modules", ".bin");
  // A script of npm has the commands of its packages in its path, and the person's own shell has not.
  if (isCommand && folder === join(directory, ofPackages)) return "npx tollgate";
  if (isCommand && !folder.endsWith(ofPackages) && (env["PATH"] ?? "").split(delimiter).includes(folder))
    return "tollgate";
  const path = relative(directory, file);
  const near = path === "" || path.startsWith("..") ? file : path;
  return `node ${/[^\w./\\:@-]/.test(near) ? JSON.stringify(near) : near}`;
}

/** A text whose commands can be typed as they stand: those of `tollgate` begin as this program was started. */
export function runnable(text: string, command = startCommand()): string {
  return text.replaceAll(/(?<![\w./-])tollgate (?=[a-z])/g, () => `${command} `);
}

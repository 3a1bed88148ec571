/**
 * Which mutant of the program runs in this process: the copy that `npm run mutants` makes of the sources asks here. It
 * names no module of Node in an import, since parts of the program are compiled for browsers as well.
 */

/**
 * The environment says it, in an entry of PATH that is no directory: a test that starts a process passes PATH on, and
 * often nothing else. It has the number of the mutant, the test file, and a file that says which mutants are reached.
 */
const entry = /=tollgate-mutant=(\d+)=([^=:]*)=([^=:]*)/.exec(globalThis.process?.env["PATH"] ?? "");
const active = Number(entry?.[1] ?? 0);
const testFile = decodeURIComponent(entry?.[2] ?? "");
const reachedFile = decodeURIComponent(entry?.[3] ?? "");
const reached = new Set<number>();

/** True for the one mutant that runs. */
export const isMutant: (id: number) => boolean = reachedFile === "" ? (id) => id === active : note;

function note(id: number): false {
  if (reached.has(id)) return false;
  reached.add(id);
  // A line at once, since some tests kill their processes; the system appends short lines whole.
  process.getBuiltinModule("node:fs").appendFileSync(reachedFile, `${id}\t${testFile}\n`);
  return false;
}

/**
 * Which mutant of the program runs in this process: the copy that `npm run mutants` makes of the sources asks here. It
 * names no module of Node in an import, since parts of the program are compiled for browsers as well.
 */

const env: Readonly<Record<string, string | undefined>> = globalThis.process?.env ?? {};
const active = Number(env["TOLLGATE_MUTANT"] ?? 0);
/** A file to which each process adds the mutants that it reaches, beside the test file that it runs for. */
const reachedFile = env["TOLLGATE_MUTANT_REACHED"];
const reached = new Set<number>();

/** True for the one mutant that runs. */
export const isMutant: (id: number) => boolean =
  reachedFile === undefined ? (id) => id === active : (id) => note(id, reachedFile);

function note(id: number, file: string): false {
  if (reached.has(id)) return false;
  reached.add(id);
  // A line at once, since some tests kill their processes; the system appends short lines whole.
  process.getBuiltinModule("node:fs").appendFileSync(file, `${id}\t${process.env["TOLLGATE_MUTANT_TEST"] ?? ""}\n`);
  return false;
}

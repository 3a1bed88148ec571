/** This build once more, as the version before it or after it: two programs that meet on one database. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BUILD = fileURLToPath(new URL("../../", import.meta.url));
const PROGRAM = "dist/program";
/** The end of the list of steps, as the bundler writes it. */
const STEPS_END = /(?<=serves: \{[^{}]*\}\s*\})\];/;

/** What the schema of PostgreSQL gets beside what this build knows. */
export interface SchemaStep {
  readonly version: number;
  readonly sql: string;
  readonly serves: { readonly version: number; readonly program: string };
}

export interface OtherBuild {
  /** The directory with `dist` in it. */
  readonly directory: string;
  remove(): void;
}

/** A build of that version. With steps it is a newer program, which brings the database on. */
export function otherBuild(version: string, steps: readonly SchemaStep[] = []): OtherBuild {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-build-"));
  for (const name of ["dist", "gen"]) cpSync(join(BUILD, name), join(directory, name), { recursive: true });
  symlinkSync(join(BUILD, "node_modules"), join(directory, "node_modules"));
  const facts: unknown = JSON.parse(readFileSync(join(BUILD, "package.json"), "utf8"));
  writeFileSync(join(directory, "package.json"), JSON.stringify({ ...Object(facts), version }));
  if (steps.length > 0) {
    const added = steps.map((step) => `,\n${JSON.stringify(step)}`).join("");
    const changed = readdirSync(join(directory, PROGRAM))
      .filter((name) => name.endsWith(".js"))
      .map((name) => join(directory, PROGRAM, name))
      .filter((path) => STEPS_END.test(readFileSync(path, "utf8")));
    const [path] = changed;
    if (path === undefined || changed.length > 1) throw new Error(`${changed.length} files have the list of steps`);
    writeFileSync(path, readFileSync(path, "utf8").replace(STEPS_END, `${added.replaceAll("$", "$$$$")}];`));
  }
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

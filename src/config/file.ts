/** The settings file: YAML text in, checked settings out, or every problem with its line and column. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { ConfigError } from "./config-error.js";
import { type Path, type Problem, type RawValue, readDocument, type SettingsDocument } from "./yaml-document.js";
import { checkBlocks } from "./blocks.js";
import type { KnownFamily, OutsideUpstreams } from "./references.js";
import type { Settings } from "./settings.js";
import { fromEnvironment } from "./variable-references.js";

/** The largest settings file, in bytes. */
const FILE_BYTES_MAX = 1_048_576;
const VERSION_DIGITS = 12;
/** More problems than these are counted, not listed. */
const PROBLEMS_MAX = 50;

/** Something of a valid file that turned out to be wrong against what the file alone does not tell. */
export interface LateProblem {
  readonly path: Path;
  /** What is right, as the end of a sentence. */
  readonly rule: string;
}

/** A settings file that was read and holds in itself. */
export interface SettingsFile {
  readonly settings: Settings;
  /** Names the content of the file: the first 12 hexadecimal digits of its SHA-256. */
  readonly version: string;
  /** The lines for problems that showed later: with the name of the file, line and column. */
  refusal(problems: readonly LateProblem[]): ConfigError | Promise<ConfigError>;
}

/** Reads the file at a path as `readSettingsText` does its text. Throws a ConfigError also where it cannot be read. */
export function readSettingsFile(
  path: string,
  env: NodeJS.ProcessEnv,
  families?: readonly KnownFamily[],
  fileName: string = basename(path),
): SettingsFile {
  return readSettingsText(textOfFile(path, fileName), env, families, fileName);
}

/** The text of a settings file, whatever it says. Throws a ConfigError. */
export function textOfFile(path: string, fileName: string = basename(path)): string {
  try {
    const { size } = statSync(path);
    if (size > FILE_BYTES_MAX) throw tooLarge(fileName);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([`${fileName}: cannot be read: ${describe(error)}`], { cause: error });
  }
}

/**
 * Reads a text as the file of this name; where families are given, each upstream is checked against its own. Throws a
 * ConfigError with a line for each problem.
 */
export function readSettingsText(
  text: string,
  env: NodeJS.ProcessEnv,
  families: readonly KnownFamily[] | undefined,
  fileName: string,
): SettingsFile {
  const { document, settings } = readBlocks(text, env, families, fileName);
  return {
    settings,
    version: versionOf(text),
    refusal: (late) =>
      refusal(
        late.map(({ path, rule }) => document.problemAt(path, rule)),
        fileName,
      ),
  };
}

/** The same, with the blocks as they are written. Targets may also name upstreams from `outside`. */
export function readBlocks(
  text: string,
  env: NodeJS.ProcessEnv,
  families: readonly KnownFamily[] | undefined,
  fileName: string,
  outside?: OutsideUpstreams,
): { readonly document: SettingsDocument; readonly settings: Settings } {
  if (Buffer.byteLength(text) > FILE_BYTES_MAX) throw tooLarge(fileName);
  // A file that is just being written is empty for a moment, and must not take every model away.
  if (text.trim() === "") throw new ConfigError([`${fileName}:1:1 is empty; remove it to run without settings`]);

  const document = readDocument(text, fromEnvironment(env));
  if (document.root === undefined && document.problems.length > 0) throw refusal(document.problems, fileName);
  const checked = checkBlocks(withoutExtensions(document.root ?? {}), families, outside);
  const problems = [
    ...document.problems,
    ...checked.problems.map(({ path, rule, part }) => document.problemAt(path, rule, part)),
  ];
  const { settings } = checked;
  if (settings === undefined || problems.length > 0) throw refusal(problems, fileName);
  return { document, settings };
}

/** What names a text. */
export function versionOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, VERSION_DIGITS);
}

/** Blocks whose name begins with `x-` are the reader's own: anchors may stand there. */
function withoutExtensions(root: RawValue): RawValue {
  if (typeof root !== "object" || Array.isArray(root)) return root;
  return Object.fromEntries(Object.entries(root).filter(([name]) => !name.startsWith("x-")));
}

/** The problems in the order of the file. Of several at one value the first says enough. */
export function refusal(problems: readonly Problem[], fileName: string): ConfigError {
  const byPlace = new Map<string, Problem>();
  for (const problem of problems) {
    const place = JSON.stringify([problem.line, problem.column, problem.path.map(String)]);
    if (!byPlace.has(place)) byPlace.set(place, problem);
  }
  const sorted = [...byPlace.values()].sort((a, b) => a.line - b.line || a.column - b.column);
  const lines = sorted.slice(0, PROBLEMS_MAX).map((problem) => {
    const path = formatPath(problem.path);
    return `${fileName}:${problem.line}:${problem.column} ${path === "" ? "" : `${path}: `}${problem.rule}`;
  });
  if (sorted.length > PROBLEMS_MAX) lines.push(`${fileName}: and ${sorted.length - PROBLEMS_MAX} more`);
  return new ConfigError(lines);
}

/** A name that can be read where it stands between two dots. */
const PLAIN_NAME = /^[\w-]+$/;

/** `models.gpt-x.targets[0].upstream`. A name that is not plain, such as one with a tab, stands quoted in brackets. */
export function formatPath(path: Path): string {
  return path.map(formatPart).join("").replace(/^\./, "");
}

function formatPart(part: PropertyKey): string {
  if (typeof part === "number") return `[${part}]`;
  const name = String(part);
  return PLAIN_NAME.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && error.code === "ENOENT" ? "there is no such file" : error.message;
}

function tooLarge(fileName: string): ConfigError {
  return new ConfigError([`${fileName}: is larger than ${FILE_BYTES_MAX} bytes`]);
}

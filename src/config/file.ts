/** The settings file: YAML text in, checked settings out, or every problem with its line and column. */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { checkBlocks } from "./blocks.js";
import { ConfigError } from "./config-error.js";
import { type SettingsText, TEXT_BYTES_MAX, textsOfFile, tooLarge } from "./included.js";
import { readDocuments } from "./joined-document.js";
import { type ObjectBlock, objectBlocks, placeOfObject } from "./object-places.js";
import { type Path, type Problem, type RawValue, type SettingsDocument } from "./yaml-document.js";
import type { KnownFamily, OutsideNames } from "./references.js";
import type { Settings } from "./settings.js";
import { fromEnvironment } from "./variable-references.js";

const VERSION_DIGITS = 12;
/** More problems than these are counted, not listed. */
const PROBLEMS_MAX = 50;

/** Something of a valid file that turned out to be wrong against what the file alone does not tell. */
export interface LateProblem {
  readonly path: Path;
  /** What is right, as the end of a sentence. */
  readonly rule: string;
}

/** An object of the file, with its secrets. */
export interface FileBlock extends ObjectBlock {
  /** Such as `tollgate.yaml:12`. */
  readonly place: string;
}

/** A settings file that was read and holds in itself. */
export interface SettingsFile {
  readonly settings: Settings;
  readonly blocks: readonly FileBlock[];
  /** Names the content of the file: the first 12 hexadecimal digits of its SHA-256. */
  readonly version: string;
  /** The lines for problems that showed later: with the name of the file, line and column. */
  refusal(problems: readonly LateProblem[]): ConfigError | Promise<ConfigError>;
}

/** Reads the file at a path as `readSettingsTexts` does. Throws a ConfigError also where it cannot be read. */
export function readSettingsFile(
  path: string,
  env: NodeJS.ProcessEnv,
  families?: readonly KnownFamily[],
  fileName: string = basename(path),
): SettingsFile {
  return readSettingsTexts(textsOfFile(path, fileName), env, families);
}

/**
 * Reads the text of a file and of those that it includes; where families are given, each upstream is checked against
 * its own. Throws a ConfigError with a line for each problem.
 */
export function readSettingsTexts(
  texts: readonly SettingsText[],
  env: NodeJS.ProcessEnv,
  families: readonly KnownFamily[] | undefined,
): SettingsFile {
  const { document, settings } = readBlocks(texts, env, families);
  return {
    settings,
    blocks: namedBlocks(document, texts[0]?.name ?? ""),
    version: versionOf(texts),
    refusal: (late) =>
      refusal(
        late.map(({ path, rule }) => document.problemAt(path, rule)),
        texts,
      ),
  };
}

/** The same, with the blocks as they are written. Targets and aliases may also name what is in `outside`. */
export function readBlocks(
  texts: readonly SettingsText[],
  env: NodeJS.ProcessEnv,
  families: readonly KnownFamily[] | undefined,
  outside?: OutsideNames,
): { readonly document: SettingsDocument; readonly settings: Settings } {
  for (const { name, text } of texts) {
    if (Buffer.byteLength(text) > TEXT_BYTES_MAX) throw tooLarge(name);
    // A file that is just being written is empty for a moment, and must not take every model away.
    if (text.trim() === "") throw new ConfigError([`${name}:1:1 is empty; remove it to run without settings`]);
  }
  const document = readDocuments(texts, fromEnvironment(env));
  if (document.root === undefined && document.problems.length > 0) throw refusal(document.problems, texts);
  const checked = checkBlocks(withoutExtensions(document.root ?? {}), families, outside);
  const problems = [
    ...document.problems,
    ...checked.problems.map(({ path, rule, part }) => document.problemAt(path, rule, part)),
  ];
  const { settings } = checked;
  if (settings === undefined || problems.length > 0) throw refusal(problems, texts);
  return { document, settings };
}

function namedBlocks(document: SettingsDocument, mainName: string): readonly FileBlock[] {
  return objectBlocks(document.root).map(({ kind, name, value }): FileBlock => {
    const { fileName = mainName, line } = document.problemAt(placeOfObject(kind, name), "", "key");
    return { kind, name, value, place: `${fileName}:${line}` };
  });
}

/** What names the content of a file and of those that it includes. */
export function versionOf([main, ...included]: readonly SettingsText[]): string {
  const hash = createHash("sha256").update(main?.text ?? "");
  for (const { name, text } of included) hash.update(JSON.stringify([name, text]));
  return hash.digest("hex").slice(0, VERSION_DIGITS);
}

/** Blocks whose name begins with `x-` are the reader's own: anchors may stand there. */
function withoutExtensions(root: RawValue): RawValue {
  if (typeof root !== "object" || Array.isArray(root)) return root;
  return Object.fromEntries(Object.entries(root).filter(([name]) => !name.startsWith("x-")));
}

/** The problems in the order of the files. Of several at one value the first says enough. */
export function refusal(problems: readonly Problem[], texts: readonly Pick<SettingsText, "name">[]): ConfigError {
  const mainName = texts[0]?.name ?? "";
  const fileOf = ({ fileName = mainName }: Problem): number => texts.findIndex(({ name }) => name === fileName);
  const byPlace = new Map<string, Problem>();
  for (const problem of problems) {
    const place = JSON.stringify([fileOf(problem), problem.line, problem.column, problem.path.map(String)]);
    if (!byPlace.has(place)) byPlace.set(place, problem);
  }
  const sorted = [...byPlace.values()].sort((a, b) => fileOf(a) - fileOf(b) || a.line - b.line || a.column - b.column);
  const lines = sorted.slice(0, PROBLEMS_MAX).map(({ fileName = mainName, line, column, path, rule }) => {
    const value = formatPath(path);
    return `${fileName}:${line}:${column} ${value === "" ? "" : `${value}: `}${rule}`;
  });
  if (sorted.length > PROBLEMS_MAX) lines.push(`${mainName}: and ${sorted.length - PROBLEMS_MAX} more`);
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

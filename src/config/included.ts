/** The texts of a settings file: its own, and those of the files that its `include` names. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ConfigError } from "./config-error.js";
import { blockOf, readDocument } from "./yaml-document.js";

/** The largest text, in bytes. */
export const TEXT_BYTES_MAX = 1_048_576;
/** A file and those that it includes are read in one thread, which has bounds of time and memory. */
const ALL_BYTES_MAX = 4 * TEXT_BYTES_MAX;
const FILES_MAX = 1_000;
const HAS_INCLUDE = /^include[ \t]*:/m;

export interface SettingsText {
  /** As problems name it: that of an included file is the way to it from the directory of the main file. */
  readonly name: string;
  readonly text: string;
}

/** The texts of a file, its own first. Throws a ConfigError where one of them cannot be read. */
export function textsOfFile(path: string, fileName: string = basename(path)): readonly SettingsText[] {
  return textsWith({ name: fileName, text: textAt(path, fileName) }, path);
}

/** The same, with another text in the place of the file's own. */
export function textsWith(main: SettingsText, path: string): readonly SettingsText[] {
  const texts = [main];
  let bytes = Buffer.byteLength(main.text);
  for (const name of filesOf(patternsIn(main.text), path, main.name)) {
    const text = textAt(resolve(dirname(path), name), name);
    bytes += Buffer.byteLength(text);
    if (bytes > ALL_BYTES_MAX)
      throw new ConfigError([`${main.name}: it and its included files are larger than ${ALL_BYTES_MAX} bytes`]);
    texts.push({ name, text });
  }
  return texts;
}

export function tooLarge(name: string): ConfigError {
  return new ConfigError([`${name}: is larger than ${TEXT_BYTES_MAX} bytes`]);
}

/** Names the state of a file and of those that it includes: another one means that something changed. */
export class FileStamp {
  #main = "";
  #patterns: readonly string[] = [];

  constructor(private readonly path: string) {}

  read(): string {
    const main = stampOf(this.path);
    if (main !== this.#main) {
      this.#main = main;
      this.#patterns = this.#readPatterns();
    }
    return [main, ...this.#included().map((name) => `${name} ${stampOf(resolve(dirname(this.path), name))}`)].join(
      "\n",
    );
  }

  /** None where the file cannot be read: its own stamp says so. */
  #readPatterns(): readonly string[] {
    try {
      return patternsIn(textAt(this.path, ""));
    } catch {
      return [];
    }
  }

  #included(): readonly string[] {
    try {
      return filesOf(this.#patterns, this.path, "");
    } catch {
      return [];
    }
  }
}

function patternsIn(text: string): readonly string[] {
  // Most files include none, and are read once.
  if (!HAS_INCLUDE.test(text)) return [];
  const patterns = blockOf(readDocument(text, (value) => value).root)["include"];
  // What is no list of names is refused by the schema.
  return Array.isArray(patterns) ? patterns.filter((pattern) => typeof pattern === "string") : [];
}

/** The files that patterns name, in the order of the patterns and then of their names, each once. */
function filesOf(patterns: readonly string[], path: string, mainName: string): readonly string[] {
  const all = patterns.flatMap((pattern) => matching(pattern, path, mainName));
  // A pattern for its own directory finds the main file too.
  const names = new Set(all.filter((name) => resolve(dirname(path), name) !== resolve(path)));
  if (names.size > FILES_MAX) throw new ConfigError([`${mainName}: includes more than ${FILES_MAX} files`]);
  return [...names];
}

function matching(pattern: string, path: string, mainName: string): readonly string[] {
  const last = basename(pattern);
  if (!last.includes("*")) return [pattern];
  const form = new RegExp(`^${last.replaceAll(/[^A-Za-z0-9*]/g, "\\$&").replaceAll("*", "[^/]*")}$`);
  const directory = dirname(pattern);
  try {
    const found = readdirSync(resolve(dirname(path), directory)).filter((name) => form.test(name) && name[0] !== ".");
    return found.sort().map((name) => join(directory, name));
  } catch (error) {
    throw new ConfigError([`${mainName}: include: ${pattern} cannot be read: ${describe(error)}`], { cause: error });
  }
}

function textAt(path: string, name: string): string {
  try {
    const { size } = statSync(path);
    if (size > TEXT_BYTES_MAX) throw tooLarge(name);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([`${name}: cannot be read: ${describe(error)}`], { cause: error });
  }
}

/** What changes with a file; `absent` where it cannot be reached. */
function stampOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return "absent";
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && error.code === "ENOENT" ? "there is no such file" : error.message;
}

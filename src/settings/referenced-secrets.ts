/** The values of secrets that objects refer to, read again when a file changes. */
import { readFile, stat } from "node:fs/promises";
import { parseReference } from "../config/secret-reference.js";

/** Credentials are short; some are keys in JSON. */
const FILE_BYTES_MAX = 65_536;

interface ReadFile {
  readonly stamp: string;
  readonly value: string;
}

export class ReferencedSecrets {
  readonly #files = new Map<string, ReadFile>();

  constructor(private readonly env: NodeJS.ProcessEnv) {}

  /**
   * Reads the files among these references that are new or that changed, and forgets the others. A file that cannot be
   * read keeps the value that it had. True where a value differs.
   */
  async refresh(references: readonly string[]): Promise<boolean> {
    const paths = new Set(references.flatMap((text) => (text.startsWith("file:") ? [text.slice("file:".length)] : [])));
    for (const path of this.#files.keys()) if (!paths.has(path)) this.#files.delete(path);
    const changed = await Promise.all([...paths].map((path) => this.#read(path)));
    return changed.includes(true);
  }

  /** What a reference stands for; undefined where there is nothing. */
  valueOf(text: string): string | undefined {
    const reference = parseReference(text);
    if (reference?.source === "env") return this.env[reference.place] || undefined;
    return this.#files.get(reference?.place ?? "")?.value;
  }

  async #read(path: string): Promise<boolean> {
    const known = this.#files.get(path);
    try {
      const found = await stat(path);
      const stamp = `${found.ino} ${found.size} ${found.mtimeMs}`;
      if (known?.stamp === stamp || found.size > FILE_BYTES_MAX || !found.isFile()) return false;
      const value = oneLine((await readFile(path, "utf8")).trim());
      // A file that is just being written is empty for a moment.
      if (value === "") return false;
      this.#files.set(path, { stamp, value });
      return known?.value !== value;
    } catch {
      return false;
    }
  }
}

/** Editors and `echo` end a file with a line break, and Google writes its keys in lines: a credential has none. */
function oneLine(text: string): string {
  if (!text.startsWith("{")) return text;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

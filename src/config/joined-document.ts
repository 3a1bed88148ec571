/** The texts of several files as one document, in which each value still has its place. */
import type { SettingsText } from "./included.js";
import {
  blockOf,
  type Path,
  type Problem,
  type RawValue,
  readDocument,
  type ScalarReader,
  type SettingsDocument,
} from "./yaml-document.js";

const INCLUDE = "include";

/** Reads the texts as one: their blocks are joined by name, and their lists one after the other. Never throws. */
export function readDocuments(texts: readonly SettingsText[], readScalar: ScalarReader): SettingsDocument {
  const documents = texts.map(({ text }) => readDocument(text, readScalar));
  const [only] = documents;
  return documents.length === 1 && only !== undefined ? only : new JoinedDocument(texts, documents);
}

class JoinedDocument implements SettingsDocument {
  readonly problems: Problem[];
  readonly root: Record<string, RawValue> = {};
  /** Which document has a value, by its path. */
  readonly #owners = new Map<string, number>();
  /** Of a joined list: where the values of each document begin and end in it. */
  readonly #spans = new Map<string, { readonly index: number; readonly start: number; readonly end: number }[]>();

  constructor(
    private readonly texts: readonly SettingsText[],
    private readonly documents: readonly SettingsDocument[],
  ) {
    this.problems = documents.flatMap(({ problems }, index) =>
      problems.map((problem) => Object.assign(problem, { fileName: this.#nameOf(index) })),
    );
    for (const [index, { root }] of documents.entries()) this.#join(root, index);
  }

  problemAt(path: Path, rule: string, part?: "key" | "value"): Problem {
    const [top, name, ...rest] = path;
    if (typeof name === "number") {
      const span = this.#spans.get(String(top))?.find(({ end }) => name < end);
      if (span !== undefined) {
        const own = [String(top), name - span.start, ...rest];
        return { ...this.#problemIn(span.index, own, rule, part), path };
      }
    }
    const owner = this.#owners.get(ownerName(path.slice(0, 2))) ?? this.#owners.get(ownerName(path.slice(0, 1))) ?? 0;
    return this.#problemIn(owner, path, rule, part);
  }

  #join(root: RawValue, index: number): void {
    if (Array.isArray(root) || typeof root === "string") this.#refuse(index, [], "must be blocks, such as models:");
    for (const [top, value] of Object.entries(blockOf(root))) {
      // Anchors of one file are its own, and so are the blocks in which they stand.
      if (top.startsWith("x-")) continue;
      if (index > 0 && top === INCLUDE) this.#refuse(index, [top], "may only stand in the file that is started with");
      else if (Array.isArray(value)) this.#joinList(top, value, index);
      else this.#joinBlock(top, value, index);
    }
  }

  #joinList(top: string, values: readonly RawValue[], index: number): void {
    const present = this.root[top] ?? [];
    if (!Array.isArray(present)) return this.#refuse(index, [top], this.#twice([top]));
    const joined = [...present, ...values];
    this.root[top] = joined;
    this.#spans.set(top, [...(this.#spans.get(top) ?? []), { index, start: present.length, end: joined.length }]);
    this.#own([top], index);
  }

  #joinBlock(top: string, value: RawValue, index: number): void {
    const present = this.root[top];
    if (value === undefined && present !== undefined) return;
    if (present === undefined) this.root[top] = typeof value === "object" ? {} : value;
    else if (typeof present !== "object" || Array.isArray(present) || typeof value !== "object")
      return this.#refuse(index, [top], this.#twice([top]));
    this.#own([top], index);
    const joined = blockOf(this.root[top]) as Record<string, RawValue>;
    for (const [name, member] of Object.entries(blockOf(value))) {
      if (Object.hasOwn(joined, name)) this.#refuse(index, [top, name], this.#twice([top, name]));
      else {
        joined[name] = member;
        this.#own([top, name], index);
      }
    }
  }

  #own(path: Path, index: number): void {
    const name = ownerName(path);
    if (!this.#owners.has(name)) this.#owners.set(name, index);
  }

  #twice(path: Path): string {
    const { fileName, line } = this.problemAt(path, "", "key");
    return `is also in ${fileName}:${line}: keep one of them`;
  }

  #refuse(index: number, path: Path, rule: string): void {
    this.problems.push(this.#problemIn(index, path, rule, "key"));
  }

  #problemIn(index: number, path: Path, rule: string, part?: "key" | "value"): Problem {
    const document = this.documents[index];
    const problem = document?.problemAt(path, rule, part) ?? { line: 1, column: 1, path, rule };
    return { ...problem, fileName: this.#nameOf(index) };
  }

  #nameOf(index: number): string {
    return this.texts[index]?.name ?? "";
  }
}

function ownerName(path: Path): string {
  return JSON.stringify(path.map(String));
}

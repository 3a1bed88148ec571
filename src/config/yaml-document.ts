/** The YAML text of a settings file as plain values, and where in the text each of them stands. */
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, Scalar } from "yaml";
import { aliasTargets } from "./aliases.js";
import { parseYaml, TOO_DEEP } from "./yaml-text.js";

/** A value of the file. Every scalar is its own text, so that 0.25 stays exact; what is left empty is undefined. */
export type RawValue = string | undefined | RawValue[] | { [key: string]: RawValue };

/** The way to a value: names of mappings and indexes of sequences. */
export type Path = readonly PropertyKey[];

/** What is wrong at one place of the file. */
export interface Problem {
  /** Undefined where there is one file alone. */
  readonly fileName?: string | undefined;
  readonly line: number;
  readonly column: number;
  /** Empty for the file itself. */
  readonly path: Path;
  /** What is right, as the end of a sentence. */
  readonly rule: string;
}

export interface SettingsDocument {
  readonly root: RawValue;
  /** What could not be read. */
  readonly problems: readonly Problem[];
  /** A problem at a path; a path that the file lacks stands where its nearest parent is named. */
  problemAt(path: Path, rule: string, part?: "key" | "value"): Problem;
}

/** Aliases can make a small file huge: at most so many values are read. */
const VALUES_MAX = 100_000;
const DEPTH_MAX = 32;
/** No object of JavaScript holds it as a name like others: what stands below it would be lost in silence. */
const RESERVED_NAME = "__proto__";

/** The members of a block; none where the value is none. */
export function blockOf(value: RawValue): Readonly<Record<string, RawValue>> {
  return typeof value === "object" && !Array.isArray(value) ? value : {};
}

/** Where the text of a value stands. */
export interface ScalarPlace {
  readonly path: Path;
  /** Where it begins in the text of the file; that of an alias begins where its anchor stands. */
  readonly offset: number;
  /** Says what is wrong with it, as the end of a sentence. */
  readonly refuse: (rule: string) => void;
}

/** Makes a value of its text in the file. */
export type ScalarReader = (text: string, place: ScalarPlace) => string;

/** Reads YAML 1.2. Never throws. */
export function readDocument(text: string, readScalar: ScalarReader): SettingsDocument {
  const lines = new LineCounter();
  const parsed = parseYaml(text, lines);
  if (parsed === undefined) return tooDeep();
  const reader = new Reader(parsed, lines, readScalar);
  if (reader.holdsSyntax(text)) reader.root = reader.read(parsed.contents, [], 0);
  return reader;
}

function tooDeep(): SettingsDocument {
  const problemAt = (path: Path, rule: string): Problem => ({ line: 1, column: 1, path, rule });
  return { root: undefined, problems: [problemAt([], TOO_DEEP)], problemAt };
}

class Reader implements SettingsDocument {
  readonly problems: Problem[] = [];
  root: RawValue;
  private readonly offsets = new Map<string, { key: number; value: number }>();
  private valueCount = 0;
  private pairCount = 0;
  private readonly targets;

  constructor(
    private readonly document: Document.Parsed,
    private readonly lines: LineCounter,
    private readonly scalar: ScalarReader,
  ) {
    this.targets = aliasTargets(document);
  }

  /** False where the text is no YAML. Only the first error is listed, since later ones follow from it. */
  holdsSyntax(text: string): boolean {
    for (const warning of this.document.warnings) this.refuse(warning.pos[0], [], "tags are not supported");
    const [first] = this.document.errors;
    if (first === undefined) return true;
    const line = text.split("\n")[this.lines.linePos(first.pos[0]).line - 1] ?? "";
    const hint = line.includes("${") ? '; write "${NAME}" in quotes' : "";
    const problem = first.code === "MULTIPLE_DOCS" ? "the file holds more than one document" : first.message;
    this.refuse(first.pos[0], [], `is not valid YAML: ${problem}${hint}`);
    return false;
  }

  read(node: Node | null, path: Path, depth: number): RawValue {
    if (node === null) return undefined;
    const offset = node.range?.[0] ?? 0;
    if (!this.mayRead(offset, path, depth)) return undefined;
    if (isAlias(node)) {
      const target = this.targets.get(node);
      if (target === undefined) return this.refuse(offset, path, `names no anchor: *${node.source}`);
      return this.read(target, path, depth + 1);
    }
    if (isMap(node)) return this.readMap(node.items, path, depth);
    if (isSeq(node)) return node.items.map((item, index) => this.readItem(item, [...path, index], depth));
    return isScalar(node) ? this.readScalar(node, path, offset) : undefined;
  }

  /** Counts a value; false, and said once, where there are too many or they are too deep. */
  private mayRead(offset: number, path: Path, depth: number): boolean {
    this.valueCount += 1;
    if (depth > DEPTH_MAX) this.refuse(offset, path, `is nested deeper than ${DEPTH_MAX} levels`);
    else if (this.valueCount === VALUES_MAX + 1) this.refuseSize(offset, path);
    return depth <= DEPTH_MAX && this.valueCount <= VALUES_MAX;
  }

  private refuseSize(offset: number, path: Path): void {
    this.refuse(offset, path, `makes more than ${VALUES_MAX} values; use fewer aliases`);
  }

  problemAt(path: Path, rule: string, part: "key" | "value" = "value"): Problem {
    const found = this.offsets.get(nameOf(path));
    const offset = found === undefined ? this.parentOffset(path) : found[part];
    return this.problem(offset, path, rule);
  }

  private readMap(items: readonly Pair[], path: Path, depth: number): RawValue {
    const entries: Entries = Object.create(null);
    this.readPairs(items, entries, path, depth);
    return entries;
  }

  /** What the pairs say themselves, then what they merge. A name that stands in the entries already keeps its value. */
  private readPairs(items: readonly Pair[], entries: Entries, path: Path, depth: number): void {
    const own = new Set<string>();
    for (const { key, value } of items) {
      if (isMergeKey(key)) continue;
      // What a merge brings once more, or is refused, makes no value and takes its time.
      this.pairCount += 1;
      if (this.pairCount === VALUES_MAX + 1) this.refuseSize(startOf(value) ?? 0, path);
      if (this.pairCount > VALUES_MAX) return;
      if (!isScalar(key) || typeof key.value !== "string") {
        this.refuse(this.document.range[0], path, "has a name that is no plain text");
        continue;
      }
      const below = [...path, key.value];
      const keyOffset = key.range?.[0] ?? 0;
      if (key.value === RESERVED_NAME) {
        this.refuse(keyOffset, below, "cannot be a name");
        continue;
      }
      if (own.has(key.value)) this.refuse(keyOffset, below, "is written twice");
      own.add(key.value);
      if (key.value in entries) continue;
      this.offsets.set(nameOf(below), { key: keyOffset, value: startOf(value) ?? keyOffset });
      entries[key.value] = this.read(asNode(value), below, depth + 1);
    }
    for (const { key, value } of items) if (isMergeKey(key)) this.merge(asNode(value), entries, path, depth + 1);
  }

  /** `<<: *defaults` or `<<: [*one, *other]`, of which the first counts where both say something. */
  private merge(node: Node | null, entries: Entries, path: Path, depth: number): void {
    const offset = node?.range?.[0] ?? 0;
    if (!this.mayRead(offset, path, depth)) return;
    const source = isAlias(node) ? this.targets.get(node) : node;
    if (isMap(source)) this.readPairs(source.items, entries, path, depth);
    else if (isSeq(source)) for (const item of source.items) this.merge(asNode(item), entries, path, depth + 1);
    else this.refuse(offset, path, "merges (<<) what is no mapping; write <<: *name, of an anchor &name at a mapping");
  }

  private readItem(item: unknown, path: Path, depth: number): RawValue {
    const offset = asNode(item)?.range?.[0] ?? 0;
    this.offsets.set(nameOf(path), { key: offset, value: offset });
    return this.read(asNode(item), path, depth + 1);
  }

  private readScalar(node: Scalar, path: Path, offset: number): RawValue {
    const text = String(node.value);
    if (node.type === Scalar.PLAIN && ["", "~", "null"].includes(text)) return undefined;
    return this.scalar(text, { path, offset, refuse: (rule) => this.refuse(offset, path, rule) });
  }

  private parentOffset(path: Path): number {
    for (let length = path.length - 1; length > 0; length--) {
      const found = this.offsets.get(nameOf(path.slice(0, length)));
      if (found !== undefined) return found.key;
    }
    return 0;
  }

  private refuse(offset: number, path: Path, rule: string): undefined {
    this.problems.push(this.problem(offset, path, rule));
    return undefined;
  }

  private problem(offset: number, path: Path, rule: string): Problem {
    const { line, col } = this.lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1), path, rule };
  }
}

type Entries = { [key: string]: RawValue };

interface Pair {
  readonly key: unknown;
  readonly value: unknown;
}

/** A quoted "<<" is a name as any other. */
function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.value === "<<" && key.type === Scalar.PLAIN;
}

function asNode(value: unknown): Node | null {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value) ? value : null;
}

/** Where a value begins; undefined where it is left empty, since that is somewhere behind the line. */
function startOf(value: unknown): number | undefined {
  const node = asNode(value);
  return node === null || (isScalar(node) && node.source === "") ? undefined : node.range?.[0];
}

function nameOf(path: Path): string {
  return JSON.stringify(path.map(String));
}

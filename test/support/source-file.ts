/** A source file of the program as its rules look at it: its text, its syntax, and what it imports. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import ts from "typescript";

export interface SourceFile {
  /** From the root of the repository, such as src/http/server.ts. */
  readonly path: string;
  readonly text: string;
  /** Parsed when it is first asked for: most rules can tell from the text that a file has nothing for them. */
  readonly syntax: ts.SourceFile;
  /** Where it names another file of the repository, and which. */
  readonly namings: readonly Naming[];
  /** Files of the repository that it imports, names as types, loads later, or starts as a worker. */
  readonly imports: readonly string[];
  /** Of these, what must be there before it is: neither what it names as types alone, nor what it loads later. */
  readonly needs: readonly string[];
}

export interface Naming {
  readonly node: ts.Node;
  readonly target: string;
}

/** Files that are loaded later, or started as a worker, may be named anywhere. */
const NAMES_LATER = /\b(?:import|URL)\(\s*["'`]\./;
/** What every other naming ends with. */
const FROM = /\b(?:from|import)\s*["'][^"']*["'];?/g;

/** Reads every source file under a folder. */
export function readSources(root: string, folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => parseSource(path.slice(root.length).replace(/^\//, ""), readFileSync(path, "utf8")))
    .sort((a, b) => a.path.localeCompare(b.path));
}

export function parseSource(path: string, text: string): SourceFile {
  return new LazySource(path, text);
}

class LazySource implements SourceFile {
  #syntax: ts.SourceFile | undefined;
  #namings: readonly Naming[] | undefined;

  constructor(
    readonly path: string,
    readonly text: string,
  ) {}

  get syntax(): ts.SourceFile {
    this.#syntax ??= parse(this.path, this.text);
    return this.#syntax;
  }

  get namings(): readonly Naming[] {
    this.#namings ??= namingsIn(this.#syntax ?? this.#withNamings(), this.path);
    return this.#namings;
  }

  get imports(): readonly string[] {
    return [...new Set(this.namings.map(({ target }) => target))];
  }

  get needs(): readonly string[] {
    return [...new Set(this.namings.filter(({ node }) => isNeeded(node)).map(({ target }) => target))];
  }

  /** The whole, or its beginning where nothing behind that can name a file. */
  #withNamings(): ts.SourceFile {
    if (NAMES_LATER.test(this.text)) return this.syntax;
    const last = [...this.text.matchAll(FROM)].at(-1);
    return parse(this.path, last === undefined ? "" : this.text.slice(0, last.index + last[0].length));
  }
}

function parse(path: string, text: string): ts.SourceFile {
  // No rule looks into the tags of comments.
  const jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  return ts.createSourceFile(path, text, { languageVersion: ts.ScriptTarget.ES2023, jsDocParsingMode }, true);
}

function namingsIn(syntax: ts.SourceFile, path: string): Naming[] {
  const found: Naming[] = [];
  visit(syntax, (node) => {
    const name = moduleOf(node);
    if (name?.startsWith(".") !== true) return;
    found.push({ node, target: normalize(join(dirname(path), name)).replace(/\.js$/, ".ts") });
  });
  return found;
}

/** True where the import stands in the compiled file and is followed before that runs. */
function isNeeded(node: ts.Node): boolean {
  if (ts.isExportDeclaration(node)) return !node.isTypeOnly;
  if (!ts.isImportDeclaration(node)) return false;
  if (node.importClause === undefined) return true;
  const { isTypeOnly, name, namedBindings } = node.importClause;
  if (isTypeOnly) return false;
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return true;
  return namedBindings.elements.some((element) => !element.isTypeOnly);
}

/** Calls back for a node and all below it. */
export function visit(node: ts.Node, callback: (node: ts.Node) => void): void {
  callback(node);
  ts.forEachChild(node, (child) => visit(child, callback));
}

export function lineOf(file: SourceFile, node: ts.Node): number {
  return file.syntax.getLineAndCharacterOfPosition(node.getStart(file.syntax)).line + 1;
}

/** The module that a node names: `import`, `export from`, `import()`, or `new URL("./x.js", import.meta.url)`. */
function moduleOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? textOf(node.argument.literal) : undefined;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return textOf(node.arguments[0]);
  if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "URL") {
    const path = textOf(node.arguments?.[0]);
    return path !== undefined && /\.(js|ts)$/.test(path) ? path : undefined;
  }
  return undefined;
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;
}

/** What a file offers to others and none of them takes: a door that nobody uses, or code that nobody runs. */
import ts from "typescript";
import { ENTRIES } from "./import-table.js";
import { type SourceFile, visit } from "./source-file.js";

/** All names of a file, where it is taken as a whole. */
const ALL = "*";

/**
 * Values that nobody but their own file takes, which need no `export`; values that tests alone take, and types that
 * nobody names at all, which are dead. Types that stand in what a file offers may be named by whoever uses that.
 */
export function deadExports(program: readonly SourceFile[], tests: readonly SourceFile[]): string[] {
  const byProgram = takenBy(program);
  const byTests = takenBy(tests);
  return program
    .filter(({ path }) => !ENTRIES.includes(path))
    .flatMap((file) => {
      const isTaken = (taken: ReadonlySet<string>, name: string): boolean =>
        taken.has(`${file.path} ${name}`) || taken.has(`${file.path} ${ALL}`);
      const untaken = offered(file.syntax).filter(({ name }) => !isTaken(byProgram, name));
      const said = untaken.length === 0 ? undefined : identifiersIn(file.syntax);
      return untaken.flatMap(({ name, isType }) => {
        const usesItself = (said?.get(name) ?? 0) > 1;
        if (isType) return usesItself || isTaken(byTests, name) ? [] : [`${file.path}: nobody names ${name}`];
        if (isTaken(byTests, name)) return usesItself ? [] : [`${file.path}: tests alone use ${name}`];
        return [`${file.path}: ${usesItself ? "nobody else uses" : "nobody uses"} ${name}`];
      });
    });
}

interface Offered {
  readonly name: string;
  readonly isType: boolean;
}

/** What a file declares and exports. */
function offered(syntax: ts.SourceFile): Offered[] {
  return syntax.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
      return [{ name: statement.name.text, isType: true }];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.flatMap(({ name }) => namesIn(name));
    if ((ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) && statement.name !== undefined)
      return [{ name: statement.name.text, isType: false }];
    return [];
  });
}

function namesIn(name: ts.BindingName): Offered[] {
  if (ts.isIdentifier(name)) return [{ name: name.text, isType: false }];
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : namesIn(element.name)));
}

/** What files take of others, as `<path> <name>`. */
function takenBy(files: readonly SourceFile[]): Set<string> {
  const taken = new Set<string>();
  for (const { namings } of files)
    for (const { node, target } of namings) for (const name of takenIn(node)) taken.add(`${target} ${name}`);
  return taken;
}

function takenIn(node: ts.Node): string[] {
  if (ts.isImportDeclaration(node) && node.importClause === undefined) return [];
  let named: ts.Node | undefined;
  if (ts.isImportDeclaration(node)) named = node.importClause?.namedBindings;
  else if (ts.isExportDeclaration(node)) named = node.exportClause;
  // What is loaded later, or started as a thread, is taken as a whole.
  if (named === undefined || !(ts.isNamedImports(named) || ts.isNamedExports(named))) return [ALL];
  return named.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

/** How often a file says each name. */
function identifiersIn(syntax: ts.SourceFile): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  visit(syntax, (node) => {
    if (ts.isIdentifier(node)) counts.set(node.text, (counts.get(node.text) ?? 0) + 1);
  });
  return counts;
}

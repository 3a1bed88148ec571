/** What leans on more than the documents of Node and of packages promise. Each rule returns `path what`. */
import ts from "typescript";
import { type SourceFile, visit } from "./source-file.js";

const DEEP_IMPORT = /^((@[\w.-]+\/)?[\w-][\w.-]*\/(lib|dist|src|build|internal)\/|node:internal|_(http|tls|stream)_)/;
const PLATFORM_OBJECT = /(socket|response|request|reply|server|stream|connection)$/i;
const ASSIGNING = /^(assign|defineProperty|defineProperties|setPrototypeOf)$/;

export function undocumented(file: SourceFile): string[] {
  const found = new Set<string>();
  const say = (what: string): void => void found.add(`${file.path} ${what}`);
  visit(file.syntax, (node) => {
    if (ts.isStringLiteralLike(node) && isModuleName(node) && DEEP_IMPORT.test(node.text))
      say(`imports ${node.text}, which its package does not offer`);
    if (ts.isIdentifier(node) && node.text === "setFlagsFromString") say("changes flags of V8 while it runs");
    if (replacesMethod(node)) say("replaces a method of an object of the platform");
  });
  // A wire writes what stands in bodies.
  if (!file.path.startsWith("src/wire/") && /toString\(16\)/.test(file.text) && /\\r\\n/.test(file.text))
    say("frames HTTP by hand");
  return [...found];
}

/** In an import, or what `require`, `resolve` and their like are asked for. */
function isModuleName(node: ts.Node): boolean {
  return ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent) || ts.isCallExpression(node.parent);
}

function replacesMethod(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
    const { left, right } = node;
    if (!ts.isPropertyAccessExpression(left)) return false;
    if (ts.isPropertyAccessExpression(left.expression) && left.expression.name.text === "prototype") return true;
    return nameOf(left.expression) !== undefined && (ts.isArrowFunction(right) || ts.isFunctionExpression(right));
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { expression, name } = node.expression;
  const [target] = node.arguments;
  return expression.getText() === "Object" && ASSIGNING.test(name.text) && target !== undefined && !!nameOf(target);
}

/** The name of what looks like an object of the platform. */
function nameOf(node: ts.Expression): string | undefined {
  const name = ts.isPropertyAccessExpression(node) ? node.name.text : ts.isIdentifier(node) ? node.text : "";
  return PLATFORM_OBJECT.test(name) ? name : undefined;
}

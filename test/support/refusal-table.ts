/** The table of refusals has what all edges share; what one edge calls a refusal is a column of that edge's own. */
import { status } from "@grpc/grpc-js";
import ts from "typescript";
import { GatewayError, isReasonName, REASONS } from "../../src/base/errors.js";
import { codeOf } from "../../src/wire/error/code.js";
import { typeOf } from "../../src/wire/openai/error.js";
import { lineOf, type SourceFile, visit } from "./source-file.js";

const TABLE: ReadonlySet<string> = new Set([
  "src/base/errors.ts",
  "src/base/people-reasons.ts",
  "src/base/refusal-row.ts",
]);
/** What the table says to all: the status of HTTP, whether to come again, and the sentence. */
const COLUMNS: ReadonlySet<string> = new Set(["http", "retry", "say"]);

/** How single edges call refusals, in words that are not the reason's own. */
const EDGE_WORDS: ReadonlySet<string> = new Set([
  ...Object.keys(status),
  ...Object.keys(REASONS)
    .filter(isReasonName)
    .map((reason) => new GatewayError(reason))
    .flatMap((error) => [typeOf(error), codeOf(error)]),
]);

/** What a file of the table knows of an edge: a package of one, a column of one, or its word for a refusal. */
export function edgesInTable(file: SourceFile): string[] {
  if (!TABLE.has(file.path)) return [];
  const found: string[] = [];
  const say = (node: ts.Node, what: string): void => {
    found.push(`${file.path}:${lineOf(file, node)} ${what}`);
  };
  visit(file.syntax, (node) => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      if (!node.moduleSpecifier.text.startsWith(".")) say(node, `imports ${node.moduleSpecifier.text}`);
    } else if (ts.isStringLiteralLike(node) && EDGE_WORDS.has(node.text)) say(node, `says "${node.text}"`);
    else if (ts.isPropertyAssignment(node) && isOfRow(node) && !COLUMNS.has(node.name.getText(file.syntax)))
      say(node, `has the column ${node.name.getText(file.syntax)}`);
  });
  return found;
}

/** True for a member of an object that says a status: a row, or what several rows share. */
function isOfRow({ parent }: ts.PropertyAssignment): boolean {
  return parent.properties.some(
    (one) => one.name !== undefined && ts.isIdentifier(one.name) && one.name.text === "http",
  );
}

/** The mutants of one source file: each is a small change of its meaning, made from the syntax tree. */
import ts from "typescript";

/**
 * A place in a file and what stands there in the mutant. An `expression` is replaced by `text`; a `statement` is left
 * out, with `text` in its place; an `element` of an array or a `property` of an object is left out.
 *
 * @typedef {{ start: number; end: number; text: string; operator: string; kind: Kind }} Change
 *
 * @typedef {"expression" | "statement" | "element" | "property"} Kind
 */

/** @type {Readonly<Record<string, readonly [operator: string, by: string]>>} */
const BINARY = {
  "<": ["boundary", "<="],
  "<=": ["boundary", "<"],
  ">": ["boundary", ">="],
  ">=": ["boundary", ">"],
  "===": ["equality", "!=="],
  "!==": ["equality", "==="],
  "+": ["arithmetic", "-"],
  "-": ["arithmetic", "+"],
  "*": ["arithmetic", "/"],
  "/": ["arithmetic", "*"],
  "%": ["arithmetic", "*"],
  "+=": ["arithmetic", "-="],
  "-=": ["arithmetic", "+="],
  "&&": ["logic", "||"],
  "||": ["logic", "&&"],
};
/** @type {Readonly<Record<string, string>>} */
const METHODS = { min: "max", max: "min", some: "every", every: "some" };
/** Calls that change nothing a test should see: checks of invariants, and lines of the log. */
const QUIET_CALL = /^assert\b|\b#?log\.\w+$/;

/**
 * All mutants of a TypeScript file, in the order of its text. Types, imports, checks of invariants, lines of the log
 * and the messages of errors have none.
 *
 * @param {string} path
 * @param {string} text
 * @returns {Change[]}
 */
export function changesOf(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  /** @type {Change[]} */
  const found = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (isLeftAlone(node)) return;
    found.push(...valueChanges(node), ...conditionChanges(node), ...chainChanges(node), ...removals(node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.toSorted((one, other) => one.start - other.start || other.end - one.end);
}

/** @param {ts.Node} node */
function isLeftAlone(node) {
  if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return true;
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isEnumDeclaration(node)) return true;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true;
  if (ts.isNewExpression(node)) return node.expression.getText() === "Error";
  return ts.isCallExpression(node) && QUIET_CALL.test(node.expression.getText());
}

/**
 * @param {ts.Node} node
 * @param {string} operator
 * @param {string} text
 * @param {Kind} kind
 * @returns {Change}
 */
function change(node, operator, text, kind = "expression") {
  return { start: node.getStart(), end: node.getEnd(), text, operator, kind };
}

/** The text of a node where a part of it is another. @param {ts.Node} node @param {ts.Node} part @param {string} by */
function textWith(node, part, by) {
  const { text } = node.getSourceFile();
  return text.slice(node.getStart(), part.getStart()) + by + text.slice(part.getEnd(), node.getEnd());
}

/** @param {ts.Node} node @returns {Change[]} */
function valueChanges(node) {
  if (ts.isBinaryExpression(node)) {
    const sign = node.operatorToken.getText();
    if (sign === "??") return [change(node, "?? removed", node.left.getText())];
    const [operator, by] = BINARY[sign] ?? [];
    if (operator === undefined || by === undefined) return [];
    if (operator === "arithmetic" && (isText(node.left) || isText(node.right))) return [];
    return [change(node, operator, textWith(node, node.operatorToken, by))];
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [change(node, "negation removed", node.operand.getText())];
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [change(node, "boolean", "false")];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [change(node, "boolean", "true")];
  if ((ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) && !isNameOfMember(node)) {
    const isZero = /^0n?$/.test(node.getText());
    const one = ts.isBigIntLiteral(node) ? "1n" : "1";
    return (isZero ? ["+"] : ["+", "-"]).map((sign) => change(node, "number", `(${node.getText()} ${sign} ${one})`));
  }
  return [];
}

/** @param {ts.Node} node @returns {Change[]} */
function conditionChanges(node) {
  const both = (/** @type {ts.Expression} */ condition) =>
    ["true", "false"].map((text) => change(condition, `condition ${text}`, text));
  if (ts.isIfStatement(node)) return both(node.expression);
  if (ts.isConditionalExpression(node)) return both(node.condition);
  // One that is always true would only show that an endless loop is noticed.
  if (ts.isWhileStatement(node) && node.expression.kind !== ts.SyntaxKind.TrueKeyword)
    return [change(node.expression, "condition false", "false")];
  return [];
}

/** @param {ts.Node} node @returns {Change[]} */
function chainChanges(node) {
  if (!isLink(node)) return [];
  const chain = wholeChain(node);
  /** @type {Change[]} */
  const found = [];
  if (node.questionDotToken !== undefined) {
    const by = ts.isPropertyAccessExpression(node) ? "." : "";
    found.push(change(chain, "?. removed", textWith(chain, node.questionDotToken, by)));
  }
  if (ts.isPropertyAccessExpression(node) && ts.isCallExpression(node.parent) && node.parent.expression === node) {
    const by = Object.hasOwn(METHODS, node.name.text) ? METHODS[node.name.text] : undefined;
    if (by !== undefined) found.push(change(chain, "other method", textWith(chain, node.name, by)));
  }
  return found;
}

/** @param {ts.Node} node @returns {Change[]} */
function removals(node) {
  if (ts.isExpressionStatement(node))
    return isRemovable(node) ? [change(node, "statement removed", "", "statement")] : [];
  if (ts.isThrowStatement(node)) return [change(node, "throw removed", "", "statement")];
  // A return that an `if` guards is removed by the condition.
  if (ts.isReturnStatement(node) && node.expression !== undefined && !ts.isIfStatement(node.parent))
    return [change(node, "undefined returned", "return undefined;", "statement")];
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 1 && !isAssigned(node))
    return node.elements
      .filter((element) => !ts.isSpreadElement(element) && !ts.isOmittedExpression(element))
      .map((element) => change(element, "element removed", "", "element"));
  if (ts.isObjectLiteralExpression(node) && node.properties.length > 1 && isOfModule(node))
    return node.properties
      .filter((property) => ts.isPropertyAssignment(property))
      .map((property) => change(property, "property removed", "", "property"));
  return [];
}

/** @param {ts.ExpressionStatement} node */
function isRemovable({ expression }) {
  if (ts.isStringLiteral(expression)) return false;
  const called = ts.isAwaitExpression(expression) ? expression.expression : expression;
  if (!ts.isCallExpression(called)) return true;
  if (called.expression.kind === ts.SyntaxKind.SuperKeyword) return false;
  return !QUIET_CALL.test(called.expression.getText());
}

/** @param {ts.Node} node */
function isText(node) {
  return ts.isStringLiteral(node) || ts.isTemplateLiteral(node);
}

/** A number that names a member of an object. @param {ts.Node} node */
function isNameOfMember(node) {
  return ts.isPropertyAssignment(node.parent) && node.parent.name === node;
}

/** An array on the left of an assignment. @param {ts.Node} node */
function isAssigned({ parent }) {
  return ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken
    ? parent.left.kind === ts.SyntaxKind.ArrayLiteralExpression
    : ts.isForOfStatement(parent);
}

/** True of what is made once, as the module loads. @param {ts.Node} node @returns {boolean} */
function isOfModule(node) {
  if (ts.isSourceFile(node)) return true;
  return !ts.isFunctionLike(node) && !ts.isClassLike(node) && isOfModule(node.parent);
}

/** @param {ts.Node} node */
function isLink(node) {
  return ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node) || ts.isCallExpression(node);
}

/** The longest expression that `?.` in a part of it may end early. @param {ts.Node} node @returns {ts.Node} */
function wholeChain(node) {
  const { parent } = node;
  const goesOn = (isLink(parent) || ts.isNonNullExpression(parent)) && parent.expression === node;
  return goesOn ? wholeChain(parent) : node;
}

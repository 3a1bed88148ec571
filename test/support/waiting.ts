/** How a test file waits: what is wrong with it, as `path:line what`. Other work on the machine must fail no test. */
import ts from "typescript";
import type { Rule } from "./tidiness.js";
import { lineOf, type SourceFile, visit } from "./source-file.js";

/** What is waited for comes within a second where nothing else runs, and within some five in the middle of a run. */
export const WAIT_LEAST_MS = 60_000;
/** By default, for a test and for a hook: none has less than the others. */
export const TEST_LEAST_MS = 120_000;

const TIMEOUTS = new Set(["timeout", "testTimeout", "hookTimeout"]);
const HOOKS = new Set(["test", "it", "describe", "beforeAll", "afterAll", "beforeEach", "afterEach"]);

/** A file without any of these says no time: an option, a signal, a wait of Vitest's, a number that ends a call. */
const SAYS_TIME = /[tT]imeout["']?\s*[:(]|\bvi\s*\.wait|[\w)}\]]\s*,\s*\d[\d_]*,?\s*\)\s*;/;

/** No wait has less time than what is usual ten times over. */
export const longWaits: Rule = (file) => {
  if (!SAYS_TIME.test(file.text)) return [];
  const found: string[] = [];
  const check = (node: ts.Node, leastMs: number): void => {
    const shortest = Math.min(...numbersIn(node));
    if (shortest < leastMs) found.push(`${file.path}:${lineOf(file, node)} waits ${shortest} ms at most`);
  };
  visit(file.syntax, (node) => {
    if (ts.isPropertyAssignment(node) && TIMEOUTS.has(node.name.getText())) check(node.initializer, WAIT_LEAST_MS);
    if (!ts.isCallExpression(node)) return;
    const called = node.expression.getText();
    const [first, second] = node.arguments;
    if (called === "AbortSignal.timeout" && first !== undefined) check(first, WAIT_LEAST_MS);
    if (/^vi\.wait(For|Until)$/.test(called)) {
      if (second === undefined) found.push(`${file.path}:${lineOf(file, node)} names no time, and has a second`);
      else if (ts.isNumericLiteral(second)) check(second, WAIT_LEAST_MS);
    }
    const last = node.arguments.length > 1 ? node.arguments.at(-1) : undefined;
    if (HOOKS.has(rootOf(node.expression)) && last !== undefined && ts.isNumericLiteral(last))
      check(last, TEST_LEAST_MS);
  });
  return found;
};

/** Time that is let pass has one of two reasons, by name: else a condition is waited for, or a clock is the test's. */
export const namedPauses: Rule = (file) => {
  if (!file.path.endsWith(".test.ts") || file.text.includes("useFakeTimers")) return [];
  if (!file.text.includes("setTimeout")) return [];
  const found: string[] = [];
  visit(file.syntax, (node) => {
    if (isImportOfSleep(node) || isPromiseOfTimeout(node, file))
      found.push(
        `${file.path}:${lineOf(file, node)} lets time pass: wait for a condition, or see test/support/pauses.ts`,
      );
  });
  return found;
};

/** Of a number that is written there, or of two of which one is chosen. */
function numbersIn(node: ts.Node): number[] {
  if (ts.isNumericLiteral(node)) return [Number(node.text)];
  return ts.isConditionalExpression(node) ? [...numbersIn(node.whenTrue), ...numbersIn(node.whenFalse)] : [];
}

/** The first name of what is called, such as `test` of `test.each([])("name", run)`. */
function rootOf(node: ts.Expression): string {
  if (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)) return rootOf(node.expression);
  return node.getText();
}

function isImportOfSleep(node: ts.Node): boolean {
  if (!ts.isImportDeclaration(node) || !/^.node:timers\/promises.$/.test(node.moduleSpecifier.getText())) return false;
  return /\bsetTimeout\b/.test(node.importClause?.getText() ?? "");
}

/** `new Promise((resolve) => setTimeout(resolve, 100))`. */
function isPromiseOfTimeout(node: ts.Node, file: SourceFile): boolean {
  if (!ts.isNewExpression(node) || node.expression.getText() !== "Promise") return false;
  return /^\(?(\w+)\)? => setTimeout\(\1\b/.test(node.arguments?.[0]?.getText(file.syntax) ?? "");
}

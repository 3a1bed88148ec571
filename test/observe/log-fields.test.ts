/** The fields of log lines have one spelling: whoever searches for a request's id finds all that was said of it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const SOURCES = new URL("../../src/", import.meta.url).pathname;
const LEVELS = new Set(["debug", "info", "warn", "error"]);
/** Where none is called there is nothing to parse. */
const CALLED = /\blog\.(?:debug|info|warn|error)\(/;
const SPELLED = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

/** The names of the fields that a file's calls of a log are given, as far as they stand in the file. */
function fieldsIn(path: string, text: string): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const objects = new Map<string, ts.ObjectLiteralExpression[]>();
  const given: ts.Expression[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined) {
      if (ts.isObjectLiteralExpression(node.initializer))
        objects.set(node.name.text, [...(objects.get(node.name.text) ?? []), node.initializer]);
    }
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { expression: log, name: level } = node.expression;
      if (LEVELS.has(level.text) && /(?:^|\.)#?log$/.test(log.getText())) given.push(...node.arguments.slice(0, 1));
    }
    ts.forEachChild(node, look);
  };
  look(source);
  const found = given.flatMap((fields) => {
    if (ts.isObjectLiteralExpression(fields)) return [fields];
    return ts.isIdentifier(fields) ? (objects.get(fields.text) ?? []) : [];
  });
  return found.flatMap((object) =>
    object.properties.flatMap(({ name }) => (name !== undefined && ts.isIdentifier(name) ? [name.text] : [])),
  );
}

test("each field of each log line is spelled in one way, the request's id as request_id", () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.startsWith("console/"),
  );
  const found = files.flatMap((path) => {
    const text = readFileSync(join(SOURCES, path), "utf8");
    return CALLED.test(text) ? fieldsIn(path, text).map((field) => ({ path, field })) : [];
  });
  expect(found.length).toBeGreaterThan(60);
  expect(found.filter(({ field }) => field === "request_id").length).toBeGreaterThan(8);
  expect(found.filter(({ field }) => !SPELLED.test(field) || /^(id|req_id|request)$/.test(field))).toEqual([]);
});

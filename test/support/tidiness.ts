/** The rules that one file can break by itself. Each returns what it found, as `path:line what`. */
import ts from "typescript";
import { lineOf, type SourceFile, visit } from "./source-file.js";

export const FILE_LINES_MAX = 400;
export const FUNCTION_LINES_MAX = 70;
export const LINE_LENGTH_MAX = 120;

const FORBIDDEN_NAMES = /^(utils?|helpers?|common|shared|lib|services|types)$/;
/** Names that meant something here alone, or several things: the field has terms for them. */
const PRIVATE_NAMES =
  "Rooms|Paces|Left|Question|Foresight|Pulse|asidesOf|wordlessTokens|Made|Compared|LatestLook|SqliteDesk|STRANGER_MS|" +
  "teach|goesOn|ToldItems|Untold|Notes|Asked|Lease|KeyWish|dearest|lookWhoIsThere";
const PRIVATE_NAME = new RegExp(`^(?:${PRIVATE_NAMES})$`);
const HAS_PRIVATE_NAME = new RegExp(`\\b(?:${PRIVATE_NAMES})\\b`);
/** A type of such a name, as its declaration stands in the text. */
const FORBIDDEN_NAME = /\b(?:class|interface|type)\s+(?:\w*(?:Manager|Helper|Util|Utils|Impl)|I[A-Z][a-z]\w*)\b/;
const FORBIDDEN_ENDINGS = /(Manager|Helper|Util|Utils|Impl)$|^I[A-Z][a-z]/;

export type Rule = (file: SourceFile) => string[];

/** One file, one idea: at most 400 lines. */
export const fileLength: Rule = (file) => {
  const count = file.text.trimEnd().split("\n").length;
  return count > FILE_LINES_MAX ? [`${file.path}:${count} has more than ${FILE_LINES_MAX} lines`] : [];
};

/** At most 120 characters, but where one text fills the line, since that cannot be broken. */
export const lineLength: Rule = (file) =>
  file.text.split("\n").flatMap((line, index) => {
    const isOneText = /^\s*(["'`]).*\1( \+|\S*)$/.test(line) || /^\s*(- )?https?:\S+$/.test(line);
    return line.length > LINE_LENGTH_MAX && !isOneText ? [`${file.path}:${index + 1} is ${line.length} long`] : [];
  });

/** At most 70 lines, without blank ones and comments. */
export const functionLength: Rule = (file) => {
  if (linesIn(file.text) <= FUNCTION_LINES_MAX) return [];
  const found: string[] = [];
  visit(file.syntax, (node) => {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return;
    const whole = node.getText(file.syntax);
    if (linesIn(whole) <= FUNCTION_LINES_MAX) return;
    const text = whole.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
    const count = text.split("\n").filter((line) => line.trim() !== "").length;
    if (count > FUNCTION_LINES_MAX) found.push(`${file.path}:${lineOf(file, node)} a function of ${count} lines`);
  });
  return found;
};

function linesIn(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Files and folders are kebab-case nouns of the domain. */
export const fileName: Rule = (file) => {
  const parts = file.path.split("/");
  const stem = (parts.pop() ?? "").replace(/(\.d|(\.prove)?\.test|\.bench)?\.(tsx?|m[jt]s)$/, "");
  return [...parts, stem].flatMap((part) => {
    if (FORBIDDEN_NAMES.test(part)) return [`${file.path} is named "${part}", which says nothing`];
    return /^\.?[a-z0-9]+(-[a-z0-9]+)*$/.test(part) ? [] : [`${file.path}: "${part}" is not kebab-case`];
  });
};

/** A file opens with one sentence that says what it is. */
export const openingSentence: Rule = (file) => {
  const opening = /^(?:#!.*\n)?\/\*\*([\s\S]*?)\*\//.exec(file.text)?.[1]?.trim() ?? "";
  return /[.:?]$/.test(opening) ? [] : [`${file.path}:1 does not open with a sentence`];
};

export const noDefaultExport: Rule = (file) => {
  if (!/\bexport\s+default\b/.test(file.text)) return [];
  return file.syntax.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    const isDefault = modifiers.some((modifier) => modifier.kind === ts.SyntaxKind.DefaultKeyword);
    return isDefault || (ts.isExportAssignment(statement) && !statement.isExportEquals)
      ? [`${file.path}:${lineOf(file, statement)} exports a default`]
      : [];
  });
};

/** The type beside what it is of, in brackets, or in a list of types: the word stands in many comments. */
const ANY = /\bany\b(?:(?<=[^\w\s*.'"`-]\s*any)|(?<=\b(?:as|is|extends|keyof)\s+any)|(?= *[|&,[>)]))/;

export const noAny: Rule = (file) => {
  if (!ANY.test(file.text)) return [];
  const found: string[] = [];
  visit(file.syntax, (node) => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) found.push(`${file.path}:${lineOf(file, node)} says any`);
  });
  return found;
};

/** A cache that is bounded by `max` takes the room for all of it when it is made, whether anything comes or not. */
export const roomAsItFills: Rule = (file) => {
  if (!file.text.includes("LRUCache")) return [];
  const found: string[] = [];
  visit(file.syntax, (node) => {
    if (!ts.isNewExpression(node) || node.expression.getText() !== "LRUCache") return;
    const options = node.arguments?.[0];
    if (options === undefined || !ts.isObjectLiteralExpression(options)) return;
    if (options.properties.some((property) => property.name?.getText() === "max"))
      found.push(`${file.path}:${lineOf(file, node)} takes the room of a whole cache when it is made`);
  });
  return found;
};

const LOOSE_END = /\b(TODO|FIXME|XXX|HACK)\b/;

/** What is to be done names its decision note, or does not exist. */
export const noLooseEnds: Rule = (file) => {
  if (!LOOSE_END.test(file.text)) return [];
  return commentsOf(file)
    .filter(({ text }) => LOOSE_END.test(text) && !/docs\/decisions\/\d{4}/.test(text))
    .map(({ line }) => `${file.path}:${line} leaves a loose end`);
};

/** One word, one meaning, and the field's word where it has one. */
export const vocabulary: Rule = (file) => {
  if (!HAS_PRIVATE_NAME.test(file.text) && !FORBIDDEN_NAME.test(file.text)) return [];
  const found: string[] = [];
  visit(file.syntax, (node) => {
    if (ts.isIdentifier(node) && PRIVATE_NAME.test(node.text) && !isForeign(node))
      found.push(`${file.path}:${lineOf(file, node)} the name ${node.text} has a plainer term`);
    if (isNamed(node) && FORBIDDEN_ENDINGS.test(node.name?.text ?? ""))
      found.push(`${file.path}:${lineOf(file, node)} the name ${node.name?.text} says how, not what`);
  });
  return found;
};

/** True for a name in an import from a package, and for the name of an option that is passed to one. */
function isForeign(node: ts.Identifier): boolean {
  if (ts.isImportSpecifier(node.parent)) return true;
  if (!ts.isPropertyAssignment(node.parent) || node.parent.name !== node) return false;
  return ts.isObjectLiteralExpression(node.parent.parent) && ts.isCallExpression(node.parent.parent.parent);
}

function isNamed(node: ts.Node): node is ts.ClassDeclaration | ts.InterfaceDeclaration | ts.TypeAliasDeclaration {
  return ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
}

function commentsOf(file: SourceFile): { line: number; text: string }[] {
  const found = new Map<number, string>();
  const add = (ranges: readonly ts.CommentRange[] | undefined): void => {
    for (const range of ranges ?? []) found.set(range.pos, file.text.slice(range.pos, range.end));
  };
  visit(file.syntax, (node) => {
    add(ts.getLeadingCommentRanges(file.text, node.getFullStart()));
    add(ts.getTrailingCommentRanges(file.text, node.getEnd()));
  });
  return [...found].map(([position, text]) => ({
    line: file.syntax.getLineAndCharacterOfPosition(position).line + 1,
    text,
  }));
}

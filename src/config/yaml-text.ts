/** YAML as settings files are written: how a text of it is parsed, and how deep it may nest. */
import { type CST, type Document, type LineCounter, parseDocument, Parser } from "yaml";

/**
 * Blocks and lists within each other. The package goes down by calls of functions, and a stack that ends while V8
 * compiles an expression ends the whole process.
 */
const NESTING_MAX = 64;
export const TOO_DEEP = `nests deeper than ${NESTING_MAX} blocks and lists`;

/** Scalars are the text that is written. Undefined where it nests too deep. */
export function parseYaml(text: string, lineCounter?: LineCounter): Document.Parsed | undefined {
  if (nestsTooDeep(new Parser().parse(text))) return undefined;
  return parseDocument(text, {
    schema: "failsafe",
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: "error",
    ...(lineCounter === undefined ? {} : { lineCounter }),
  });
}

/** Level by level, since what is looked for is what calls of functions could not go down. */
function nestsTooDeep(tokens: Iterable<CST.Token>): boolean {
  let level: CST.Token[] = [...tokens];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > NESTING_MAX) return true;
    level = level.flatMap(partsOf);
  }
  return false;
}

function partsOf(token: CST.Token): readonly CST.Token[] {
  if (token.type === "document") return token.value === undefined ? [] : [token.value];
  if (!("items" in token)) return [];
  return token.items.flatMap(({ key, value }) => [key, value].filter((part) => part !== undefined && part !== null));
}

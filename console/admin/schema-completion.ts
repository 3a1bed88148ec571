/** What a settings file may have at a place, by its JSON Schema. Pure. */

/** The parts of a schema that say what can be typed. */
export interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** A place in a text: below which keys it is, and where the word at it begins. */
export interface Place {
  /** Names of keys from the outermost; a dash stands for an item of a list. */
  readonly path: readonly string[];
  /** The key whose value is typed. Undefined: a key is typed. */
  readonly key: string | undefined;
  /** The column of the word, from 0. */
  readonly from: number;
}

export interface Proposal {
  readonly word: string;
  readonly isKey: boolean;
  readonly about: string;
}

const ITEM = "-";
const TYPED = /^( *)((?:- +)*)(?:("?)([\w./@:-]+)\3: +)?([\w.-]*)$/;
const KEY = /^( *)((?:- +)*)(?:("?)([^\s"#][^"#]*?)\3:(?: |$))?/;

/** Undefined where nothing is proposed: in a comment, in a quoted text, and in what stands in braces. */
export function placeAt(lines: readonly string[], row: number, column: number): Place | undefined {
  const typed = TYPED.exec((lines[row] ?? "").slice(0, column));
  if (typed === null) return undefined;
  const [, indent = "", dashes = "", , key, word = ""] = typed;
  const path: string[] = itemsIn(dashes);
  let limit = indent.length;
  for (let above = row - 1; above >= 0 && (limit > 0 || path[0] === ITEM); above -= 1) {
    const line = lines[above] ?? "";
    if (/^ *(#|$)/.test(line)) continue;
    const [, space = "", items = "", , name] = KEY.exec(line) ?? [];
    const place = space.length + items.length;
    // An item of a list may stand as far left as the key of the list.
    if (name !== undefined && (place < limit || (place === limit && path[0] === ITEM && items === ""))) {
      path.unshift(name);
      limit = place;
    }
    if (items !== "" && space.length < limit) {
      path.unshift(...itemsIn(items));
      limit = space.length;
    }
  }
  return { path, key, from: column - word.length };
}

/** What can stand there: the names of keys, or the words that a value may be. */
export function proposals(schema: Schema, { path, key }: Place): readonly Proposal[] {
  const found = path.reduce((nodes, step) => nodes.flatMap((node) => below(node, step)), choicesOf(schema));
  if (key !== undefined) {
    const words = found.flatMap((node) => below(node, key)).flatMap(wordsOf);
    return [...new Set(words)].map((word) => ({ word, isKey: false, about: "" }));
  }
  return found
    .flatMap(({ properties = {} }) => Object.entries(properties))
    .map(([word, { description = "" }]) => ({ word, isKey: true, about: description }));
}

function itemsIn(dashes: string): string[] {
  return [...dashes].filter((letter) => letter === ITEM);
}

/** The schemas of which one holds. */
function choicesOf(schema: Schema): readonly Schema[] {
  return [schema, ...(schema.anyOf ?? []).flatMap(choicesOf)];
}

function below({ properties = {}, additionalProperties, items }: Schema, step: string): readonly Schema[] {
  const other = typeof additionalProperties === "object" ? additionalProperties : undefined;
  const next = step === ITEM ? items : Object.hasOwn(properties, step) ? properties[step] : other;
  return next === undefined ? [] : choicesOf(next);
}

function wordsOf({ enum: words = [], const: word }: Schema): readonly string[] {
  return [...words, word].filter((each) => typeof each === "string" || typeof each === "boolean").map(String);
}

/** A settings file without its secrets, and with them again: what people see and edit holds none. */
import { isAlias, isCollection, isScalar, visit } from "yaml";
import { aliasTargets } from "./aliases.js";
import { ConfigError } from "./config-error.js";
import { SECRET_FIELDS } from "./secret-fields.js";
import { parseYaml, TOO_DEEP } from "./yaml-text.js";

/** What stands in the place of a secret, by its number in the file. */
const KEPT = /^\(kept secret (\d{1,6})\)$/;
/** A secret is hidden wherever a field of its name stands, also where none may. */
const SECRET_NAMES: ReadonlySet<unknown> = new Set(SECRET_FIELDS.map(({ pattern }) => pattern.at(-1)));
/** A value that is nothing but a variable's name is no secret. */
const VARIABLE = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

interface Place {
  readonly start: number;
  readonly end: number;
  readonly value: string;
  /** What a place must end with, as a block of text does. */
  readonly tail: string;
}

/** A secret of a file. */
export interface KeptSecret {
  readonly value: string;
  /** The value as the file writes it. */
  readonly source: string;
  /** Where that begins in the file. */
  readonly start: number;
}

export interface HiddenText {
  readonly text: string;
  /** The secrets by their numbers, from 1. */
  readonly secrets: readonly KeptSecret[];
}

/** The text with words in the place of each secret. Throws a ConfigError where it nests too deep. */
export function hideSecrets(text: string): HiddenText {
  const secrets: KeptSecret[] = [];
  const hidden = replaced(text, ({ start, end, value, tail }) => {
    if (value === "" || VARIABLE.test(value)) return undefined;
    const source = text.slice(start, end).slice(0, tail === "" ? undefined : -tail.length);
    secrets.push({ value, source, start });
    return `"(kept secret ${secrets.length})"`;
  });
  return { text: hidden.text, secrets };
}

export interface ShownText {
  readonly text: string;
  /** Where a place of the text with its secrets was in the one without. */
  hiddenOffset(offset: number): number;
  /** The secrets that stand in the text now, by where they begin in it. */
  readonly kept: ReadonlyMap<number, KeptSecret>;
  /** Words for a secret that the file does not have. */
  readonly unknown: readonly { readonly offset: number; readonly words: string }[];
}

/** The text with the secrets that its words stand for. Throws a ConfigError where it nests too deep. */
export function showSecrets(text: string, secrets: readonly KeptSecret[]): ShownText {
  const unknown: { offset: number; words: string }[] = [];
  const used: KeptSecret[] = [];
  const shown = replaced(text, ({ start, value }) => {
    const [words, number] = KEPT.exec(value) ?? [];
    if (words === undefined) return undefined;
    const secret = secrets[Number(number) - 1];
    if (secret === undefined) unknown.push({ offset: start, words });
    else used.push(secret);
    return secret?.source;
  });
  const kept = new Map(used.map((secret, index) => [shown.starts[index] ?? 0, secret]));
  return { text: shown.text, kept, unknown, hiddenOffset: (offset) => shown.before(offset) };
}

interface Replaced {
  readonly text: string;
  /** Where each of the other words begins in the new text. */
  readonly starts: readonly number[];
  /** Where a place of the new text was in the old one. */
  before(offset: number): number;
}

/** The text with other words at the places of secrets, where there are any. */
function replaced(text: string, wordsFor: (place: Place) => string | undefined): Replaced {
  const cuts: { readonly from: number; readonly grown: number; readonly length: number }[] = [];
  let result = "";
  let at = 0;
  for (const place of placesOf(text)) {
    const words = wordsFor(place);
    if (words === undefined) continue;
    result += text.slice(at, place.start);
    const whole = words + place.tail;
    cuts.push({ from: result.length, grown: whole.length - (place.end - place.start), length: whole.length });
    result += whole;
    at = place.end;
  }
  return {
    text: result + text.slice(at),
    starts: cuts.map(({ from }) => from),
    before: (offset) => {
      let shift = 0;
      for (const { from, grown, length } of cuts) {
        if (offset < from) break;
        if (offset < from + length) return from - shift;
        shift += grown;
      }
      return offset - shift;
    },
  };
}

/** Where secrets stand, in the order of the text, each once. */
function placesOf(text: string): readonly Place[] {
  const document = parseYaml(text);
  if (document === undefined) throw new ConfigError([TOO_DEEP]);
  const targets = aliasTargets(document);
  const found = new Map<number, Place>();
  const take = (node: unknown): void => {
    const target = isAlias(node) ? targets.get(node) : node;
    if (!isScalar(target) || !target.range) return;
    const [start, end] = target.range;
    const source = text.slice(start, end);
    found.set(start, { start, end, value: String(target.value), tail: /\r?\n$/.exec(source)?.[0] ?? "" });
  };
  visit(document, {
    Pair: (_, { key, value }) => {
      if (!isScalar(key) || !SECRET_NAMES.has(key.value)) return;
      if (isScalar(value) || isAlias(value)) take(value);
      // Whatever else stands there may hold it.
      if (isCollection(value)) visit(value, { Scalar: (_at, node) => take(node) });
    },
  });
  return [...found.values()].toSorted((one, other) => one.start - other.start);
}

/** Puts the arguments of a call together where they come in pieces, each with its place in the object. */
import type { GatewayError } from "../../../base/errors.js";
import { upstreamFailed } from "../../error/refusals.js";
import type { ExactJson } from "../../json/exact.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";

const DEPTH_MAX = 64;
const PATH_CHARACTERS_MAX = 4_096;
/** Values that the pieces of one answer make, those that a list needs before the one that is named among them. */
const VALUES_MAX = 100_000;

/** A tree that inherits nothing which a key could reach. */
type Branch = Map<string, unknown> | unknown[];

/** What the pieces of all calls of an answer may still make. */
export class ValueBudget {
  private left = VALUES_MAX;

  take(values: number): void {
    this.left -= values;
    if (this.left < 0) throw tooLarge();
  }
}

/** What the pieces are read with. */
export interface ArgumentSource {
  /** What calls in pieces may still make, of all candidates together. */
  readonly values: ValueBudget;
  /** The chunk that is read, with numbers as they were written. */
  readonly exact: ExactJson;
}

/** A number as it was written. */
class WrittenNumber {
  constructor(readonly text: string) {}
}

export class PartialArguments {
  private readonly root = new Map<string, unknown>();
  /** The place of a string that goes on. */
  private open: string | undefined;

  constructor(private readonly source: ArgumentSource) {}

  /**
   * Reads the pieces of one chunk, such as `{"jsonPath": "$.city", "stringValue": "Par", "willContinue": true}`.
   * Returns what they say.
   */
  read(pieces: unknown): string {
    let said = "";
    for (const item of listOf(pieces)) {
      const piece = objectOf(item);
      if (piece === undefined) continue;
      this.readPiece(piece);
      said += textOf(piece["stringValue"]);
    }
    return said;
  }

  /** The object so far, as JSON. */
  json(): string {
    return textFor(this.root);
  }

  private readPiece(piece: JsonObject): void {
    const place = textOf(piece["jsonPath"]);
    const steps = stepsOf(place);
    const last = steps.pop();
    if (last === undefined) return;
    let branch: Branch = this.root;
    for (const [at, step] of steps.entries())
      branch = this.child(branch, step, typeof (steps[at + 1] ?? last) === "number");
    const text = piece["stringValue"];
    if (typeof text === "string") {
      const before = this.open === place ? valueAt(branch, last) : undefined;
      this.put(branch, last, typeof before === "string" ? before + text : text);
    } else this.put(branch, last, this.numberIn(piece) ?? piece["boolValue"] ?? null);
    this.open = piece["willContinue"] === true ? place : undefined;
  }

  private numberIn(piece: JsonObject): WrittenNumber | undefined {
    if (typeof piece["numberValue"] !== "number") return undefined;
    return new WrittenNumber(this.source.exact.memberText(piece, "numberValue") ?? "null");
  }

  private child(branch: Branch, step: string | number, isList: boolean): Branch {
    const found = valueAt(branch, step);
    if (found instanceof Map || Array.isArray(found)) return found;
    const made: Branch = isList ? [] : new Map();
    this.put(branch, step, made);
    return made;
  }

  private put(branch: Branch, step: string | number, value: unknown): void {
    if (!Array.isArray(branch)) {
      const key = String(step);
      if (!branch.has(key)) this.source.values.take(1);
      branch.set(key, value);
      return;
    }
    const place = Number(step);
    this.source.values.take(Math.max(0, place + 1 - branch.length));
    while (branch.length < place) branch.push(null);
    branch[place] = value;
  }
}

/** A path such as `$.a[0]["b c"]`, as its steps. What is none is passed over; each sign is looked at once or twice. */
function stepsOf(path: string): (string | number)[] {
  if (path.length > PATH_CHARACTERS_MAX) throw tooLarge();
  const steps: (string | number)[] = [];
  const step = /\.([^.[\]]+)|\[(\d{1,6})\]/y;
  for (let at = 0; at < path.length;) {
    const quoted = quotedEnd(path, at);
    step.lastIndex = at;
    const plain = quoted === -1 ? step.exec(path) : null;
    if (quoted !== -1) steps.push(path.slice(at + 2, quoted));
    else if (plain !== null) steps.push(plain[2] === undefined ? (plain[1] ?? "") : Number(plain[2]));
    if (steps.length > DEPTH_MAX) throw tooLarge();
    at = quoted === -1 ? at + (plain?.[0].length ?? 1) : quoted + 2;
  }
  return steps;
}

/** Where the name ends that is written as `["..."]`; -1 where none is. A name without an end is no path at all. */
function quotedEnd(path: string, at: number): number {
  const quote = path[at + 1];
  if (path[at] !== "[" || (quote !== '"' && quote !== "'")) return -1;
  const end = path.indexOf(`${quote}]`, at + 2);
  if (end === -1) throw upstreamFailed("a place in its call has no end");
  return end;
}

function valueAt(branch: Branch, step: string | number): unknown {
  return Array.isArray(branch) ? branch[Number(step)] : branch.get(String(step));
}

function textFor(value: unknown): string {
  if (value instanceof Map)
    return `{${[...value].map(([key, member]) => `${JSON.stringify(key)}:${textFor(member)}`).join(",")}}`;
  if (value instanceof WrittenNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(textFor).join(",")}]`;
  return JSON.stringify(value ?? null);
}

function tooLarge(): GatewayError {
  return upstreamFailed("the arguments of its call are too large");
}

/** Puts the arguments of a call together where they come in pieces, each with its place in the object. */
import { GatewayError } from "../../errors.js";
import { type JsonObject, listOf, objectOf, textOf } from "../json/value.js";

const DEPTH_MAX = 64;
const ITEMS_MAX = 100_000;

/** A tree that inherits nothing which a key could reach. */
type Branch = Map<string, unknown> | unknown[];

export class PartialArguments {
  private readonly root = new Map<string, unknown>();
  /** The place of a string that goes on. */
  private open: string | undefined;

  /** Reads the pieces of one chunk, such as `{"jsonPath": "$.city", "stringValue": "Par", "willContinue": true}`. */
  read(pieces: unknown): void {
    for (const item of listOf(pieces)) {
      const piece = objectOf(item);
      if (piece !== undefined) this.readPiece(piece);
    }
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
    for (const [at, step] of steps.entries()) branch = child(branch, step, typeof (steps[at + 1] ?? last) === "number");
    const text = piece["stringValue"];
    if (typeof text === "string") {
      const before = this.open === place ? valueAt(branch, last) : undefined;
      put(branch, last, typeof before === "string" ? before + text : text);
    } else put(branch, last, piece["numberValue"] ?? piece["boolValue"] ?? null);
    this.open = piece["willContinue"] === true ? place : undefined;
  }
}

/** A path such as `$.a[0]["b c"]`, as its steps. */
function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const match of path.matchAll(/\.([^.[\]]+)|\[(\d{1,6})\]|\[(["'])(.*?)\3\]/g))
    steps.push(match[2] === undefined ? (match[1] ?? match[4] ?? "") : Number(match[2]));
  if (steps.length > DEPTH_MAX) throw tooLarge();
  return steps;
}

function child(branch: Branch, step: string | number, isList: boolean): Branch {
  const found = valueAt(branch, step);
  if (found instanceof Map || Array.isArray(found)) return found;
  const made: Branch = isList ? [] : new Map();
  put(branch, step, made);
  return made;
}

function valueAt(branch: Branch, step: string | number): unknown {
  return Array.isArray(branch) ? branch[Number(step)] : branch.get(String(step));
}

function put(branch: Branch, step: string | number, value: unknown): void {
  if (!Array.isArray(branch)) branch.set(String(step), value);
  else if (Number(step) < ITEMS_MAX) branch[Number(step)] = value;
  else throw tooLarge();
}

function textFor(value: unknown): string {
  if (value instanceof Map)
    return `{${[...value].map(([key, member]) => `${JSON.stringify(key)}:${textFor(member)}`).join(",")}}`;
  if (Array.isArray(value)) return `[${Array.from(value, textFor).join(",")}]`;
  return JSON.stringify(value ?? null);
}

function tooLarge(): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem: "the arguments of its call are too large" });
}

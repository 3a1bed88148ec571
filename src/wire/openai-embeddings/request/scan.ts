/** The one pass over a body that asks for vectors: what the gateway must know, and where the model's name stands. */
import { GatewayError } from "../../../base/errors.js";
import type { JsonCursor, JsonKind } from "../../json/cursor.js";
import { MODEL_CHARACTERS_MAX } from "../../request/request-size.js";
import { wrongValue } from "../../json/node.js";
import { INPUTS_MAX, MARK_BYTES, readOnlyFacts, type ReadOnlyMembers, scanReadOnly } from "../../request/read-only.js";
import type { Member } from "../../json/splice.js";
import type { RequestFacts } from "../../wire.js";
import { MEMBERS, OWN_WORDS } from "./members.js";

/** A body that was read. */
export interface Scan extends ReadOnlyMembers {
  readonly facts: RequestFacts;
  readonly encoding: "float" | "base64";
  readonly dimensions: number | undefined;
}

/** OpenAI's own members: what these hold no model reads beside the input. */
const OPENAIS: ReadonlySet<string> = new Set(["model", "input", "encoding_format", "dimensions", "user"]);
/** How values begin that may hold a text. */
const TEXT_STARTS = Buffer.from('"{[');
/** A text that names where a picture lies, or holds it. */
const ADDRESS = /^\s*(data:|[a-z][a-z0-9+.-]*:\/\/)/i;

interface Found {
  model: string | undefined;
  input: InputSize | undefined;
  encoding: "float" | "base64";
  dimensions: number | undefined;
  /** Members beside OpenAI's in which a picture may stand. */
  fileCount: number;
}

interface InputSize {
  readonly count: number;
  /** No tokenizer makes more tokens of it. */
  readonly bytes: number;
}

/** Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const found: Found = { model: undefined, input: undefined, encoding: "float", dimensions: undefined, fileCount: 0 };
  const read = (cursor: JsonCursor, key: string): GatewayError | undefined => {
    const problem = readMember(cursor, key, found);
    return problem === undefined ? undefined : wrongValue(key, problem);
  };
  const { open, members, held } = scanReadOnly(body, MEMBERS, OWN_WORDS, read);
  const { model, input, encoding, dimensions } = found;
  if (model === undefined) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "model" });
  if (input === undefined) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "input" });
  // What says how the input is to be read may be read again with each of its texts.
  const besideBytes = besideInput(body, members).reduce((sum, { valueStart, end }) => sum + end - valueStart, 0);
  const textBytes = input.bytes + besideBytes * input.count;
  const facts = readOnlyFacts(model, textBytes, input.count, found.fileCount);
  return { facts, encoding, dimensions, open, members, held };
}

/**
 * The members of a body that was scanned in which texts may stand beside the input: some upstreams read a chat in the
 * input's place, or how it is to be read.
 */
export function besideInput(body: Buffer, members: readonly Member[]): readonly Member[] {
  return members.filter(({ key, valueStart }) => TEXT_STARTS.includes(body[valueStart] ?? 0) && !OPENAIS.has(key));
}

/** Reads the value that comes next, all of it. Returns what is wrong with it. */
function readMember(cursor: JsonCursor, key: string, found: Found): string | undefined {
  const kind = cursor.kind();
  if (kind === "null") return pass(cursor, undefined);
  switch (key) {
    case "model": {
      const must = `it must be a string of 1 to ${MODEL_CHARACTERS_MAX} characters`;
      if (kind !== "string") return pass(cursor, must);
      found.model = cursor.readString();
      return found.model.length > 0 && found.model.length <= MODEL_CHARACTERS_MAX ? undefined : must;
    }
    case "input":
      return readInput(cursor, kind, found);
    case "encoding_format": {
      const said = kind === "string" ? cursor.readString() : pass(cursor, "");
      if (said !== "float" && said !== "base64") return "it must be float or base64";
      found.encoding = said;
      return undefined;
    }
    case "dimensions": {
      const said = kind === "number" ? cursor.readNumber() : Number(pass(cursor, "0"));
      if (!Number.isInteger(said) || said < 1 || said > 0xffffffff) return "it must be a whole number of at least 1";
      found.dimensions = said;
      return undefined;
    }
    case "user":
      return pass(cursor, kind === "string" ? undefined : `it must be a string, not ${kind}`);
    default:
      if (kind === "string") found.fileCount += ADDRESS.test(cursor.readString()) ? 1 : 0;
      else if (kind === "object" || kind === "array") found.fileCount++;
      return kind === "string" ? undefined : pass(cursor, undefined);
  }
}

function readInput(cursor: JsonCursor, kind: JsonKind, found: Found): string | undefined {
  const must = "it must be a string, an array of strings, an array of tokens or an array of such arrays";
  const start = cursor.at;
  if (kind === "string") {
    cursor.skip();
    found.input = { count: 1, bytes: cursor.at - start };
    return undefined;
  }
  if (kind !== "array") return pass(cursor, must);
  let first: JsonKind | undefined;
  let items = 0;
  let bytes = 0;
  let fits = true;
  cursor.enterArray();
  for (; cursor.nextItem(); items++) {
    const itemStart = cursor.at;
    const itemKind = cursor.kind();
    first ??= itemKind;
    fits &&= itemKind === first;
    if (itemKind === "array") {
      const tokens = readTokens(cursor);
      fits &&= tokens > 0;
      bytes += tokens + MARK_BYTES;
    } else if (itemKind === "number") {
      fits = isToken(cursor.readNumber()) && fits;
      bytes++;
    } else {
      fits &&= itemKind === "string";
      cursor.skip();
      bytes += cursor.at - itemStart;
    }
  }
  if (items === 0) return "it must hold at least one input";
  if (!fits) return must;
  const isOne = first === "number";
  if (!isOne && items > INPUTS_MAX) return `it must hold at most ${INPUTS_MAX} inputs`;
  found.input = { count: isOne ? 1 : items, bytes: isOne ? bytes + MARK_BYTES : bytes };
  return undefined;
}

/** How many tokens the array that comes next holds; -1 where it holds anything else. */
function readTokens(cursor: JsonCursor): number {
  let count = 0;
  let fits = true;
  cursor.enterArray();
  for (; cursor.nextItem(); count++) {
    if (cursor.kind() === "number") fits = isToken(cursor.readNumber()) && fits;
    else {
      fits = false;
      cursor.skip();
    }
  }
  return fits ? count : -1;
}

function isToken(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function pass<Result>(cursor: JsonCursor, result: Result): Result {
  cursor.skip();
  return result;
}

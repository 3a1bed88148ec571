/** The one pass over a body that asks for vectors: what the gateway must know, and where the model's name stands. */
import { GatewayError } from "../../../base/errors.js";
import type { JsonCursor, JsonKind } from "../../json/cursor.js";
import { MODEL_CHARACTERS_MAX } from "../../request/request-size.js";
import { wrongValue } from "../../json/node.js";
import {
  besideInput,
  besideSize,
  INPUTS_MAX,
  MARK_BYTES,
  readOnlyFacts,
  type ReadOnlyMembers,
  scanReadOnly,
} from "../../request/read-only.js";
import type { RequestFacts } from "../../wire.js";
import { MEMBERS, OWN_WORDS } from "./members.js";

/** A body that was read. */
export interface Scan extends ReadOnlyMembers {
  readonly facts: RequestFacts;
  readonly encoding: "float" | "base64";
  readonly dimensions: number | undefined;
}

/** OpenAI's own members: what these hold no model reads beside the input. */
export const OPENAIS: ReadonlySet<string> = new Set(["model", "input", "encoding_format", "dimensions", "user"]);

interface Found {
  model: string | undefined;
  input: InputSize | undefined;
  encoding: "float" | "base64";
  dimensions: number | undefined;
}

interface InputSize {
  readonly count: number;
  /** No tokenizer makes more tokens of it. */
  readonly bytes: number;
}

/** Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const found: Found = { model: undefined, input: undefined, encoding: "float", dimensions: undefined };
  const read = (cursor: JsonCursor, key: string): GatewayError | undefined => {
    const problem = readMember(cursor, key, found);
    return problem === undefined ? undefined : wrongValue(key, problem);
  };
  const { open, members, held } = scanReadOnly(body, MEMBERS, OWN_WORDS, read);
  const { model, input, encoding, dimensions } = found;
  if (model === undefined) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "model" });
  if (input === undefined) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "input" });
  // What says how the input is to be read may be read again with each of its texts.
  const beside = besideSize(body, besideInput(body, members, OPENAIS));
  const facts = readOnlyFacts(model, input.bytes + beside.bytes * input.count, input.count, beside.fileCount);
  return { facts, encoding, dimensions, open, members, held };
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
      return pass(cursor, undefined);
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

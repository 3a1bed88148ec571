/** The one pass over a body that asks for a judgement. */
import { GatewayError } from "../../../base/errors.js";
import { scanBody } from "../../json/body.js";
import { JSON_NODES_MAX, type JsonCursor } from "../../json/cursor.js";
import { wrongValue } from "../../json/node.js";
import type { Member } from "../../json/splice.js";
import { EMBEDDING_INPUTS_MAX, MARK_BYTES } from "../../request/embedding.js";
import type { Held } from "../../request/held-objects.js";
import { keptId } from "../../request/kept-ids.js";
import { refuseEarlierTurns } from "../../request/members.js";
import { MODEL_CHARACTERS_MAX } from "../../request/request-size.js";
import type { RequestFacts } from "../../wire.js";
import { MODEL_DEFAULT } from "../facts.js";
import { MEMBERS, OWN_WORDS } from "./members.js";

/** A body that was read. */
export interface Scan {
  readonly facts: RequestFacts;
  readonly open: number;
  readonly members: readonly Member[];
  /** The first id of what an upstream keeps. */
  readonly held: Held | undefined;
}

interface Found {
  model: string | undefined;
  /** How many judgements are asked for; undefined until the input was read. */
  inputCount: number | undefined;
  bytes: number;
  imageCount: number;
}

/** Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const found: Found = { model: undefined, inputCount: undefined, bytes: 0, imageCount: 0 };
  const read = (cursor: JsonCursor, key: string): GatewayError | undefined => {
    const problem = readMember(cursor, key, found);
    return problem === undefined ? undefined : wrongValue(key, problem);
  };
  const { cursor, open, members, refusal } = scanBody(body, read, undefined, JSON_NODES_MAX);
  if (refusal !== undefined) throw refusal;
  refuseEarlierTurns(body, members, MEMBERS);
  const { model = MODEL_DEFAULT, inputCount, bytes, imageCount } = found;
  if (inputCount === undefined) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "input" });
  const facts: RequestFacts = {
    model,
    surface: "moderation",
    stream: false,
    includeUsage: true,
    candidateCount: 1,
    outputTokensMax: 0,
    textBytes: bytes + MARK_BYTES * inputCount,
    imageCount,
    fileCount: 0,
    audioCount: 0,
    inputCount,
  };
  return { facts, open, members, held: keptId(cursor, OWN_WORDS) };
}

/** Reads the value that comes next, all of it. Returns what is wrong with it. */
function readMember(cursor: JsonCursor, key: string, found: Found): string | undefined {
  const kind = cursor.kind();
  if (key === "model" && kind !== "null") {
    const must = `it must be a string of 1 to ${MODEL_CHARACTERS_MAX} characters`;
    if (kind !== "string") return pass(cursor, must);
    found.model = cursor.readString();
    return found.model.length > 0 && found.model.length <= MODEL_CHARACTERS_MAX ? undefined : must;
  }
  if (key !== "input") return pass(cursor, undefined);
  const start = cursor.at;
  const problem = kind === "array" ? readList(cursor, found) : readText(cursor, found);
  found.bytes = cursor.at - start;
  return problem;
}

const MUST = "it must be a string, an array of strings or an array of parts";

function readText(cursor: JsonCursor, found: Found): string | undefined {
  found.inputCount = 1;
  return cursor.kind() === "string" ? pass(cursor, undefined) : pass(cursor, MUST);
}

/** Each text is judged by itself; all parts together have one judgement. */
function readList(cursor: JsonCursor, found: Found): string | undefined {
  let [items, parts, others] = [0, 0, 0];
  cursor.enterArray();
  for (; cursor.nextItem(); items++) {
    const kind = cursor.kind();
    if (kind === "object") {
      parts++;
      readPart(cursor, found);
    } else {
      if (kind !== "string") others++;
      cursor.skip();
    }
  }
  found.inputCount = parts > 0 ? 1 : items;
  if (items === 0) return "it must hold at least one input";
  if (others > 0 || (parts > 0 && parts < items)) return MUST;
  return items > EMBEDDING_INPUTS_MAX ? `it must hold at most ${EMBEDDING_INPUTS_MAX} inputs` : undefined;
}

function readPart(cursor: JsonCursor, found: Found): void {
  let isImage = false;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    isImage ||= key === "image_url";
    cursor.skip();
  }
  if (isImage) found.imageCount++;
}

function pass<Result>(cursor: JsonCursor, result: Result): Result {
  cursor.skip();
  return result;
}

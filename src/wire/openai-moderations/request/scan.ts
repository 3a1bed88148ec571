/** The one pass over a body that asks for a judgement. */
import { GatewayError } from "../../../base/errors.js";
import type { JsonCursor } from "../../json/cursor.js";
import { checkField, type FieldChecks, type FieldValue, MODEL } from "../../json/field.js";
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
import { MODEL_DEFAULT } from "../facts.js";
import { MEMBERS, NOT_READ, OWN_WORDS } from "./members.js";

const FIELDS: FieldChecks = new Map([["model", MODEL]]);

/** A body that was read. */
export interface Scan extends ReadOnlyMembers {
  readonly facts: RequestFacts;
}

interface Found {
  /** How many judgements are asked for; undefined until the input was read. */
  inputCount: number | undefined;
  bytes: number;
  imageCount: number;
}

/** Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const found: Found = { inputCount: undefined, bytes: 0, imageCount: 0 };
  const values = new Map<string, FieldValue>();
  const scanned = scanReadOnly(body, MEMBERS, OWN_WORDS, (cursor, key) => {
    if (key !== "input") return checkField(FIELDS, cursor, key, values);
    const problem = readInput(cursor, found);
    return problem === undefined ? undefined : wrongValue(key, problem);
  });
  const { inputCount, bytes, imageCount } = found;
  if (inputCount === undefined) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "input" });
  const beside = besideSize(body, besideInput(body, scanned.members, NOT_READ));
  const model = String(values.get("model") ?? MODEL_DEFAULT);
  const facts: RequestFacts = {
    ...readOnlyFacts(model, bytes + (MARK_BYTES + beside.bytes) * inputCount, inputCount, beside.fileCount),
    surface: "moderation",
    imageCount,
  };
  return { ...scanned, facts };
}

/** Reads the input, all of it. Returns what is wrong with it. */
function readInput(cursor: JsonCursor, found: Found): string | undefined {
  const start = cursor.at;
  const kind = cursor.kind();
  if (kind === "array") {
    const problem = readList(cursor, found);
    found.bytes = cursor.at - start;
    return problem;
  }
  cursor.skip();
  found.bytes = cursor.at - start;
  found.inputCount = 1;
  return kind === "string" ? undefined : MUST;
}

const MUST = "it must be a string, an array of strings or an array of parts";

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
  return items > INPUTS_MAX ? `it must hold at most ${INPUTS_MAX} inputs` : undefined;
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

/** The one pass over a client's body: what the gateway must know, and where what it owns stands. */
import { GatewayError } from "../../../base/errors.js";
import { scanBody } from "../../json/body.js";
import type { JsonCursor } from "../../json/cursor.js";
import { MESSAGES_MAX, MODEL_CHARACTERS_MAX, tooManyMessages } from "../../request/request-size.js";
import { wrongValue } from "../../json/node.js";
import { claimKey, type Member } from "../../json/splice.js";
import type { RequestFacts, SourceBody } from "../../wire.js";
import type { ScannedBody } from "../../request/scanned-request.js";
import { type Held, heldFile, noteHeldName } from "../../request/held-objects.js";
import { isFilmAddress, isPicture } from "../../request/picture.js";
import { keptId } from "../../request/kept-ids.js";
import { Steering } from "../../request/steering.js";
import { MEMBERS, OWN_WORDS } from "./members.js";
import { isHeldFile, readTools } from "./scan-tools.js";
import { fieldName, PATH_MODEL_HEADER, PATH_STREAM_HEADER } from "../facts.js";

/** What the gateway must know of a body. */
export interface Scan extends ScannedBody {
  /** The request in the body, where a body for counting wraps one. */
  readonly wrapped: Buffer | undefined;
}

interface Counts {
  imageCount: number;
  fileCount: number;
  audioCount: number;
  /** The first file that is named by its address at Google, where others' are too. */
  held: Held | undefined;
  /** Bytes of media inside the body: their tokens do not follow from them. */
  mediaBytes: number;
}

interface Limits {
  outputTokensMax: number | undefined;
  candidateCount: number;
}

const CANDIDATES_MAX = 128;
/** JSON that a tool made or takes: whatever its keys are called, it is text to the model. */
const TOOL_JSON: ReadonlySet<string> = new Set(["args", "response"]);

/** Reads and checks a body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest({ body, headers }: SourceBody): Scan {
  const counts: Counts = { imageCount: 0, fileCount: 0, audioCount: 0, held: undefined, mediaBytes: 0 };
  const limits: Limits = { outputTokensMax: undefined, candidateCount: 1 };
  const steering = new Steering(MEMBERS);
  const read = (json: JsonCursor, name: string): GatewayError | undefined => {
    const start = json.at;
    if (name === "tools") return readTools(json, steering);
    const problem = readMember(json, name, counts, limits);
    return steering.note(name, json, start) ?? problem;
  };
  const { cursor, open, members, refusal } = scanBody(body, read, fieldName);
  const model = modelIn(headers);
  if (refusal !== undefined) throw refusal;
  const hasContents = members.some(({ key }) => fieldName(key) === "contents");
  const wrapped = hasContents ? undefined : wrappedIn(body, members);
  if (!hasContents && wrapped === undefined)
    throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "contents" });
  const { mediaBytes, held, ...media } = counts;
  const { hosted } = steering;
  const facts: RequestFacts = {
    model,
    stream: headers[PATH_STREAM_HEADER] === "1",
    includeUsage: true,
    ...limits,
    textBytes: body.length - mediaBytes,
    ...media,
    fileCount: media.fileCount + steering.fileCount,
    ...steering.facts(),
  };
  return { facts, open, members, hosted, held: steering.held ?? held ?? keptId(cursor, OWN_WORDS), wrapped };
}

function wrappedIn(body: Buffer, members: readonly Member[]): Buffer | undefined {
  const member = members.find(({ key }) => fieldName(key) === "generateContentRequest");
  return member === undefined ? undefined : body.subarray(member.valueStart, member.end);
}

function modelIn(headers: SourceBody["headers"]): string {
  const model = headers[PATH_MODEL_HEADER] ?? "";
  if (model === "") throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "model" });
  if (model.length > MODEL_CHARACTERS_MAX)
    throw wrongValue("model", `it must be a string of 1 to ${MODEL_CHARACTERS_MAX} characters`);
  return model;
}

/** Reads one top-level member. Returns what is wrong with it. The value is always passed. */
function readMember(cursor: JsonCursor, name: string, counts: Counts, limits: Limits): GatewayError | undefined {
  const kind = cursor.kind();
  if (name === "contents") {
    if (kind !== "array" && kind !== "object") {
      cursor.skip();
      return wrongValue(name, `it must be an array of contents, not ${kind}`);
    }
    return kind === "array" ? readContents(cursor, counts) : countMedia(cursor, counts);
  }
  if (name === "systemInstruction" && kind === "object") {
    countMedia(cursor, counts);
    return undefined;
  }
  if (name !== "generationConfig" || kind === "null") {
    cursor.skip();
    return undefined;
  }
  if (kind === "object") return readConfig(cursor, limits);
  cursor.skip();
  return wrongValue(name, `it must be an object, not ${kind}`);
}

function readContents(cursor: JsonCursor, counts: Counts): GatewayError | undefined {
  let count = 0;
  cursor.enterArray();
  for (; cursor.nextItem(); count++) countMedia(cursor, counts);
  if (count > MESSAGES_MAX) return tooManyMessages("contents");
  return count === 0 ? wrongValue("contents", "it must hold at least one content") : undefined;
}

function readConfig(cursor: JsonCursor, limits: Limits): GatewayError | undefined {
  const keys = new Set<string>();
  let refusal: GatewayError | undefined;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    const name = fieldName(key);
    claimKey(keys, name);
    const start = cursor.at;
    cursor.skip();
    if (name !== "maxOutputTokens" && name !== "candidateCount") continue;
    const count = countOf(cursor.bytes.toString("latin1", start, cursor.at));
    if (count === "absent") continue;
    if (count === undefined || (name === "candidateCount" && count > CANDIDATES_MAX))
      refusal ??= wrongValue(`generationConfig.${name}`, "it must be an integer of at least 1");
    else if (name === "candidateCount") limits.candidateCount = count;
    else limits.outputTokensMax = count;
  }
  return refusal;
}

/** A positive integer as JSON of the wire writes it: as a number, or as a string of digits. */
function countOf(json: string): number | "absent" | undefined {
  if (json === "null") return "absent";
  const count = Number(/^"(\d{1,16})"$/.exec(json)?.[1] ?? json);
  return Number.isSafeInteger(count) && count >= 1 ? count : undefined;
}

/** Passes the value that comes next and counts the media in it, as deep as a body may nest. */
function countMedia(cursor: JsonCursor, counts: Counts): undefined {
  const kind = cursor.kind();
  if (kind === "array") {
    cursor.enterArray();
    while (cursor.nextItem()) countMedia(cursor, counts);
    return undefined;
  }
  if (kind !== "object") {
    cursor.skip();
    return undefined;
  }
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    const name = fieldName(key);
    if (TOOL_JSON.has(name)) cursor.skip();
    else if ((name === "inlineData" || name === "fileData") && cursor.kind() === "object") readMedia(cursor, counts);
    else {
      noteHeldName(counts, key, cursor.kind() === "null", "contents");
      countMedia(cursor, counts);
    }
  }
  return undefined;
}

function readMedia(cursor: JsonCursor, counts: Counts): void {
  let mediaType = "";
  let isFilm = false;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    const start = cursor.at;
    const name = fieldName(key);
    if (name === "mimeType" && cursor.kind() === "string") mediaType = cursor.readString();
    else if (name === "fileUri" && cursor.kind() === "string") {
      const address = cursor.readString();
      if (isHeldFile(address)) counts.held ??= heldFile("contents.parts.fileData.fileUri");
      isFilm ||= isFilmAddress(address);
    } else cursor.skip();
    if (key === "data") counts.mediaBytes += cursor.at - start;
  }
  if (isPicture(mediaType) && !isFilm) counts.imageCount++;
  else if (mediaType.startsWith("audio/")) counts.audioCount++;
  else counts.fileCount++;
}

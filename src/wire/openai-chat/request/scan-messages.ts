/** The pass over the messages of a body: who speaks, what kinds of parts there are, and how much of it is media. */
import { GatewayError } from "../../../base/errors.js";
import { type Held, heldFile, heldIn, namesFile, noteHeldName } from "../../request/held-objects.js";
import { type FoundTools, scanTools } from "../../request/hosted-tools.js";
import type { JsonCursor } from "../../json/cursor.js";
import { PartMedia } from "../../openai/request/media.js";
import { MESSAGES_MAX, tooManyMessages } from "../../request/request-size.js";
import { MediaCounts } from "../../request/scan-facts.js";
import { wrongValue } from "../../json/node.js";
import { parsed } from "../../json/value.js";
import { TOOLS } from "./members.js";

/** What is counted on the way. */
export class MessageCounts extends MediaCounts {
  /** The first file that is named by its id. */
  held: Held | undefined = undefined;

  /** `tools` takes those that messages bring along. */
  constructor(readonly tools: FoundTools) {
    super();
  }
}

/** Reads the array of messages that comes next, all of it. Returns the first thing that is wrong with it. */
export function scanMessages(cursor: JsonCursor, counts: MessageCounts): GatewayError | undefined {
  let index = 0;
  let problem: GatewayError | undefined;
  cursor.enterArray();
  for (; cursor.nextItem(); index++) {
    if (index === MESSAGES_MAX) problem ??= tooManyMessages("messages");
    if (problem === undefined) problem = scanMessage(cursor, counts, index);
    else cursor.skip();
  }
  if (index === 0) return wrongValue("messages", "it must hold at least one message", "empty_array");
  return problem;
}

function scanMessage(cursor: JsonCursor, counts: MessageCounts, index: number): GatewayError | undefined {
  const kind = cursor.kind();
  if (kind !== "object") {
    cursor.skip();
    return wrongValue(`messages[${index}]`, `it must be an object, not ${kind}`);
  }
  let problem: GatewayError | undefined;
  let hasRole = false;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    if (key === "role") {
      const kind = cursor.kind();
      if (kind === "string") hasRole = true;
      else if (kind !== "null") problem ??= wrongValue(`messages[${index}].role`, `it must be a string, not ${kind}`);
      cursor.skip();
    } else if (key === "content") {
      const found = scanContent(cursor, counts, index);
      problem ??= found;
    } else if (key === "tools" && cursor.kind() === "array") {
      const wrong = scanTools(cursor, TOOLS, counts.tools, `messages[${index}].tools`);
      problem ??= wrong;
    } else if (key === "audio" && cursor.kind() === "object") {
      if (holdsId(cursor)) counts.held ??= heldFile(`messages[${index}].audio.id`);
    } else {
      noteHeldName(counts, key, cursor.kind() === "null", `messages[${index}]`);
      cursor.skip();
    }
  }
  if (problem !== undefined || hasRole) return problem;
  return new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: `messages[${index}].role` });
}

/** Passes an object. True where it has an id: then it names a sound that the upstream keeps. */
function holdsId(cursor: JsonCursor): boolean {
  let hasId = false;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    hasId ||= key === "id" && cursor.kind() !== "null";
    cursor.skip();
  }
  return hasId;
}

function scanContent(cursor: JsonCursor, counts: MessageCounts, index: number): GatewayError | undefined {
  const kind = cursor.kind();
  if (kind !== "array") {
    cursor.skip();
    if (kind === "string" || kind === "null") return undefined;
    return wrongValue(`messages[${index}].content`, `it must be a string or an array of parts, not ${kind}`);
  }
  let problem: GatewayError | undefined;
  cursor.enterArray();
  for (let place = 0; cursor.nextItem(); place++) {
    // A refusal costs a hundred times what it takes to pass a value, so the first is the only one.
    if (problem === undefined) problem = scanPart(cursor, counts, index, place);
    else cursor.skip();
  }
  return problem;
}

/** Parts that are what their bytes say. */
const TEXT_PARTS: ReadonlySet<string> = new Set(["text", "refusal", "thinking"]);

function scanPart(cursor: JsonCursor, counts: MessageCounts, index: number, place: number): GatewayError | undefined {
  const kind = cursor.kind();
  if (kind !== "object") {
    cursor.skip();
    return wrongValue(`messages[${index}].content[${place}]`, `it must be an object, not ${kind}`);
  }
  let type: string | undefined;
  const media = new PartMedia();
  let hasHeldFile = false;
  const partStart = cursor.at;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    if (key === "type" && cursor.kind() === "string") type = cursor.readString();
    else if (key === "image_url") media.passIn(cursor, "url", true);
    else if (key === "input_audio") media.passIn(cursor, "data", false);
    else if (key === "file") {
      const start = cursor.at;
      media.passIn(cursor, "file_data", false);
      hasHeldFile ||= namesFile(cursor.bytes.subarray(start, cursor.at));
    } else {
      noteHeldName(counts, key, cursor.kind() === "null", `messages[${index}].content[${place}]`);
      cursor.skip();
    }
  }
  if (hasHeldFile) counts.held ??= heldFile(`messages[${index}].content[${place}].file.file_id`);
  if (type === undefined)
    return new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: `messages[${index}].content[${place}].type` });
  if (type === "image_url" && media.isPicture) counts.imageCount++;
  else if (type === "image_url" || type === "file") counts.fileCount++;
  else if (type === "input_audio") counts.audioCount++;
  else {
    if (TEXT_PARTS.has(type)) return undefined;
    // A kind we do not know may be a film behind an address: nothing in the request bounds what it reads as.
    counts.fileCount++;
    const part = parsed(cursor.bytes.toString("utf8", partStart, cursor.at));
    counts.held ??= heldIn(part, `messages[${index}].content[${place}]`);
    return undefined;
  }
  counts.mediaBytes += media.bytes;
  return undefined;
}

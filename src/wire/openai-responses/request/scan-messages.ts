/** The pass over the input of a body: what kinds of items and parts there are, and how much of it is media. */
import { GatewayError } from "../../../base/errors.js";
import { heldFile, heldIn, noteHeldName } from "../../request/held-objects.js";
import { type FoundTools, scanTools } from "../../request/hosted-tools.js";
import type { JsonCursor } from "../../json/cursor.js";
import { PartMedia } from "../../openai/request/media.js";
import { MESSAGES_MAX, tooManyMessages } from "../../request/request-size.js";
import { MediaCounts } from "../../request/scan-facts.js";
import { wrongValue } from "../../json/node.js";
import { parsed, textOf } from "../../json/value.js";
import { TOOLS } from "./members.js";
import { isOurs, OUR_SUMMARY } from "../answer/proof.js";
import { keptItem } from "./scan-stateless.js";
import { isTellable } from "./decode-as-text.js";

/** From a value's first byte to behind its last. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** An item that no other wire has a word for. */
export interface StrangeItem {
  readonly place: number;
  readonly type: string;
}

/** What is noted on the way. */
export class Found extends MediaCounts {
  /** Every item. */
  items: Span[] = [];
  /**
   * The places of the items that must not go to OpenAI: thoughts that only stand in for another upstream's, and names
   * of items that stand here themselves.
   */
  ours = new Set<number>();
  /** The places of summaries of ours, which go to OpenAI in words. */
  readonly summaries = new Set<number>();
  /** The place of the item that asks for the conversation to be summed up. */
  trigger: number | undefined;
  readonly strange: StrangeItem[] = [];
  /** The ids of the items, and where each is only named. */
  readonly ids = new Set<string>();
  readonly named = new Map<number, string>();

  /** `tools` takes those that items bring along, and what may not go upstream. */
  constructor(readonly tools: FoundTools) {
    super();
  }
}

/** Items that the typed form has a place for. */
const CARRIED: ReadonlySet<string> = new Set([
  "message",
  "compaction_trigger",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "additional_tools",
]);

/** Items that are what their bytes say. What others bring to read no one knows. */
const TEXT_ITEMS: ReadonlySet<string> = new Set([
  "message",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "local_shell_call_output",
  "shell_call",
  "shell_call_output",
  "apply_patch_call",
  "apply_patch_call_output",
  "web_search_call",
  "tool_search_call",
  "tool_search_output",
  "program",
  "program_output",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
  "additional_tools",
  "compaction_trigger",
]);

const TEXT_PARTS: ReadonlySet<string> = new Set([
  "input_text",
  "output_text",
  "text",
  "refusal",
  "summary_text",
  "reasoning_text",
]);

/** Items whose members are read one by one, or are text. All others are looked at as a whole. */
const SPOKEN: ReadonlySet<string> = new Set([
  "",
  "message",
  "item_reference",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "additional_tools",
  "mcp_list_tools",
]);

/** What an item may not change for what follows it. */
const STEERING: ReadonlySet<string> = new Set(["model", "service_tier", "max_output_tokens"]);

/** Reads the array of items that comes next, all of it. Returns the first thing that is wrong with it. */
export function scanInput(cursor: JsonCursor, found: Found): GatewayError | undefined {
  let problem: GatewayError | undefined;
  cursor.enterArray();
  for (let place = 0; cursor.nextItem(); place++) {
    const start = cursor.at;
    if (place === MESSAGES_MAX) problem ??= tooManyMessages("input");
    if (problem === undefined) problem = scanItem(cursor, found, place);
    else cursor.skip();
    found.items.push({ start, end: cursor.at });
  }
  if (found.items.length === 0) return wrongValue("input", "it must hold at least one item", "empty_array");
  for (const [place, id] of found.named) {
    if (!found.ids.has(id)) problem ??= keptItem(`input[${place}]`);
    found.ours.add(place);
  }
  return problem;
}

/** What an item says of itself. */
interface Item {
  type: string;
  hasRole: boolean;
  id: string;
  encrypted: string;
  /** True where it has the picture that it is of. */
  hasResult: boolean;
}

function scanItem(cursor: JsonCursor, found: Found, place: number): GatewayError | undefined {
  const path = `input[${place}]`;
  const kind = cursor.kind();
  if (kind !== "object") {
    cursor.skip();
    return wrongValue(path, `it must be an object, not ${kind}`);
  }
  const start = cursor.at;
  const item: Item = { type: "", hasRole: false, id: "", encrypted: "", hasResult: false };
  let problem: GatewayError | undefined;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    const isText = cursor.kind() === "string";
    if (key === "type" && isText) item.type = cursor.readString();
    else if (key === "id" && isText) item.id = cursor.readString();
    else if (key === "encrypted_content" && isText) item.encrypted = readStart(cursor);
    else if (key === "content" || key === "output") {
      const wrongPart = scanContent(cursor, found, `${path}.${key}`);
      problem ??= wrongPart;
    } else if (key === "tools" && cursor.kind() === "array") {
      const wrongTool = scanTools(cursor, TOOLS, found.tools, `${path}.tools`);
      problem ??= wrongTool;
    } else {
      if (STEERING.has(key))
        found.tools.held ??= { param: `${path}.${key}`, problem: "set this for the whole request, not for one item" };
      if (key === "role" && isText) item.hasRole = true;
      if (key === "result" && isText && cursor.headOfString(1) !== "") item.hasResult = true;
      noteHeldName(found.tools, key, cursor.kind() === "null", path);
      cursor.skip();
    }
  }
  if (!SPOKEN.has(item.type)) noteHeld(cursor, start, path, found);
  return problem ?? noteItem(item, found, place);
}

/** Others' objects anywhere in the value that was read. */
function noteHeld(cursor: JsonCursor, start: number, path: string, found: Found): void {
  found.tools.held ??= heldIn(parsed(cursor.bytes.toString("utf8", start, cursor.at)), path);
}

/** The first characters of a string, which tell whose it is. */
function readStart(cursor: JsonCursor): string {
  const start = cursor.at;
  cursor.skip();
  const text = cursor.bytes.toString("latin1", start + 1, Math.min(start + 33, cursor.at - 1));
  return text.includes("\\") ? textOf(parsed(cursor.bytes.toString("utf8", start, cursor.at))).slice(0, 32) : text;
}

function noteItem(item: Item, found: Found, place: number): GatewayError | undefined {
  const type = item.type === "" && item.hasRole ? "message" : item.type;
  // The wire lets a bare id name an item.
  if (type === "" && item.id === "")
    return new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: `input[${place}].type` });
  if (type === "message" && !item.hasRole)
    return new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: `input[${place}].role` });
  if (type === "item_reference" || (type === "" && item.id !== "")) {
    found.named.set(place, item.id);
    return undefined;
  }
  if (item.id !== "") found.ids.add(item.id);
  // Without its picture it stands for the one that OpenAI keeps under the id.
  if (type === "image_generation_call" && !item.hasResult) found.tools.held ??= heldFile(`input[${place}].id`);
  if (type === "compaction_trigger") found.trigger ??= place;
  if (type === "compaction" && item.encrypted.startsWith(OUR_SUMMARY)) {
    found.summaries.add(place);
    return undefined;
  }
  if (type !== "reasoning" && !CARRIED.has(type) && !isTellable(type)) found.strange.push({ place, type });
  if (type === "reasoning") {
    if (isOurs(item.id, item.encrypted)) found.ours.add(place);
    // Of a thought that OpenAI keeps, only its id is here.
    else if (item.encrypted === "") found.fileCount++;
  } else if (!TEXT_ITEMS.has(type)) found.fileCount++;
  return undefined;
}

function scanContent(cursor: JsonCursor, found: Found, path: string): GatewayError | undefined {
  if (cursor.kind() !== "array") {
    // What a hosted tool returned may be anything; of what is said the typed form checks it.
    const start = cursor.at;
    const isObject = cursor.kind() === "object";
    cursor.skip();
    if (isObject) noteHeld(cursor, start, path, found);
    return undefined;
  }
  let problem: GatewayError | undefined;
  cursor.enterArray();
  for (let place = 0; cursor.nextItem(); place++) {
    if (problem === undefined) problem = scanPart(cursor, found, `${path}[${place}]`);
    else cursor.skip();
  }
  return problem;
}

function scanPart(cursor: JsonCursor, found: Found, path: string): GatewayError | undefined {
  const kind = cursor.kind();
  if (kind !== "object") {
    cursor.skip();
    return wrongValue(path, `it must be an object, not ${kind}`);
  }
  let type: string | undefined;
  const media = new PartMedia();
  const start = cursor.at;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    if (key === "type" && cursor.kind() === "string") type = cursor.readString();
    else if (key === "image_url") media.pass(cursor, true);
    else if (key === "file_data") media.pass(cursor, false);
    else if (key === "input_audio" && cursor.kind() === "object") media.passIn(cursor, "data", false);
    else {
      noteHeldName(found.tools, key, cursor.kind() === "null", path);
      cursor.skip();
    }
  }
  if (type === undefined) return undefined;
  if (type === "input_image" && media.isPicture) found.imageCount++;
  else if (type === "input_audio") found.audioCount++;
  else if (type === "input_image" || type === "input_file") found.fileCount++;
  else {
    // A kind we do not know may be a film behind an address: nothing in the request bounds what it reads as.
    if (!TEXT_PARTS.has(type)) {
      found.fileCount++;
      noteHeld(cursor, start, path, found);
    }
    return undefined;
  }
  found.mediaBytes += media.bytes;
  return undefined;
}

/** The pass over the messages of a body: who speaks, how much of it is media, and which thoughts are of our making. */
import { GatewayError } from "../../../base/errors.js";
import { type Held, heldFile, isRetold, noteHeldName } from "../../request/held-objects.js";
import { type FoundTools, scanTool, scanTools } from "../../request/hosted-tools.js";
import type { JsonCursor } from "../../json/cursor.js";
import { MESSAGES_MAX, tooManyMessages } from "../../request/request-size.js";
import { MediaCounts } from "../../request/scan-facts.js";
import { wrongValue } from "../../json/node.js";
import { ADDRESS_HEAD_CHARACTERS, isPicture, mayBePicture } from "../../request/picture.js";
import { TOOLS } from "./members.js";
import { isOurs, MARK_CHARACTERS } from "../answer/proof.js";

/** Bytes of a body, from the first to behind the last. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A list in which some elements must not go upstream. */
export interface MarkedList {
  readonly list: Span;
  readonly items: readonly Span[];
  /** The places of those elements. */
  readonly marked: readonly number[];
}

/** What is found on the way. */
export class Found extends MediaCounts {
  /** The first file that is named by its id. */
  held: Held | undefined = undefined;
  /** Contents that hold thoughts whose proof we made, for an upstream of another wire. */
  readonly ourThoughts: MarkedList[] = [];

  /** `tools` takes those that messages bring along. */
  constructor(readonly tools: FoundTools) {
    super();
  }
}

/** One block of a content, as far as the pass looks at it. */
interface Block {
  type: string | undefined;
  isOurThought: boolean;
  isCited: boolean;
}

const MEDIA_SOURCES: ReadonlySet<string> = new Set(["base64", "url", "file"]);

export class MessageScan {
  private problem: GatewayError | undefined;

  /** `isStrict` says whether the newest version's rules hold. */
  constructor(
    private readonly cursor: JsonCursor,
    private readonly found: Found,
    private readonly isStrict: boolean,
  ) {}

  /** Reads the array of messages that comes next, all of it. Returns the first thing that is wrong with it. */
  messages(): GatewayError | undefined {
    const { cursor } = this;
    let index = 0;
    cursor.enterArray();
    for (; cursor.nextItem(); index++) {
      if (index === MESSAGES_MAX) this.refuse(tooManyMessages("messages"));
      if (this.problem === undefined) this.message(`messages[${index}]`);
      else cursor.skip();
    }
    if (index === 0) return wrongValue("messages", "it must hold at least one message");
    return this.problem;
  }

  private message(path: string): void {
    const { cursor } = this;
    if (!this.isObject(path)) return;
    let role: string | undefined;
    let blocks: readonly Block[] = [];
    cursor.enterObject();
    for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
      if (key === "role" && cursor.kind() === "string") role = cursor.readString();
      else if (key === "content") blocks = this.content(`${path}.content`, true);
      else if (key === "tools") this.tools(path);
      else {
        noteHeldName(this.found, key, cursor.kind() === "null", path);
        cursor.skip();
      }
    }
    if (role === undefined) this.refuse(new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: `${path}.role` }));
    else if (role !== "user" && role !== "assistant" && role !== "system")
      this.refuse(wrongValue(`${path}.role`, "it must be user, assistant or system"));
    if (this.isStrict) this.checkStrictly(role ?? "", blocks, path);
  }

  private checkStrictly(role: string, blocks: readonly Block[], path: string): void {
    blocks.forEach(({ type, isCited }, place) => {
      if (this.problem !== undefined) return;
      const at = `${path}.content[${place}]`;
      if (role === "assistant" && type === "document")
        this.refuse(wrongValue(at, "a document cannot stand in a message of the assistant"));
      if (role === "user" && isCited) this.refuse(wrongValue(`${at}.citations`, "Extra inputs are not permitted"));
    });
  }

  private content(path: string, isMessage: boolean): readonly Block[] {
    const { cursor } = this;
    const kind = cursor.kind();
    if (kind !== "array") {
      cursor.skip();
      if (kind !== "string" && kind !== "null")
        this.refuse(wrongValue(path, `it must be a string or an array of blocks, not ${kind}`));
      return [];
    }
    const blocks: Block[] = [];
    const items: Span[] = [];
    const listStart = cursor.at;
    cursor.enterArray();
    while (cursor.nextItem()) {
      const start = cursor.at;
      if (this.problem !== undefined) {
        cursor.skip();
        continue;
      }
      blocks.push(this.block(`${path}[${blocks.length}]`));
      items.push({ start, end: cursor.at });
    }
    const marked = blocks.flatMap((block, place) => (isMessage && block.isOurThought ? [place] : []));
    if (marked.length > 0) this.found.ourThoughts.push({ list: { start: listStart, end: cursor.at }, items, marked });
    return blocks;
  }

  private block(path: string): Block {
    const { cursor } = this;
    const block: Block = { type: undefined, isOurThought: false, isCited: false };
    if (!this.isObject(path)) return block;
    let isOurProof = false;
    let isCited = false;
    let mediaBytes = 0;
    let isMedia = false;
    let isOfPicture = true;
    const named: { held: Held | undefined } = { held: undefined };
    cursor.enterObject();
    for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
      const kind = cursor.kind();
      if (key === "type" && kind === "string") block.type = cursor.readString();
      else if ((key === "signature" || key === "data") && kind === "string") {
        isOurProof ||= isOurs(cursor.headOfString(MARK_CHARACTERS));
        cursor.skip();
      } else if (key === "source" && kind === "object")
        ({ mediaBytes, isMedia, isOfPicture } = this.source(`${path}.source`));
      else if (key === "content" && kind === "array")
        isCited = this.content(`${path}.content`, false).some(hasCitations);
      else if (key === "citations" && kind === "array") isCited = this.isFilled();
      else if (key === "tools") this.tools(path);
      else if (key === "tool" && kind === "object") this.refuse(scanTool(cursor, TOOLS, this.found.tools, path, 0));
      else {
        noteHeldName(named, key, kind === "null", path);
        cursor.skip();
      }
      block.isCited ||= isCited;
    }
    if (block.type === undefined)
      this.refuse(new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: `${path}.type` }));
    if (!isRetold(block.type ?? "")) this.found.held ??= named.held;
    block.isOurThought = isOurProof && (block.type === "thinking" || block.type === "redacted_thinking");
    const isImage = block.type === "image";
    if (isImage && isOfPicture) this.found.imageCount++;
    else if (isImage || (block.type === "document" && isMedia)) this.found.fileCount++;
    else return block;
    this.found.mediaBytes += mediaBytes;
    return block;
  }

  /** Tools that come amid a conversation are what those of the request are. */
  private tools(path: string): void {
    const { cursor } = this;
    if (cursor.kind() === "array") this.refuse(scanTools(cursor, TOOLS, this.found.tools, `${path}.tools`));
    else cursor.skip();
  }

  /** Passes where the bytes of a picture or a document come from. Text and blocks of text are no media. */
  private source(path: string): { mediaBytes: number; isMedia: boolean; isOfPicture: boolean } {
    const { cursor } = this;
    let type = "";
    let isOfPicture = true;
    let dataBytes = 0;
    cursor.enterObject();
    for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
      const start = cursor.at;
      if (key === "type" && cursor.kind() === "string") type = cursor.readString();
      else if (key === "media_type" && cursor.kind() === "string") isOfPicture &&= isPicture(cursor.readString());
      else {
        if (key === "url") isOfPicture &&= mayBePicture(cursor.headOfString(ADDRESS_HEAD_CHARACTERS));
        cursor.skip();
      }
      if (key === "data") dataBytes = cursor.at - start;
      else if (key === "file_id") this.found.held ??= heldFile(`${path}.file_id`);
    }
    const mediaBytes = type === "base64" ? dataBytes : 0;
    return { mediaBytes, isMedia: MEDIA_SOURCES.has(type), isOfPicture };
  }

  /** Passes an array. True where it holds anything. */
  private isFilled(): boolean {
    const { cursor } = this;
    let isFilled = false;
    cursor.enterArray();
    while (cursor.nextItem()) {
      isFilled = true;
      cursor.skip();
    }
    return isFilled;
  }

  private isObject(path: string): boolean {
    const kind = this.cursor.kind();
    if (kind === "object") return true;
    this.cursor.skip();
    this.refuse(wrongValue(path, `it must be an object, not ${kind}`));
    return false;
  }

  private refuse(problem: GatewayError | undefined): void {
    this.problem ??= problem;
  }
}

function hasCitations(block: Block): boolean {
  return block.isCited;
}

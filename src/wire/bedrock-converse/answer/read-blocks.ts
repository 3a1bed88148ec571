/** Reads the blocks of one message, from their events or whole. */
import { upstreamFailed } from "../../error/refusals.js";
import { type CallCollector, type ClaudeCall, ClaudeCalls } from "../../claude/answer/read-calls.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";
import { partOf } from "../../request/part.js";
import { jsonTokens, PICTURE_TOKENS, sealedTokens } from "../../answer/non-text.js";
import { BLOCK_KINDS, DELTA_KINDS, START_KINDS } from "../events/kinds.js";

const BLOCKS_MAX = 10_000;

/** What is open at one place of the content. */
interface Block {
  readonly call: ClaudeCall | undefined;
  /** A thought that only the upstream can read. */
  readonly redacted: Buffer[];
  hasPicture: boolean;
}

export class BlockReader {
  private readonly open = new Map<unknown, Block>();
  private blocks = 0;
  /** True where anything of the answer's thoughts was shown. */
  private isThoughtShown = false;
  private readonly calls: ClaudeCalls;

  constructor(private readonly to: CallCollector) {
    this.calls = new ClaudeCalls(to);
  }

  get hasCalls(): boolean {
    return this.calls.hasCalls;
  }

  /** A block begins. Only calls say so; text and thoughts begin with their first piece. */
  start(index: unknown, start: JsonObject): void {
    this.stop(index);
    this.to.noteUnknownIn(start, START_KINDS);
    const call = objectOf(start["toolUse"]);
    const begun = call && this.calls.begin(textOf(call["name"]), textOf(call["toolUseId"]));
    this.begin(index, begun);
  }

  delta(index: unknown, delta: JsonObject): void {
    const block = this.open.get(index) ?? this.begin(index, undefined);
    this.to.noteUnknownIn(delta, DELTA_KINDS);
    this.to.tellText(0, textOf(delta["text"]));
    const input = objectOf(delta["toolUse"]);
    if (input !== undefined) this.input(block, textOf(input["input"]));
    if (delta["citation"] !== undefined) this.to.noteContent(jsonTokens(delta["citation"]));
    if (delta["image"] !== undefined) this.picture(block);
    const thought = objectOf(delta["reasoningContent"]);
    if (thought === undefined) return;
    this.thinking(textOf(thought["text"]), textOf(thought["signature"]));
    const redacted = textOf(thought["redactedContent"]);
    if (redacted === "") return;
    this.to.noteContent(sealedTokens(redacted));
    block.redacted.push(Buffer.from(redacted, "base64"));
  }

  stop(index: unknown): void {
    const block = this.open.get(index);
    if (block === undefined) return;
    this.open.delete(index);
    block.call?.end({});
    if (block.redacted.length > 0) this.redacted(Buffer.concat(block.redacted).toString("base64"), 0);
  }

  /** One whole block. `inputJson` is the input of a call as the upstream wrote it, with all digits. */
  whole(index: number, block: JsonObject, inputJson: string | undefined): void {
    this.to.noteUnknownIn(block, BLOCK_KINDS);
    if (block["image"] !== undefined) this.to.noteContent(PICTURE_TOKENS);
    const call = objectOf(block["toolUse"]);
    if (call !== undefined) {
      this.start(index, block);
      this.delta(index, { toolUse: { input: inputJson ?? JSON.stringify(call["input"] ?? {}) } });
      this.stop(index);
      return;
    }
    this.to.tellText(0, textOf(block["text"]));
    for (const cited of listOf(objectOf(block["citationsContent"])?.["content"]))
      this.to.tellText(0, textOf(objectOf(cited)?.["text"]));
    const thought = objectOf(block["reasoningContent"]);
    const told = objectOf(thought?.["reasoningText"]);
    this.thinking(textOf(told?.["text"]), textOf(told?.["signature"]));
    const redacted = textOf(thought?.["redactedContent"]);
    if (redacted !== "") this.redacted(redacted, sealedTokens(redacted));
  }

  finish(): void {
    for (const index of this.open.keys()) this.stop(index);
  }

  private begin(index: unknown, call: ClaudeCall | undefined): Block {
    if (++this.blocks > BLOCKS_MAX) throw upstreamFailed("its answer has too many pieces");
    const block: Block = { call, redacted: [], hasPicture: false };
    this.open.set(index, block);
    return block;
  }

  private thinking(text: string, signature: string): void {
    if (text === "" && signature === "") return;
    this.isThoughtShown ||= text !== "";
    if (!this.isThoughtShown) this.to.noteSealed(sealedTokens(signature));
    this.to.tellThinking(0, text, signature === "" ? undefined : signature);
  }

  /** The input of a block that was no call when it began is told to nobody, and counts all the same. */
  private input({ call }: Block, fragment: string): void {
    if (call === undefined) this.to.addText(fragment);
    else call.push(fragment);
  }

  /** It comes in pieces. */
  private picture(block: Block): void {
    if (!block.hasPicture) this.to.noteContent(PICTURE_TOKENS);
    block.hasPicture = true;
  }

  private redacted(data: string, tokens: number): void {
    this.to.tellPart(0, partOf({ $case: "redactedThinking", value: { data } }), tokens);
  }
}

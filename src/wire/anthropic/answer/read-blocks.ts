/** Reads the blocks of one message, from their events or whole. */
import { upstreamFailed } from "../../error/refusals.js";
import { type CallCollector, type ClaudeCall, ClaudeCalls } from "../../claude/answer/read-calls.js";
import { type JsonObject, objectOf, parsed, textOf } from "../../json/value.js";
import { kept } from "../../answer/kept-text.js";
import { partOf, opaquePart } from "../../request/part.js";
import { jsonTokens, sealedTokens } from "../../answer/non-text.js";
import { BLOCK_KINDS, DELTA_KINDS } from "../events/kinds.js";
import { decodeCallId } from "./call-id.js";
import { decodeProof, decodeRedacted } from "./proof.js";
import { WIRE_NAME } from "../facts.js";

const BLOCKS_MAX = 10_000;

/** What is open at one place of the content. */
interface Block {
  readonly type: string;
  /** As it began; what stands for a conversation is put into it when it comes. */
  start: JsonObject;
  readonly call: ClaudeCall | undefined;
  /** The input so far of what only the wire understands. */
  input: string;
  /** An estimate of a call that began with its input, until that is told. */
  ahead: number;
}

export class BlockReader {
  private readonly open = new Map<unknown, Block>();
  private blocks = 0;
  /** True where anything of the thought that is open was shown. */
  private isThoughtShown = false;
  private readonly calls: ClaudeCalls;

  constructor(private readonly to: CallCollector) {
    this.calls = new ClaudeCalls(to);
  }

  get hasCalls(): boolean {
    return this.calls.hasCalls;
  }

  start(index: unknown, start: JsonObject): void {
    if (++this.blocks > BLOCKS_MAX) throw upstreamFailed("its answer has too many pieces");
    this.stop(index);
    const type = textOf(start["type"]);
    const call =
      type === "tool_use" ? this.calls.begin(textOf(start["name"]), decodeCallId(textOf(start["id"]))) : undefined;
    const ahead = call === undefined ? 0 : inputTokens(start);
    this.open.set(index, { type, start, call, input: "", ahead });
    this.isThoughtShown = false;
    if (ahead > 0) this.to.noteContent(ahead);
    if (type === "text") this.to.tellText(0, textOf(start["text"]));
    else if (type === "thinking") this.thinking(textOf(start["thinking"]), textOf(start["signature"]));
    else if (!BLOCK_KINDS.has(type)) this.to.noteUnknown(start);
    else if (call === undefined) this.to.noteContent(writtenTokens(type, start));
  }

  delta(index: unknown, delta: JsonObject): void {
    const block = this.open.get(index);
    switch (delta["type"]) {
      case "text_delta":
        return this.to.tellText(0, textOf(delta["text"]));
      case "thinking_delta":
        return this.thinking(textOf(delta["thinking"]), "");
      case "signature_delta":
        return this.thinking("", textOf(delta["signature"]));
      case "input_json_delta":
        return this.input(block, textOf(delta["partial_json"]));
      case "citations_delta":
        return this.to.noteContent(jsonTokens(delta["citation"]));
      case "compaction_delta":
        return this.compaction(block, delta);
      default:
        if (!DELTA_KINDS.has(textOf(delta["type"]))) this.to.noteUnknown(delta);
    }
  }

  stop(index: unknown): void {
    const block = this.open.get(index);
    if (block === undefined) return;
    this.open.delete(index);
    const { type, start } = block;
    if (block.call !== undefined) {
      this.takeBack(block);
      block.call.end(objectOf(start["input"]) ?? {});
    } else if (type === "redacted_thinking") {
      const data = decodeRedacted(textOf(start["data"]));
      this.to.tellPart(0, partOf({ $case: "redactedThinking", value: { data } }), 0);
    } else if (type !== "text" && type !== "thinking" && type !== "") this.opaque(block);
  }

  /** One whole block. `inputJson` is its input as the upstream wrote it, with all digits. */
  whole(index: number, block: JsonObject, inputJson: string | undefined): void {
    if (inputJson === undefined || block["type"] !== "tool_use") this.start(index, block);
    else {
      this.start(index, { ...block, input: {} });
      this.delta(index, { type: "input_json_delta", partial_json: inputJson });
    }
    this.stop(index);
  }

  finish(): void {
    for (const index of this.open.keys()) this.stop(index);
  }

  private thinking(text: string, wire: string): void {
    if (text === "" && wire === "") return;
    const proof = decodeProof(wire);
    if (proof.kind === "call") {
      this.calls.state = proof.signature;
      return;
    }
    this.isThoughtShown ||= text !== "";
    if (!this.isThoughtShown) this.to.noteSealed(sealedTokens(wire));
    if (text !== "" || proof.signature !== undefined) this.to.tellThinking(0, text, proof.signature);
  }

  private input(block: Block | undefined, fragment: string): void {
    if (block === undefined) return this.to.addText(fragment);
    this.takeBack(block);
    if (block.call !== undefined) return block.call.push(fragment);
    this.to.addText(fragment);
    if (this.to.isTyped) block.input = kept(block.input, fragment);
  }

  /** The input is told in its pieces, or at its end: until then it was an estimate. */
  private takeBack(block: Block): void {
    if (block.ahead === 0) return;
    this.to.noteContent(-block.ahead);
    block.ahead = 0;
  }

  /** What stands for the conversation comes in one piece. */
  private compaction(block: Block | undefined, delta: JsonObject): void {
    this.to.noteContent(sealedTokens(textOf(delta["encrypted_content"])));
    if (block === undefined) return this.to.addText(textOf(delta["content"]));
    const before = writtenTokens(block.type, block.start);
    block.start = { ...block.start, content: textOf(delta["content"]) };
    this.to.noteContent(writtenTokens(block.type, block.start) - before);
  }

  /** A block that only the wire understands, with the input that came after its beginning. */
  private opaque({ start, input }: Block): void {
    if (!this.to.isTyped) return;
    const json = JSON.stringify(input === "" ? start : { ...start, input: parsed(input) ?? {} });
    this.to.tellPart(0, opaquePart(WIRE_NAME, json), 0);
  }
}

/** Of the input that a call began with: as a rule it begins with none. */
function inputTokens(start: JsonObject): number {
  const input = objectOf(start["input"]);
  return input === undefined || Object.keys(input).length === 0 ? 0 : jsonTokens(input);
}

/** What the model wrote of a block that only the wire understands; what a tool gave back was not generated. */
function writtenTokens(type: string, start: JsonObject): number {
  if (type === "redacted_thinking") return sealedTokens(textOf(start["data"]));
  return BLOCK_KINDS.get(type) === "envelope" ? 0 : jsonTokens(start["input"] ?? start);
}

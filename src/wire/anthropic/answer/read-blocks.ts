/** Reads the blocks of one message, from their events or whole. */
import { upstreamFailed } from "../../error/refusals.js";
import { type CallCollector, type ClaudeCall, ClaudeCalls } from "../../claude/answer/read-calls.js";
import { type JsonObject, objectOf, parsed, textOf } from "../../json/value.js";
import { kept } from "../../answer/kept-text.js";
import { partOf, opaquePart } from "../../request/part.js";
import { jsonTokens, sealedTokens } from "../../answer/wordless.js";
import { decodeCallId } from "./call-id.js";
import { decodeProof } from "./proof.js";
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
    this.open.set(index, { type, start, call, input: "" });
    this.isThoughtShown = false;
    if (type === "text") this.to.tellText(0, textOf(start["text"]));
    else if (type === "thinking") this.thinking(textOf(start["thinking"]), textOf(start["signature"]));
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
      case "compaction_delta":
        // What stands for the conversation comes in one piece.
        if (block !== undefined) block.start = { ...block.start, content: textOf(delta["content"]) };
        return;
      default:
    }
  }

  stop(index: unknown): void {
    const block = this.open.get(index);
    if (block === undefined) return;
    this.open.delete(index);
    const { type, start } = block;
    if (block.call !== undefined) block.call.end(objectOf(start["input"]) ?? {});
    else if (type === "redacted_thinking") {
      const data = textOf(start["data"]);
      this.to.tellPart(0, partOf({ $case: "redactedThinking", value: { data } }), sealedTokens(data));
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
    if (block === undefined) return;
    if (block.call !== undefined) return block.call.push(fragment);
    this.to.addText(fragment);
    if (this.to.isTyped) block.input = kept(block.input, fragment);
  }

  /** A block that only the wire understands, with the input that came after its beginning. */
  private opaque({ type, start, input }: Block): void {
    const tokens = writtenTokens(type, start);
    if (!this.to.isTyped) return this.to.noteContent(tokens);
    const json = JSON.stringify(input === "" ? start : { ...start, input: parsed(input) ?? {} });
    this.to.tellPart(0, opaquePart(WIRE_NAME, json), tokens);
  }
}

/** What the model wrote of a block that only the wire understands; what a tool gave back was not generated. */
function writtenTokens(type: string, start: JsonObject): number {
  return type.endsWith("_tool_result") ? 0 : jsonTokens(start["input"] ?? start);
}

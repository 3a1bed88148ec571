/** Reads the blocks of one message, from their events or whole. */
import type { Event, Part } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { unwrappedText } from "../free-text.js";
import { type JsonObject, objectOf, parsed, textOf } from "../json/value.js";
import type { AskedTools } from "../claude/answer-tool.js";
import { partOf } from "../part.js";
import { decodeProof } from "./signature.js";
import { WIRE_NAME } from "./schema.js";

/** Where a reader puts what it finds. */
export interface Collector {
  /** True where steps are wanted; else only the text counts. */
  readonly isTyped: boolean;
  readonly tools: AskedTools;
  add(event: Event): void;
  addPart(part: Part): void;
  addText(text: string): void;
}

const BLOCKS_MAX = 10_000;

/** What is open at one place of the content. */
interface Block {
  readonly type: string;
  /** As it began. */
  readonly start: JsonObject;
  /** How its input comes out. */
  readonly call: Call | undefined;
  /** The input so far, where it is not told on. */
  input: string;
  hasInput: boolean;
}

/** A call of a tool of the client's. */
interface Call {
  readonly kind: "function" | "custom" | "answer";
  /** Its number among the calls. */
  readonly index: number;
}

export class BlockReader {
  private readonly open = new Map<unknown, Block>();
  private blocks = 0;
  private calls = 0;
  /** State of the call that follows, from the thought before it. */
  private state: string | undefined;

  constructor(private readonly to: Collector) {}

  get hasCalls(): boolean {
    return this.calls > 0;
  }

  start(index: unknown, start: JsonObject): void {
    if (++this.blocks > BLOCKS_MAX)
      throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem: "its answer has too many pieces" });
    this.stop(index);
    const type = textOf(start["type"]);
    const call = type === "tool_use" ? this.startCall(start) : undefined;
    this.open.set(index, { type, start, call, input: "", hasInput: false });
    if (type === "text") this.text(textOf(start["text"]));
    else if (type === "thinking") this.thinking(textOf(start["thinking"]), textOf(start["signature"]));
  }

  delta(index: unknown, delta: JsonObject): void {
    const block = this.open.get(index);
    switch (delta["type"]) {
      case "text_delta":
        return this.text(textOf(delta["text"]));
      case "thinking_delta":
        return this.thinking(textOf(delta["thinking"]), "");
      case "signature_delta":
        return this.thinking("", textOf(delta["signature"]));
      case "input_json_delta":
        if (block !== undefined) this.input(block, textOf(delta["partial_json"]));
        return;
      default:
    }
  }

  stop(index: unknown): void {
    const block = this.open.get(index);
    if (block === undefined) return;
    this.open.delete(index);
    const { type, start } = block;
    if (block.call !== undefined) this.stopCall(block, block.call);
    else if (type === "redacted_thinking")
      this.to.addPart(partOf({ $case: "redactedThinking", value: { data: textOf(start["data"]) } }));
    else if (type !== "text" && type !== "thinking" && type !== "") this.opaque(block);
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

  private text(text: string): void {
    if (text === "") return;
    this.to.addText(text);
    if (this.to.isTyped) this.to.add({ kind: { $case: "text", value: { candidate: 0, text } } });
  }

  private thinking(text: string, wire: string): void {
    if (text === "" && wire === "") return;
    const proof = decodeProof(wire);
    if (proof.kind === "call") {
      this.state = proof.signature;
      return;
    }
    this.to.addText(text);
    if (!this.to.isTyped || (text === "" && proof.signature === undefined)) return;
    const value = { candidate: 0, text, signature: proof.signature };
    this.to.add({ kind: { $case: "thinking", value } });
  }

  private startCall(start: JsonObject): Call {
    const name = textOf(start["name"]);
    const { custom, json } = this.to.tools;
    this.to.addText(name);
    if (name === json) return { kind: "answer", index: 0 };
    const isCustom = custom.has(name);
    const call: Call = { kind: isCustom ? "custom" : "function", index: this.calls++ };
    if (this.to.isTyped) {
      const value = { candidate: 0, index: call.index, id: textOf(start["id"]), name, custom: isCustom };
      this.to.add({ kind: { $case: "toolCallStart", value: { ...value, signature: this.state } } });
    }
    this.state = undefined;
    return call;
  }

  private input(block: Block, fragment: string): void {
    if (fragment === "") return;
    block.hasInput = true;
    const { call } = block;
    if (call === undefined) block.input += fragment;
    else if (call.kind === "answer") this.text(fragment);
    else {
      this.to.addText(fragment);
      if (call.kind === "custom") block.input += fragment;
      else this.arguments(call, fragment);
    }
  }

  /** The end of a call. One whose input came whole with its beginning, or that has none, tells it now. */
  private stopCall(block: Block, call: Call): void {
    if (!block.hasInput) this.input(block, JSON.stringify(objectOf(block.start["input"]) ?? {}));
    if (call.kind !== "custom") return;
    this.arguments(call, unwrappedText(block.input));
  }

  private arguments({ index }: Call, fragment: string): void {
    if (!this.to.isTyped || fragment === "") return;
    this.to.add({ kind: { $case: "toolCallDelta", value: { candidate: 0, index, arguments: fragment } } });
  }

  /** A block that only the wire understands, with the input that came after its beginning. */
  private opaque({ start, input }: Block): void {
    this.to.addText(input);
    if (!this.to.isTyped) return;
    const json = JSON.stringify(input === "" ? start : { ...start, input: parsed(input) ?? {} });
    this.to.addPart(partOf({ $case: "opaque", value: { wire: WIRE_NAME, json } }));
  }
}

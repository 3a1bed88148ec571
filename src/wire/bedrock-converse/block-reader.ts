/** Reads the blocks of one message, from their events or whole. */
import type { Event, Part } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import type { AskedTools } from "../claude/answer-tool.js";
import { unwrappedText } from "../free-text.js";
import { type JsonObject, listOf, objectOf, textOf } from "../json/value.js";

/** Where a reader puts what it finds. */
export interface Collector {
  /** True where steps are wanted; else only the text counts. */
  readonly isTyped: boolean;
  readonly tools: AskedTools;
  add(event: Event): void;
  addText(text: string): void;
}

const BLOCKS_MAX = 10_000;

/** What is open at one place of the content. */
interface Block {
  readonly call: Call | undefined;
  /** Free text for a tool, which is told on when it is whole. */
  input: string;
  hasInput: boolean;
  /** A thought that only the upstream can read. */
  redacted: Buffer[];
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

  constructor(private readonly to: Collector) {}

  get hasCalls(): boolean {
    return this.calls > 0;
  }

  /** A block begins. Only calls say so; text and thoughts begin with their first piece. */
  start(index: unknown, start: JsonObject): void {
    this.stop(index);
    const call = objectOf(start["toolUse"]);
    this.begin(index, call === undefined ? undefined : this.startCall(call));
  }

  delta(index: unknown, delta: JsonObject): void {
    const block = this.open.get(index) ?? this.begin(index, undefined);
    this.text(textOf(delta["text"]));
    const input = objectOf(delta["toolUse"]);
    if (input !== undefined) this.input(block, textOf(input["input"]));
    const thought = objectOf(delta["reasoningContent"]);
    if (thought === undefined) return;
    this.thinking(textOf(thought["text"]), textOf(thought["signature"]));
    const redacted = textOf(thought["redactedContent"]);
    if (redacted !== "") block.redacted.push(Buffer.from(redacted, "base64"));
  }

  stop(index: unknown): void {
    const block = this.open.get(index);
    if (block === undefined) return;
    this.open.delete(index);
    if (block.call !== undefined) this.stopCall(block, block.call);
    if (block.redacted.length > 0) this.redacted(Buffer.concat(block.redacted).toString("base64"));
  }

  /** One whole block. `inputJson` is the input of a call as the upstream wrote it, with all digits. */
  whole(index: number, block: JsonObject, inputJson: string | undefined): void {
    const call = objectOf(block["toolUse"]);
    if (call !== undefined) {
      this.start(index, block);
      this.delta(index, { toolUse: { input: inputJson ?? JSON.stringify(call["input"] ?? {}) } });
      this.stop(index);
      return;
    }
    this.text(textOf(block["text"]));
    for (const cited of listOf(objectOf(block["citationsContent"])?.["content"]))
      this.text(textOf(objectOf(cited)?.["text"]));
    const thought = objectOf(block["reasoningContent"]);
    const told = objectOf(thought?.["reasoningText"]);
    this.thinking(textOf(told?.["text"]), textOf(told?.["signature"]));
    const redacted = textOf(thought?.["redactedContent"]);
    if (redacted !== "") this.redacted(redacted);
  }

  finish(): void {
    for (const index of this.open.keys()) this.stop(index);
  }

  private begin(index: unknown, call: Call | undefined): Block {
    if (++this.blocks > BLOCKS_MAX)
      throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem: "its answer has too many pieces" });
    const block: Block = { call, input: "", hasInput: false, redacted: [] };
    this.open.set(index, block);
    return block;
  }

  private text(text: string): void {
    if (text === "") return;
    this.to.addText(text);
    if (this.to.isTyped) this.to.add({ kind: { $case: "text", value: { candidate: 0, text } } });
  }

  private thinking(text: string, signature: string): void {
    if (text === "" && signature === "") return;
    this.to.addText(text);
    if (!this.to.isTyped) return;
    const value = { candidate: 0, text, signature: signature === "" ? undefined : signature };
    this.to.add({ kind: { $case: "thinking", value } });
  }

  private redacted(data: string): void {
    if (!this.to.isTyped) return;
    const part: Part = { kind: { $case: "redactedThinking", value: { data } }, cacheMark: undefined };
    this.to.add({ kind: { $case: "part", value: { candidate: 0, part } } });
  }

  private startCall(start: JsonObject): Call {
    const name = textOf(start["name"]);
    const { custom, json } = this.to.tools;
    this.to.addText(name);
    if (name === json) return { kind: "answer", index: 0 };
    const isCustom = custom.has(name);
    const call: Call = { kind: isCustom ? "custom" : "function", index: this.calls++ };
    if (this.to.isTyped) {
      const value = { candidate: 0, index: call.index, id: textOf(start["toolUseId"]), name, custom: isCustom };
      this.to.add({ kind: { $case: "toolCallStart", value: { ...value, signature: undefined } } });
    }
    return call;
  }

  private input(block: Block, fragment: string): void {
    const { call } = block;
    if (fragment === "" || call === undefined) return;
    block.hasInput = true;
    if (call.kind === "answer") return this.text(fragment);
    this.to.addText(fragment);
    if (call.kind === "custom") block.input += fragment;
    else this.arguments(call, fragment);
  }

  /** The end of a call. One without any input says so now. */
  private stopCall(block: Block, call: Call): void {
    if (!block.hasInput) this.input(block, "{}");
    if (call.kind === "custom") this.arguments(call, unwrappedText(block.input));
  }

  private arguments({ index }: Call, fragment: string): void {
    if (!this.to.isTyped || fragment === "") return;
    this.to.add({ kind: { $case: "toolCallDelta", value: { candidate: 0, index, arguments: fragment } } });
  }
}

/** Reads the items of a response, from their events or whole. */
import { upstreamFailed } from "../../error/refusals.js";
import type { Collector } from "../../answer/collector.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";
import { TextPrint } from "../../answer/kept-text.js";
import { decodeTokens } from "../../openai/answer/logprobs.js";
import { partOf, opaquePart } from "../../request/part.js";
import { jsonTokens, PICTURE_TOKENS, sealedTokens } from "../../answer/wordless.js";
import type { AskedTools } from "../request/decode-tools.js";
import { WIRE_NAME } from "../facts.js";
import { decodeProof } from "./proof.js";

/** Where a reader puts what it finds. */
export interface ItemCollector extends Collector {
  readonly tools: AskedTools;
  /** The client's own names of tools whose names did not fit. */
  readonly names: ReadonlyMap<string, string>;
  /** An item began: the model generates. */
  begun(): void;
  countCall(name: string): void;
  noteHosted(): void;
}

/** Items that are calls of tools that the upstream runs, by the name that their price has. */
const HOSTED_CALLS: ReadonlyMap<string, string> = new Map([
  ["web_search_call", "web_search"],
  ["file_search_call", "file_search"],
  ["code_interpreter_call", "code_interpreter"],
  ["image_generation_call", "image_generation"],
]);

/** Members of items that the model writes; the rest of an item says how it went, and what a tool gave back. */
const WRITTEN = ["name", "action", "queries", "code", "arguments", "input", "operation"];

const ITEMS_MAX = 10_000;
const PARAGRAPH = "\n\n";

/** One item, as far as it was told. */
interface Item {
  readonly type: string;
  /** Of a call: its number among the calls. */
  readonly call: number;
  /** What of its text, thought or arguments was told. */
  readonly told: TextPrint;
  /** Of a thought: which part of its summary was told last. */
  part: unknown;
  hasEnded: boolean;
}

export class ItemsReader {
  private readonly items = new Map<number, Item>();
  private calls = 0;
  /** State of the call that follows, from the reasoning before it. */
  private state: string | undefined;

  constructor(private readonly to: ItemCollector) {}

  get hasCalls(): boolean {
    return this.calls > 0;
  }

  read(type: string, event: JsonObject): void {
    const place = event["output_index"];
    if (typeof place !== "number") return;
    const item = this.items.get(place);
    switch (type) {
      case "response.output_item.added":
        if (item === undefined) this.open(place, objectOf(event["item"]) ?? {});
        return;
      case "response.output_item.done":
        return this.end(place, objectOf(event["item"]) ?? {});
      case "response.output_text.delta":
        return this.text(item ?? this.openOf(place, "message"), textOf(event["delta"]), event["logprobs"]);
      case "response.refusal.delta":
        return this.refusal(item ?? this.openOf(place, "message"), textOf(event["delta"]));
      case "response.reasoning_summary_text.delta":
        return this.thought(item ?? this.openOf(place, "reasoning"), textOf(event["delta"]), event["summary_index"]);
      case "response.reasoning_text.delta":
        return this.thought(item ?? this.openOf(place, "reasoning"), textOf(event["delta"]), event["content_index"]);
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        if (item !== undefined) this.arguments(item, textOf(event["delta"]));
        return;
      default:
    }
  }

  /** The end of an item, which holds all of it: what was not told before is told now. */
  end(place: number, whole: JsonObject): void {
    const item = this.items.get(place) ?? this.open(place, whole);
    if (item.hasEnded) return;
    item.hasEnded = true;
    const hosted = HOSTED_CALLS.get(item.type);
    if (hosted !== undefined && isCharged(whole)) this.to.countCall(hosted);
    if (hosted !== undefined || item.type === "mcp_call") this.to.noteHosted();
    switch (item.type) {
      case "message":
        if (item.told.length === 0)
          for (const content of listOf(whole["content"])) this.content(item, objectOf(content));
        return;
      case "reasoning":
        return this.endThought(item, whole);
      case "function_call":
      case "custom_tool_call": {
        const text = textOf(whole[item.type === "function_call" ? "arguments" : "input"]);
        if (item.told.begins(text)) this.arguments(item, text.slice(item.told.length));
        return;
      }
      case "image_generation_call":
        if (textOf(whole["result"]) !== "") return this.image(whole);
        return this.opaque(whole);
      default:
        return this.opaque(whole);
    }
  }

  private openOf(place: number, type: string): Item {
    return this.open(place, { type });
  }

  private open(place: number, start: JsonObject): Item {
    if (this.items.size === ITEMS_MAX) throw upstreamFailed("its answer has too many pieces");
    const type = textOf(start["type"]);
    const custom = type === "custom_tool_call";
    const isCall = custom || type === "function_call";
    const item: Item = {
      type,
      call: isCall ? this.calls++ : -1,
      told: new TextPrint(),
      part: undefined,
      hasEnded: false,
    };
    this.items.set(place, item);
    this.to.begun();
    if (isCall) this.startCall(item, start, custom);
    return item;
  }

  private startCall(item: Item, start: JsonObject, custom: boolean): void {
    const told = this.to.tools.flat(textOf(start["namespace"]) || undefined, textOf(start["name"]));
    const name = this.to.names.get(told) ?? told;
    this.to.addText(name);
    const id = textOf(start["call_id"]) || textOf(start["id"]);
    const value = { candidate: 0, index: item.call, id, name, custom, signature: this.state };
    this.state = undefined;
    this.to.add({ kind: { $case: "toolCallStart", value } });
  }

  private arguments(item: Item, fragment: string): void {
    if (fragment === "" || item.call < 0) return;
    item.told.add(fragment);
    this.to.tellArguments(0, item.call, fragment);
  }

  private text(item: Item, text: string, logprobs: unknown): void {
    if (text === "") return;
    item.told.add(text);
    this.to.tellText(0, text);
    const content = this.to.isTyped ? decodeTokens(logprobs) : [];
    if (content.length > 0) this.to.add({ kind: { $case: "logprobs", value: { candidate: 0, content, refusal: [] } } });
  }

  private refusal(item: Item, text: string): void {
    item.told.add(text);
    this.to.tellRefusal(0, text);
  }

  /** One part of a message that came whole. */
  private content(item: Item, content: JsonObject | undefined): void {
    if (content?.["type"] === "refusal") return this.refusal(item, textOf(content["refusal"]));
    const text = textOf(content?.["text"]);
    const annotations = listOf(content?.["annotations"]);
    if (annotations.length === 0) return this.text(item, text, content?.["logprobs"]);
    this.to.addText(text);
    this.to.tellPart(0, partOf({ $case: "text", value: { text, citationsJson: JSON.stringify(annotations) } }), 0);
  }

  /** A thought goes on; each part of it is a paragraph. */
  private thought(item: Item, text: string, part: unknown): void {
    if (text === "") return;
    const isNext = item.told.length > 0 && item.part !== part;
    const told = isNext ? PARAGRAPH + text : text;
    item.part = part;
    item.told.add(told);
    this.to.tellThinking(0, told, undefined);
  }

  private endThought(item: Item, whole: JsonObject): void {
    const sealed = textOf(whole["encrypted_content"]);
    const proof = decodeProof(textOf(whole["id"]), sealed);
    if (proof.kind === "call") {
      this.state = proof.signature;
      return;
    }
    if (proof.kind === "redacted")
      return this.to.tellPart(
        0,
        partOf({ $case: "redactedThinking", value: { data: proof.data } }),
        sealedTokens(proof.data),
      );
    const summary = listOf(whole["summary"]);
    if (item.told.length === 0)
      (summary.length > 0 ? summary : listOf(whole["content"])).forEach((part, index) =>
        this.thought(item, textOf(objectOf(part)?.["text"]), index),
      );
    if (item.told.length === 0) this.to.noteSealed(sealedTokens(sealed));
    if (proof.signature !== undefined) this.to.tellThinking(0, "", proof.signature);
  }

  private image(whole: JsonObject): void {
    const mediaType = `image/${textOf(whole["output_format"]) || "png"}`;
    const value = { mediaType, data: Buffer.from(textOf(whole["result"]), "base64") };
    const source = { $case: "inline" as const, value };
    this.to.tellPart(0, partOf({ $case: "image", value: { source, detail: undefined } }), PICTURE_TOKENS);
  }

  private opaque(whole: JsonObject): void {
    if (textOf(whole["type"]) === "") return;
    const tokens = writtenTokens(whole);
    if (!this.to.isTyped) return this.to.noteContent(tokens);
    this.to.tellPart(0, opaquePart(WIRE_NAME, JSON.stringify(whole)), tokens);
  }
}

/** Opening a page that a search found is told as a call of its own, and is part of that search. */
function isCharged(call: JsonObject): boolean {
  const action = textOf(objectOf(call["action"])?.["type"]);
  return action === "" || action === "search";
}

/** Of a call that the upstream ran, and of what only the wire understands: what stands for a conversation is sealed. */
function writtenTokens(whole: JsonObject): number {
  let tokens = textOf(whole["type"]).startsWith("compaction") ? sealedTokens(textOf(whole["encrypted_content"])) : 0;
  for (const name of WRITTEN) if (whole[name] !== undefined) tokens += jsonTokens(whole[name]);
  return tokens;
}

/** Reads the items of a response, from their events or whole. */
import { upstreamFailed } from "../../error/refusals.js";
import type { CallCounter, Collector } from "../../answer/collector.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";
import { TextPrint } from "../../answer/kept-text.js";
import { decodeTokens } from "../../openai/answer/logprobs.js";
import { partOf, opaquePart } from "../../request/part.js";
import {
  jsonTokens,
  PARTIAL_PICTURE_TOKENS,
  PICTURE_TOKENS,
  sealedTokens,
  unknownTokens,
} from "../../answer/non-text.js";
import { beginsAsContent, EVENT_KINDS, ITEM_KINDS, PART_KINDS, REPEATING_MEMBERS } from "../events/kinds.js";
import type { AskedTools } from "../request/decode-tools.js";
import { WIRE_NAME } from "../facts.js";
import { decodeProof } from "./proof.js";
import { hostedTool, isCharged } from "./read-hosted.js";
import { aheadTokens, writtenTokens } from "./read-written.js";

/** Where a reader puts what it finds. */
export interface ItemCollector extends Collector, CallCounter {
  readonly tools: AskedTools;
  /** The client's own names of tools whose names did not fit. */
  readonly names: ReadonlyMap<string, string>;
  /** An item began: the model generates. */
  begun(): void;
  noteHosted(): void;
}

const TEXT_DELTA = "response.output_text.delta";
const ITEMS_MAX = 10_000;
const PARAGRAPH = "\n\n";
/** Where what is told of no item counts. */
const NO_PLACE = -1;

/** One item, as far as it was told. */
interface Item {
  readonly type: string;
  /** Of a call: its number among the calls. */
  readonly call: number;
  /** How much of its text, thought or arguments was told. */
  length: number;
  /** Which part of it was told last, and what of that. */
  part: unknown;
  print: TextPrint;
  /** What was told of its parts, where it has several. */
  prints: Map<unknown, TextPrint> | undefined;
  /** An estimate of what it began with, until that is told. */
  ahead: number;
  /** The tool that it counts as a call of, from its beginning on: one that never ends was made, too. */
  tool: string | undefined;
  /** Of an item that no table knows: how much of it counted when it began. */
  readonly unknownLength: number;
  hasEnded: boolean;
}

export class ItemsReader {
  private readonly items = new Map<number, Item>();
  private calls = 0;
  /** State of the call that follows, from the reasoning before it. */
  private state: string | undefined;
  /** Characters that counted and that no step tells, such as the code of a hosted tool, by the place of their item. */
  private readonly untold = new Map<number, number>();
  private hasAnnotations = false;

  constructor(private readonly to: ItemCollector) {}

  get hasCalls(): boolean {
    return this.calls > 0;
  }

  /** Reads an event of an item. What no table knows counts by its bytes. */
  read(type: string, event: JsonObject): void {
    const told = event["output_index"];
    const place = typeof told === "number" ? told : NO_PLACE;
    // Nearly all events are.
    if (type === TEXT_DELTA) return this.delta(type, place, event);
    switch (EVENT_KINDS.get(type)) {
      case "text":
        return this.delta(type, place, event);
      case "repeats":
        return this.repeat(type, place, event);
      case "sound":
        return this.to.noteSound(textOf(event["delta"]));
      case "picture":
        this.atWork(type, place);
        return this.to.noteContent(PARTIAL_PICTURE_TOKENS);
      case "other":
        this.hasAnnotations = true;
        return this.to.noteContent(jsonTokens(event["annotation"]));
      case "envelope":
        return this.atWork(type, place);
      case undefined:
        return this.to.noteUnknown(event);
      default:
    }
  }

  /** What tells how a call goes tells that there is one, where its item was not told. */
  private atWork(type: string, place: number): void {
    const name = type.split(".")[1] ?? "";
    if (place !== NO_PLACE && beginsAsContent(name) && !this.items.has(place)) this.openOf(place, name);
  }

  private delta(type: string, place: number, event: JsonObject): void {
    const text = textOf(event["delta"]);
    if (place === NO_PLACE) return this.untoldText(place, text);
    const item = this.items.get(place);
    switch (type) {
      case TEXT_DELTA:
        return this.text(item ?? this.openOf(place, "message"), text, event["logprobs"], partOfText(event));
      case "response.refusal.delta":
        return this.refusal(item ?? this.openOf(place, "message"), text, partOfText(event));
      case "response.reasoning_summary_text.delta":
        return this.thought(item ?? this.openOf(place, "reasoning"), text, event["summary_index"] ?? 0);
      case "response.reasoning_text.delta":
        return this.thought(item ?? this.openOf(place, "reasoning"), text, partOfThought(event));
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return item === undefined ? this.untoldText(place, text) : this.arguments(item, text);
      default:
        return this.untoldText(place, text);
    }
  }

  /** What was told before is told once more, as a rule; what was not is told now. */
  private repeat(type: string, place: number, event: JsonObject): void {
    const whole = objectOf(event["item"]);
    if (whole !== undefined && place !== NO_PLACE) {
      if (type === "response.output_item.done") this.end(place, whole);
      else if (!this.items.has(place)) this.open(place, whole);
      return;
    }
    const part = objectOf(event["part"]) ?? event;
    const name = REPEATING_MEMBERS.find((member) => typeof part[member] === "string");
    if (name === undefined) {
      if (part !== event && !PART_KINDS.has(textOf(part["type"]))) this.to.noteUnknown(part);
      return;
    }
    const text = textOf(part[name]);
    if (text === "") return;
    const known = this.items.get(place);
    if (place === NO_PLACE) return this.untoldWhole(place, text);
    if (type.startsWith("response.reasoning_summary"))
      return this.thoughtPart(known ?? this.openOf(place, "reasoning"), text, event["summary_index"] ?? 0);
    if (type.startsWith("response.reasoning_text") || part["type"] === "reasoning_text")
      return this.thoughtPart(known ?? this.openOf(place, "reasoning"), text, partOfThought(event));
    if (name === "text" || name === "refusal") {
      const item = known ?? this.openOf(place, "message");
      return this.messagePart(item, text, name === "refusal", event["logprobs"], partOfText(event));
    }
    if (known === undefined || known.call < 0) return this.untoldWhole(place, text);
    this.arguments(known, this.rest(known, undefined, text));
  }

  /** The end of an item, which holds all of it: what was not told before is told now. */
  end(place: number, whole: JsonObject): void {
    const item = this.items.get(place) ?? this.open(place, whole);
    if (item.hasEnded) return;
    item.hasEnded = true;
    this.takeBack(item);
    this.countCall(item, whole);
    if (hostedTool(item.type, whole, this.to) !== undefined) this.to.noteHosted();
    switch (item.type) {
      case "message":
        return listOf(whole["content"]).forEach((content, part) => this.content(item, objectOf(content) ?? {}, part));
      case "reasoning":
        return this.endThought(item, whole);
      case "function_call":
      case "custom_tool_call": {
        const text = textOf(whole[item.type === "function_call" ? "arguments" : "input"]);
        return this.arguments(item, this.rest(item, undefined, text));
      }
      case "image_generation_call":
        if (textOf(whole["result"]) !== "") return this.image(whole);
        return this.opaque(item, place, whole);
      default:
        return this.opaque(item, place, whole);
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
    const isUnknown = !ITEM_KINDS.has(type);
    const item: Item = {
      type,
      call: isCall ? this.calls++ : -1,
      length: 0,
      part: undefined,
      print: new TextPrint(),
      prints: undefined,
      ahead: isUnknown ? 0 : aheadTokens(start),
      tool: undefined,
      unknownLength: isUnknown ? JSON.stringify(start).length : 0,
      hasEnded: false,
    };
    this.items.set(place, item);
    this.to.begun();
    // What runs is shown, however little of it was written.
    if (item.ahead > 0 || beginsAsContent(type)) this.to.noteContent(item.ahead);
    if (isUnknown) this.to.noteUnknown(start);
    this.countCall(item, start);
    if (isCall) this.startCall(item, start, custom);
    return item;
  }

  /** A call counts as soon as it is known, and no longer once it turns out to be part of another. */
  private countCall(item: Item, told: JsonObject): void {
    const tool = isCharged(told) ? hostedTool(item.type, told, this.to) : undefined;
    if (tool === item.tool) return;
    if (item.tool !== undefined) this.to.takeBackCall(item.tool);
    if (tool !== undefined) this.to.countCall(tool);
    item.tool = tool;
  }

  /** It is told now: until here what the item began with was an estimate. */
  private takeBack(item: Item): void {
    if (item.ahead === 0) return;
    this.to.noteContent(-item.ahead);
    item.ahead = 0;
  }

  /** Text that counts and that no step tells. */
  private untoldText(place: number, text: string): void {
    const item = this.items.get(place);
    if (item !== undefined) this.takeBack(item);
    this.untold.set(place, (this.untold.get(place) ?? 0) + text.length);
    if (this.untold.size > ITEMS_MAX) throw upstreamFailed("its answer has too many pieces");
    this.to.addText(text);
  }

  private untoldWhole(place: number, text: string): void {
    this.untoldText(place, text.slice(this.untold.get(place) ?? 0));
  }

  /** What a part says beyond what was told of it. A text that goes on otherwise counts, and is told to nobody. */
  private rest(item: Item, part: unknown, text: string): string {
    this.enter(item, part);
    const { print } = item;
    if (text.length <= print.length) return "";
    if (print.begins(text)) return text.slice(print.length);
    this.to.addText(text.slice(print.length));
    return "";
  }

  private enter(item: Item, part: unknown): void {
    if (item.part === part) return;
    if (item.print.length > 0) {
      item.prints ??= new Map();
      item.prints.set(item.part, item.print);
      if (item.prints.size > ITEMS_MAX) throw upstreamFailed("its answer has too many pieces");
      item.print = new TextPrint();
    }
    item.part = part;
    item.print = item.prints?.get(part) ?? item.print;
  }

  /** Notes that a text of a part is told. */
  private goOn(item: Item, part: unknown, text: string): void {
    if (item.ahead !== 0) this.takeBack(item);
    if (item.part !== part) this.enter(item, part);
    item.print.add(text);
    item.length += text.length;
  }

  private startCall(item: Item, start: JsonObject, custom: boolean): void {
    const told = this.to.tools.flat(textOf(start["namespace"]) || undefined, textOf(start["name"]));
    const name = this.to.names.get(told) ?? told;
    this.to.addText(name);
    const id = textOf(start["call_id"]) || textOf(start["id"]);
    this.to.tellCall({ candidate: 0, index: item.call, id, name, custom, signature: this.state });
    this.state = undefined;
  }

  private arguments(item: Item, fragment: string): void {
    if (fragment === "") return;
    if (item.call < 0) return this.to.addText(fragment);
    this.goOn(item, undefined, fragment);
    this.to.tellArguments(0, item.call, fragment);
  }

  private text(item: Item, text: string, logprobs: unknown, part: unknown): void {
    if (text === "") return;
    this.goOn(item, part, text);
    this.to.tellText(0, text);
    const content = this.to.isTyped ? decodeTokens(logprobs) : [];
    if (content.length > 0) this.to.add({ kind: { $case: "logprobs", value: { candidate: 0, content, refusal: [] } } });
  }

  private refusal(item: Item, text: string, part: unknown): void {
    this.goOn(item, part, text);
    this.to.tellRefusal(0, text);
  }

  private messagePart(item: Item, text: string, isRefusal: boolean, logprobs: unknown, part: unknown): void {
    const rest = this.rest(item, part, text);
    if (isRefusal) this.refusal(item, rest, part);
    else this.text(item, rest, rest === text ? logprobs : undefined, part);
  }

  /** One part of a message that came whole. */
  private content(item: Item, content: JsonObject, part: number): void {
    const { type } = content;
    if (!PART_KINDS.has(textOf(type))) return this.to.noteUnknown(content);
    if (type === "output_audio") this.to.noteSound(textOf(content["data"]));
    const isRefusal = type === "refusal";
    const text = textOf(isRefusal ? content["refusal"] : (content["text"] ?? content["transcript"]));
    const annotations = listOf(content["annotations"]);
    if (annotations.length > 0 && !this.hasAnnotations) this.to.noteContent(jsonTokens(annotations));
    if (item.length > 0 || annotations.length === 0)
      return this.messagePart(item, text, isRefusal, content["logprobs"], part);
    this.to.addText(text);
    this.to.tellPart(0, partOf({ $case: "text", value: { text, citationsJson: JSON.stringify(annotations) } }), 0);
  }

  /** A thought goes on; each part of it is a paragraph. */
  private thought(item: Item, text: string, part: unknown): void {
    if (text === "") return;
    const isNext = item.length > 0 && item.part !== part;
    this.goOn(item, part, text);
    this.to.tellThinking(0, isNext ? PARAGRAPH + text : text, undefined);
  }

  private thoughtPart(item: Item, text: string, part: unknown): void {
    const last = item.part;
    const rest = this.rest(item, part, text);
    item.part = last;
    this.thought(item, rest, part);
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
    const content = listOf(whole["content"]);
    summary.forEach((part, index) => this.thoughtPart(item, textOf(objectOf(part)?.["text"]), index));
    // What the thought is the summary of is told where there is no summary, and counts in any case.
    content.forEach((part, index) => {
      const text = textOf(objectOf(part)?.["text"]);
      if (summary.length === 0) this.thoughtPart(item, text, thoughtPlace(index));
      else this.to.addText(this.rest(item, thoughtPlace(index), text));
    });
    if (item.length === 0) this.to.noteSealed(sealedTokens(sealed));
    if (proof.signature !== undefined) this.to.tellThinking(0, "", proof.signature);
  }

  private image(whole: JsonObject): void {
    const mediaType = `image/${textOf(whole["output_format"]) || "png"}`;
    const value = { mediaType, data: Buffer.from(textOf(whole["result"]), "base64") };
    const source = { $case: "inline" as const, value };
    this.to.tellPart(0, partOf({ $case: "image", value: { source, detail: undefined } }), PICTURE_TOKENS);
  }

  private opaque(item: Item, place: number, whole: JsonObject): void {
    if (textOf(whole["type"]) === "") return;
    const isKnown = ITEM_KINDS.has(item.type);
    if (!isKnown) this.to.noteUnknown(JSON.stringify(whole).slice(item.unknownLength));
    const tokens = isKnown ? Math.max(0, writtenTokens(whole) - unknownTokens(this.untold.get(place) ?? 0)) : 0;
    if (!this.to.isTyped) return this.to.noteContent(tokens);
    this.to.tellPart(0, opaquePart(WIRE_NAME, JSON.stringify(whole)), tokens);
  }
}

/** The part of a message that an event is about. */
function partOfText({ content_index: index }: JsonObject): unknown {
  return index ?? 0;
}

/** The part of the thought itself, which has summaries with numbers of their own. */
function partOfThought({ content_index: index }: JsonObject): unknown {
  return typeof index === "number" ? thoughtPlace(index) : thoughtPlace(0);
}

function thoughtPlace(index: number): number {
  return -1 - index;
}

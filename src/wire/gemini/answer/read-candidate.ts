/** Reads one candidate of an answer, chunk by chunk or whole. */
import { createHash } from "node:crypto";
import type { Part } from "../../../api/index.js";
import { upstreamFailed } from "../../error/refusals.js";
import type { Collector } from "../../answer/collector.js";
import { unwrappedText } from "../../request/free-text.js";
import { type JsonObject, objectOf, textOf } from "../../json/value.js";
import { partOf, opaquePart } from "../../request/part.js";
import { jsonTokens, PICTURE_TOKENS, sealedTokens } from "../../answer/non-text.js";
import { PART_KINDS } from "../events/kinds.js";
import { decodeFinish } from "./finish.js";
import { decodeLogprobs } from "./logprobs.js";
import { type ArgumentSource, PartialArguments } from "./read-arguments.js";
import { WIRE_NAME } from "../facts.js";
import { decodeProof } from "./proof.js";

/** Where a reader puts what it finds. */
export interface CandidateCollector extends Collector, ArgumentSource {
  /** What made-up ids of calls are told apart by. */
  readonly answerId: string;
  /** The client's tools that take free text, which the wire knows only inside an object. */
  readonly freeTextTools: ReadonlySet<string>;
  /** The client's own names of tools, by the names that the upstream knows them by, where they differ. */
  readonly names: ReadonlyMap<string, string>;
  /** Google runs a tool. */
  noteToolCall(call: JsonObject): void;
}

const CALLS_MAX = 1024;

/** A call whose arguments still come. */
interface OpenCall {
  readonly call: JsonObject;
  readonly signature: string | undefined;
  /** Its arguments as JSON, where they came with its name. */
  readonly whole: string | undefined;
  readonly args: PartialArguments;
  /** How much of the arguments counted as it came. */
  countedLength: number;
}

export class CandidateReader {
  /** Why the upstream said that it ended; empty until it did. */
  private reason = "";
  private calls = 0;
  private hasEnded = false;
  private isThoughtShown = false;
  private openCall: OpenCall | undefined;

  constructor(
    private readonly index: number,
    private readonly collector: CandidateCollector,
  ) {}

  get isFinished(): boolean {
    return this.reason !== "";
  }

  read(candidate: JsonObject): void {
    const { parts } = objectOf(candidate["content"]) ?? {};
    for (const item of Array.isArray(parts) ? parts : [parts]) {
      const part = objectOf(item);
      if (part !== undefined) this.readPart(part);
    }
    if (this.collector.isTyped) {
      const logprobs = decodeLogprobs(candidate["logprobsResult"], this.index);
      if (logprobs !== undefined) this.collector.add({ kind: { $case: "logprobs", value: logprobs } });
    }
    const reason = textOf(candidate["finishReason"]);
    // Older models say STOP with every chunk; the last word counts.
    if (reason !== "" && reason !== "FINISH_REASON_UNSPECIFIED") this.reason = reason;
  }

  /** Nothing follows. `isWhole` tells that the answer is, even where no reason was given. */
  finish(isWhole: boolean): void {
    this.closeCall();
    if (!this.collector.isTyped || this.hasEnded || !(this.isFinished || isWhole)) return;
    this.hasEnded = true;
    this.collector.tellEnd(this.index, decodeFinish(this.reason, this.calls > 0), undefined);
  }

  private readPart(part: JsonObject): void {
    const signature = textOf(part["thoughtSignature"]) || undefined;
    if (part["thought"] === true) this.isThoughtShown = true;
    else if (signature !== undefined && !this.isThoughtShown) this.collector.noteSealed(sealedTokens(signature));
    this.collector.noteUnknownIn(part, PART_KINDS);
    const call = objectOf(part["functionCall"]);
    if (call !== undefined) return this.readCall(call, signature);
    const { text } = part;
    if (typeof text === "string" && part["thought"] === true) return this.addThought(text, signature);
    if (typeof text === "string") this.collector.tellText(this.index, text);
    else if (!this.readMedia(part)) this.addOpaque(part);
    // Of what is no call and no thought, the proof stands alone behind it.
    if (signature !== undefined) this.addThought("", signature);
  }

  /** A call mostly comes whole. In pieces its first has the name, and its last does not say that more will come. */
  private readCall(call: JsonObject, signature: string | undefined): void {
    const name = textOf(call["name"]);
    const mayGoOn = this.openCall !== undefined && (name === "" || name === textOf(this.openCall.call["name"]));
    const continuesCall = mayGoOn && call["args"] === undefined && textOf(call["id"] ?? "") === "";
    if (!continuesCall) this.closeCall();
    if (name === "" && !continuesCall) return this.collector.noteUnknown(call);
    if (this.openCall === undefined) this.collector.addText(name);
    const args = objectOf(call["args"]);
    const whole = args && this.collector.exact.textOf(args);
    this.openCall ??= { call, signature, whole, args: new PartialArguments(this.collector), countedLength: 0 };
    const said = whole ?? this.openCall.args.read(call["partialArgs"]);
    this.collector.addText(said);
    this.openCall.countedLength += said.length;
    if (call["willContinue"] !== true) this.closeCall();
  }

  private closeCall(): void {
    const open = this.openCall;
    if (open === undefined) return;
    this.openCall = undefined;
    const { call, signature, countedLength } = open;
    const text = open.whole ?? open.args.json();
    const told = textOf(call["name"]);
    const name = this.collector.names.get(told) ?? told;
    const index = this.calls++;
    if (index === CALLS_MAX) throw upstreamFailed("it called too many tools");
    // What stands around the values that came in pieces.
    this.collector.addText(text.slice(countedLength));
    if (!this.collector.isTyped) return;
    const id = textOf(call["id"]) || this.madeId(index);
    const candidate = this.index;
    const custom = this.collector.freeTextTools.has(name);
    this.collector.tellCall({ candidate, index, id, name, custom, signature });
    const delta = { candidate, index, arguments: custom ? unwrappedText(text) : text };
    this.collector.add({ kind: { $case: "toolCallDelta", value: delta } });
  }

  /** An id for a call that came without one: of the answer and the call, so that two calls of a tool never share it. */
  private madeId(index: number): string {
    const hash = createHash("sha256").update(`${this.collector.answerId} ${this.index} ${index}`).digest("hex");
    return `call_${hash.slice(0, 24)}`;
  }

  private addThought(text: string, wireSignature: string | undefined): void {
    if (text === "" && wireSignature === undefined) return;
    if (!this.collector.isTyped) return this.collector.tellThinking(this.index, text, undefined);
    const proof = wireSignature === undefined ? undefined : decodeProof(wireSignature);
    if (proof?.kind !== "redacted") return this.collector.tellThinking(this.index, text, proof?.signature);
    this.collector.addText(text);
    this.addPart(partOf({ $case: "redactedThinking", value: { data: proof.data } }));
  }

  /** Pictures, sounds and files that the model made. */
  private readMedia(part: JsonObject): boolean {
    const data = objectOf(part["inlineData"]);
    if (data === undefined) return false;
    const mediaType = textOf(data["mimeType"]);
    const base64 = textOf(data["data"]);
    if (mediaType.startsWith("audio/")) this.collector.noteSound(base64);
    // A file is as a rule text.
    else this.collector.noteContent(mediaType.startsWith("image/") ? PICTURE_TOKENS : sealedTokens(base64));
    if (!this.collector.isTyped) return true;
    const inline = { mediaType, data: Buffer.from(base64, "base64") };
    const source = { $case: "inline" as const, value: inline };
    if (mediaType.startsWith("audio/"))
      this.addPart(partOf({ $case: "audio", value: { source, transcript: undefined } }));
    else if (mediaType.startsWith("image/"))
      this.addPart(partOf({ $case: "image", value: { source, detail: undefined } }));
    else this.addPart(partOf({ $case: "file", value: { source, filename: undefined } }));
    return true;
  }

  /** What only this wire understands, such as code that Google's servers ran. */
  private addOpaque(part: JsonObject): void {
    if (Object.keys(part).every((key) => key === "thoughtSignature" || key === "thought")) return;
    const json = this.collector.exact.textOf(part);
    // What a server's program printed was not generated.
    if (part["executableCode"] !== undefined) this.collector.addText(JSON.stringify(part["executableCode"]));
    else this.collector.noteContent(jsonTokens(part["toolCall"]));
    const toolCall = objectOf(part["toolCall"]);
    if (toolCall !== undefined) this.collector.noteToolCall(toolCall);
    if (this.collector.isTyped) this.addPart(opaquePart(WIRE_NAME, json));
  }

  private addPart(part: Part): void {
    this.collector.tellPart(this.index, part, 0);
  }
}

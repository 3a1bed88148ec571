/** Reads one candidate of an answer, from its deltas or its whole message. */
import { FinishReason, type Part } from "../../../api/index.js";
import type { GatewayError } from "../../../base/errors.js";
import { endingOf, failedEnd } from "../../answer/finish-words.js";
import type { CallCounter, Collector } from "../../answer/collector.js";
import { type JsonObject, listOf, objectOf, placeOf, textOf } from "../../json/value.js";
import { decodeLogprobs } from "../../openai/answer/logprobs.js";
import { namesOf } from "../../openai/answer/told-tools.js";
import { partOf, opaquePart } from "../../request/part.js";
import { jsonTokens, PICTURE_TOKENS } from "../../answer/non-text.js";
import { DELTA_KINDS } from "../events/kinds.js";
import { AnswerAudio } from "./read-audio.js";
import { CallsReader } from "./read-calls.js";
import { thoughtText } from "./read-content.js";
import { ThoughtsReader } from "./read-thoughts.js";
import { newWords, saysMore } from "../../openai/answer/read-said.js";
import { executedTool } from "./read-tools.js";
import { WIRE_NAME } from "../facts.js";

/** Where a reader puts what it finds. */
export interface CandidateCollector extends Collector, CallCounter {
  /** The client's own names of tools, by the names that the upstream knows them by, where they differ. */
  readonly names: ReadonlyMap<string, string>;
}

const EXECUTED_MAX = 1_000;

export class CandidateReader {
  /** True once the upstream said why it ended. */
  isFinished = false;
  private reason = FinishReason.FINISH_REASON_UNSPECIFIED;
  private stopString: string | undefined;
  private hasEnded = false;
  /** True once a delta or a message said more than who speaks. */
  private hasSaid = false;
  private readonly thoughts: ThoughtsReader;
  private readonly calls: CallsReader;
  private audio: AnswerAudio | undefined;
  /** The numbers of the tools that its upstream ran. */
  private executed: Set<number> | undefined;

  constructor(
    readonly index: number,
    answerId: string,
    private readonly collector: CandidateCollector,
  ) {
    this.thoughts = new ThoughtsReader(index, collector);
    this.calls = new CallsReader(index, answerId, collector);
  }

  /** Reads one choice. Returns the failure that it tells. */
  read(choice: JsonObject): GatewayError | undefined {
    const delta = newWords(choice, this.hasSaid);
    const isSnapshot = this.hasSaid && choice["message"] !== undefined;
    if (delta !== undefined) this.readDelta(delta);
    // What is told twice is told once by the delta.
    const { text } = choice;
    if (typeof text === "string" && !isSnapshot) this.collector.addText(text.slice(textOf(delta?.["content"]).length));
    if (this.collector.isTyped) this.readLogprobs(choice["logprobs"]);
    const reason = choice["finish_reason"];
    if (typeof reason !== "string" || reason === "") return undefined;
    const ending = endingOf(reason, FinishReason.FINISH_REASON_END);
    // A client of this wire has no word for a malformed answer either.
    if (ending === "failed" || ending === FinishReason.FINISH_REASON_MALFORMED) return failedEnd(reason);
    this.isFinished = true;
    this.reason = ending;
    // Of vLLM: the stop string that occurred, or the id of a stop token.
    const stopReason = choice["stop_reason"];
    if (typeof stopReason === "string" && stopReason !== "") this.stopString = stopReason;
    return undefined;
  }

  /** Nothing follows. Ends are held back until here: some servers say that they stop with every chunk. */
  finish(isDone: boolean): void {
    const audio = this.audio?.part();
    if (audio !== undefined) this.addPart(audio, 0);
    this.audio = undefined;
    if (this.hasEnded || (!this.isFinished && !isDone)) return;
    this.hasEnded = true;
    this.thoughts.close();
    this.collector.tellEnd(this.index, this.trueReason(), this.stopString);
  }

  /** True where it called a tool. */
  get hasCalls(): boolean {
    return this.calls.hasCalls;
  }

  /** The reason that fits what came: servers mix up stops and calls, and some tell none. */
  private trueReason(): FinishReason {
    const reason = this.isFinished ? this.reason : FinishReason.FINISH_REASON_END;
    const isStopString = reason === FinishReason.FINISH_REASON_STOP_STRING;
    const isStop = reason === FinishReason.FINISH_REASON_END || isStopString;
    const isCalls = reason === FinishReason.FINISH_REASON_TOOL_CALLS;
    if (isStop && this.calls.hasCalls) return FinishReason.FINISH_REASON_TOOL_CALLS;
    if (isCalls && !this.calls.hasCalls) return FinishReason.FINISH_REASON_END;
    return isStop && this.stopString !== undefined ? FinishReason.FINISH_REASON_STOP_STRING : reason;
  }

  private readDelta(delta: JsonObject): void {
    const { content } = delta;
    if (typeof content === "string" && saysTextAlone(delta)) {
      this.hasSaid ||= content !== "";
      return this.addText(content);
    }
    this.hasSaid ||= saysMore(delta);
    this.collector.noteUnknownIn(delta, DELTA_KINDS);
    this.thoughts.read(delta);
    if (typeof content === "string") this.readText(content, delta["annotations"]);
    else if (Array.isArray(content)) for (const piece of content) this.readPiece(piece);
    else this.collector.noteUnknown(content);
    const { refusal } = delta;
    if (typeof refusal === "string") this.addRefusal(refusal);
    const calls = listOf(delta["tool_calls"]);
    const call = objectOf(delta["function_call"]);
    if (calls.length > 0 || call !== undefined) this.thoughts.close();
    if (calls.length > 0) this.calls.readList(calls);
    if (call !== undefined) this.calls.readFunctionCall(call);
    const audio = objectOf(delta["audio"]);
    if (audio !== undefined) {
      this.audio ??= new AnswerAudio(this.collector.isTyped);
      this.collector.noteSound(textOf(audio["data"]));
      this.collector.addText(this.audio.read(audio));
    }
    const { images } = delta;
    if (Array.isArray(images)) for (const image of images) this.readPiece(image);
    for (const other of [delta["annotations"], delta["executed_tools"]])
      if (Array.isArray(other) && other.length > 0) this.collector.noteContent(jsonTokens(other));
    listOf(delta["executed_tools"]).forEach((executed, place) => this.readExecuted(objectOf(executed) ?? {}, place));
  }

  /** A tool is told as it starts, and once more with what it gave back. */
  private readExecuted(executed: JsonObject, place: number): void {
    const index = placeOf(executed["index"], EXECUTED_MAX) ?? Math.min(place, EXECUTED_MAX);
    const name = executedTool(executed);
    if (name === undefined || this.executed?.has(index) === true) return;
    (this.executed ??= new Set()).add(index);
    this.collector.countCall(this.collector.askedTool(...namesOf(name)) ?? name);
  }

  private readText(text: string, annotations: unknown): void {
    if (Array.isArray(annotations) && annotations.length > 0) {
      // Citations have a place in a part alone, so the text that has them comes as one.
      this.collector.addText(text);
      this.addPart(partOf({ $case: "text", value: { text, citationsJson: JSON.stringify(annotations) } }), 0);
    } else this.addText(text);
  }

  /** One piece of a content that is a list, as Mistral's. */
  private readPiece(value: unknown): void {
    const piece = objectOf(value);
    if (piece === undefined) return;
    const type = textOf(piece["type"]);
    if (type === "text" || type === "output_text") this.addText(textOf(piece["text"]));
    else if (type === "refusal") this.addRefusal(textOf(piece["refusal"]));
    else if (type === "thinking") {
      this.thoughts.add(thoughtText(piece["thinking"]), textOf(piece["signature"]) || undefined);
    } else if (type === "image_url") {
      const url = textOf(objectOf(piece["image_url"])?.["url"]) || textOf(piece["image_url"]);
      this.addPart(partOf({ $case: "image", value: { source: imageSource(url), detail: undefined } }), PICTURE_TOKENS);
    } else {
      const part = opaquePart(WIRE_NAME, JSON.stringify(piece));
      this.addPart(part, jsonTokens(piece));
    }
  }

  private readLogprobs(value: unknown): void {
    const logprobs = decodeLogprobs(value, this.index);
    if (logprobs !== undefined) this.collector.add({ kind: { $case: "logprobs", value: logprobs } });
  }

  addText(text: string): void {
    if (text !== "") this.thoughts.close();
    this.collector.tellText(this.index, text);
  }

  private addRefusal(text: string): void {
    if (text !== "") this.thoughts.close();
    this.collector.tellRefusal(this.index, text);
  }

  private addPart(part: Part, tokens: number): void {
    this.thoughts.close();
    this.collector.tellPart(this.index, part, tokens);
  }
}

/** True of nearly all deltas. */
function saysTextAlone(delta: JsonObject): boolean {
  for (const name in delta) if (name !== "content" && name !== "role" && delta[name] !== null) return false;
  return true;
}

type ImageSource = { $case: "url"; value: string } | { $case: "inline"; value: { mediaType: string; data: Buffer } };

function imageSource(url: string): ImageSource {
  const match = /^data:([^,]*);base64,/.exec(url);
  if (match === null) return { $case: "url", value: url };
  const data = Buffer.from(url.slice(match[0].length), "base64");
  return { $case: "inline", value: { mediaType: match[1] ?? "", data } };
}

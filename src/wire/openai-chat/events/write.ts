/** From typed steps to the events of a client. */
import { FinishReason, type LogprobsDelta, type Part } from "../../../api/index.js";
import type { StreamEncoder } from "../../events/writer.js";
import type { RequestFacts } from "../../wire.js";
import { type CandidateKind, ChunkStreamEncoder } from "../../openai/events/write-chunks.js";
import type { JsonObject } from "../../json/value.js";
import { partOf } from "../../request/part.js";
import { encodeLogprobs } from "../../openai/answer/logprobs.js";
import { addDetail, encodeDeltaPart } from "../answer/write-parts.js";
import { malformedAnswer } from "../../answer/finish-words.js";
import { finishName } from "../answer/finish.js";

export function encodeStream(request: RequestFacts): StreamEncoder {
  return new ChatStreamEncoder(request);
}

/** A call as it was told. */
interface ToldCall {
  /** Its number on the wire: dense, in order of appearance. */
  readonly index: number;
  readonly custom: boolean;
}

/** What a candidate thought. */
interface Thoughts {
  /** The thoughts that have a proof, or that only their upstream can read. */
  readonly proven: JsonObject[];
  /** How many of them the client was told. */
  toldCount: number;
  /** The text of the one that goes on. */
  open: string;
}

export class ChatStreamEncoder extends ChunkStreamEncoder {
  /** What was told of each candidate: its calls, by their number in the steps. */
  private readonly told = new Map<number, Map<number, ToldCall>>();
  private readonly thinkers = new Map<number, Thoughts>();

  /** True where a call is told as `function_call`, which is one. */
  private readonly isOlder: boolean;

  constructor(request: RequestFacts) {
    super("chat.completion.chunk", request);
    this.isOlder = request.asksFunctions === true;
  }

  protected override encode(kind: CandidateKind, logprobs?: LogprobsDelta): void {
    // Thoughts stand before what they led to.
    if (kind.$case === "text" || kind.$case === "refusal" || kind.$case === "toolCallStart")
      this.tellThoughts(kind.value.candidate);
    switch (kind.$case) {
      case "text":
        return this.delta(kind.value.candidate, `"content":${JSON.stringify(kind.value.text)}`, logprobs);
      case "thinking":
        return this.thinking(kind.value.candidate, kind.value.text, kind.value.signature);
      case "refusal":
        return this.delta(kind.value.candidate, `"refusal":${JSON.stringify(kind.value.text)}`, logprobs);
      case "toolCallStart": {
        const { candidate, index, id, name, custom, signature } = kind.value;
        this.role(candidate, true);
        const calls = this.told.get(candidate);
        const place = calls?.size ?? 0;
        calls?.set(index, { index: place, custom });
        if (this.isOlder) return this.functionCall(candidate, place, { name, arguments: "" });
        const called = custom ? { name, input: "" } : { name, arguments: "" };
        const type = custom ? "custom" : "function";
        const state = signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
        const call = { index: place, id, type, [type]: called, ...state };
        return this.delta(candidate, `"tool_calls":[${JSON.stringify(call)}]`);
      }
      case "toolCallDelta":
        return this.argumentsDelta(kind.value.candidate, kind.value.index, kind.value.arguments);
      case "logprobs":
        return this.delta(kind.value.candidate, "", kind.value);
      case "part":
        return this.part(kind.value.candidate, kind.value.part);
      case "candidateEnd": {
        const { candidate, reason, stopString } = kind.value;
        const stop = stopString === undefined ? "" : `,"stop_reason":${JSON.stringify(stopString)}`;
        this.role(candidate, false);
        this.tellThoughts(candidate);
        if (reason === FinishReason.FINISH_REASON_MALFORMED) return this.tellFailure(malformedAnswer());
        return this.choice(candidate, "", "null", `"${finishName(reason, this.isOlder)}"${stop}`);
      }
      default:
        return kind satisfies never;
    }
  }

  /** A thought goes on, or ends with its proof. */
  private thinking(candidate: number, text: string, signature: string | undefined): void {
    const thoughts = this.thoughtsOf(candidate);
    thoughts.open += text;
    this.keep(text);
    if (signature !== undefined) this.keep(signature);
    if (text !== "") this.delta(candidate, `"reasoning_content":${JSON.stringify(text)}`);
    if (signature === undefined) return;
    addDetail(thoughts.proven, partOf({ $case: "thinking", value: { text: thoughts.open, signature } }));
    thoughts.open = "";
  }

  /**
   * The thoughts that must come back as they are: each once, and those that follow each other at once, before what
   * follows them. Of a member that they do not know, OpenAI's helper for Node keeps what came last, and the one for
   * Python joins lists by the index of each entry; clients of OpenRouter's add up what comes.
   */
  private tellThoughts(candidate: number): void {
    const thoughts = this.thinkers.get(candidate);
    const untold = thoughts?.proven.slice(thoughts.toldCount) ?? [];
    if (thoughts === undefined || untold.length === 0) return;
    thoughts.toldCount += untold.length;
    this.delta(candidate, `"reasoning_details":${JSON.stringify(untold)}`);
  }

  private thoughtsOf(candidate: number): Thoughts {
    const known = this.thinkers.get(candidate);
    if (known !== undefined) return known;
    const made: Thoughts = { proven: [], toldCount: 0, open: "" };
    this.thinkers.set(candidate, made);
    return made;
  }

  private part(candidate: number, part: Part | undefined): void {
    if (part?.kind?.$case === "thinking")
      return this.thinking(candidate, part.kind.value.text, part.kind.value.signature);
    if (part?.kind?.$case === "redactedThinking") {
      addDetail(this.thoughtsOf(candidate).proven, part);
      return this.keep(part.kind.value.data);
    }
    if (part?.kind?.$case !== "toolCall") {
      const members = encodeDeltaPart(part);
      if (members === undefined) return;
      this.tellThoughts(candidate);
      return this.delta(candidate, members);
    }
    const { value } = part.kind;
    const index = this.told.get(candidate)?.size ?? 0;
    const start = { candidate, index, ...value };
    this.encode({ $case: "toolCallStart", value: start });
    this.argumentsDelta(candidate, index, value.arguments);
  }

  private argumentsDelta(candidate: number, index: number, fragment: string): void {
    const call = this.told.get(candidate)?.get(index);
    if (call === undefined) return;
    if (this.isOlder) return this.functionCall(candidate, call.index, { arguments: fragment });
    const called = call.custom ? `"custom":{"input":` : `"function":{"arguments":`;
    this.delta(candidate, `"tool_calls":[{"index":${call.index},${called}${JSON.stringify(fragment)}}}]`);
  }

  private functionCall(candidate: number, place: number, call: object): void {
    if (place === 0) this.delta(candidate, `"function_call":${JSON.stringify(call)}`);
  }

  /** One chunk of a candidate, behind the one that opens it. */
  private delta(candidate: number, members: string, logprobs?: LogprobsDelta): void {
    const told = logprobs === undefined ? "null" : JSON.stringify(encodeLogprobs(logprobs));
    this.role(candidate, false);
    this.choice(candidate, members, told, "null");
  }

  /** The chunk that opens a candidate, once. */
  private role(candidate: number, isCall: boolean): void {
    if (this.told.has(candidate)) return;
    this.told.set(candidate, new Map());
    const content = isCall ? "null" : '""';
    this.choice(candidate, `"role":"assistant","content":${content},"refusal":null`, "null", "null");
  }

  private choice(candidate: number, members: string, logprobs: string, reason: string): void {
    this.chunk(`{"index":${candidate},"delta":{${members}},"logprobs":${logprobs},"finish_reason":${reason}}`);
  }
}

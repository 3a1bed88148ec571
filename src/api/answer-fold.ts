/** The whole answer as the fold of a stream's events, written once for every caller that wants it whole. */
import type { Answer, Candidate, Event, LogprobsDelta, Part, ToolCall } from "./index.js";
import { FinishReason, Role, UsageSource } from "./index.js";

/** Folds events as they come. */
export class AnswerFold {
  readonly #answer: Answer = {
    id: "",
    model: "",
    createTime: undefined,
    candidates: [],
    usage: undefined,
    usageSource: UsageSource.USAGE_SOURCE_UNSPECIFIED,
    costNanos: 0n,
  };
  /** By candidate and index. Most answers call nothing. */
  #calls: Map<string, ToolCall> | undefined;

  push(events: Iterable<Event>): void {
    for (const event of events) this.#take(event.kind);
  }

  /** The answer so far. Candidates stand in the order of their index. */
  answer(): Answer {
    this.#answer.candidates.sort((a, b) => a.index - b.index);
    return this.#answer;
  }

  #take(kind: Event["kind"]): void {
    if (kind === undefined) return;
    switch (kind.$case) {
      case "start":
        Object.assign(this.#answer, kind.value);
        return;
      case "text":
        this.#lastPart(kind.value.candidate, "text").text += kind.value.text;
        return;
      case "refusal":
        this.#lastPart(kind.value.candidate, "refusal").text += kind.value.text;
        return;
      case "thinking":
        this.#think(kind.value.candidate, kind.value.text, kind.value.signature);
        return;
      case "toolCallStart": {
        const { candidate, index, id, name, custom, signature } = kind.value;
        const call: ToolCall = { id, name, arguments: "", custom, signature };
        (this.#calls ??= new Map()).set(`${candidate}:${index}`, call);
        this.#parts(candidate).push({ kind: { $case: "toolCall", value: call }, cacheMark: undefined });
        return;
      }
      case "toolCallDelta": {
        const call = this.#calls?.get(`${kind.value.candidate}:${kind.value.index}`);
        if (call !== undefined) call.arguments += kind.value.arguments;
        return;
      }
      case "logprobs":
        this.#addLogprobs(kind.value);
        return;
      case "part":
        if (kind.value.part !== undefined) this.#parts(kind.value.candidate).push(kind.value.part);
        return;
      case "candidateEnd": {
        const candidate = this.#candidate(kind.value.candidate);
        candidate.finishReason = kind.value.reason;
        candidate.stopString = kind.value.stopString;
        return;
      }
      case "finish":
        Object.assign(this.#answer, kind.value);
        return;
      default:
        kind satisfies never;
    }
  }

  #candidate(index: number): Candidate {
    const found = this.#answer.candidates.find((candidate) => candidate.index === index);
    if (found !== undefined) return found;
    const made: Candidate = {
      index,
      message: { role: Role.ROLE_ASSISTANT, parts: [], name: undefined, extraJson: undefined },
      finishReason: FinishReason.FINISH_REASON_UNSPECIFIED,
      stopString: undefined,
      logprobs: undefined,
    };
    this.#answer.candidates.push(made);
    return made;
  }

  #parts(candidate: number): Part[] {
    return this.#candidate(candidate).message?.parts ?? [];
  }

  /** The part that a delta of the kind goes on with: the last one where it is of that kind, else a new one. */
  #lastPart(candidate: number, kind: "text" | "refusal"): { text: string } {
    const parts = this.#parts(candidate);
    const last = parts.at(-1)?.kind;
    if (last?.$case === kind) return last.value;
    const value = { text: "", citationsJson: undefined };
    parts.push({ kind: { $case: kind, value }, cacheMark: undefined });
    return value;
  }

  /** A signature ends a thought; what follows is another. */
  #think(candidate: number, text: string, signature: string | undefined): void {
    const parts = this.#parts(candidate);
    const last = parts.at(-1)?.kind;
    if (last?.$case === "thinking" && last.value.signature === undefined) {
      last.value.text += text;
      last.value.signature = signature;
      return;
    }
    parts.push({ kind: { $case: "thinking", value: { text, signature } }, cacheMark: undefined });
  }

  #addLogprobs(delta: LogprobsDelta): void {
    const candidate = this.#candidate(delta.candidate);
    candidate.logprobs ??= { candidate: delta.candidate, content: [], refusal: [] };
    for (const token of delta.content) candidate.logprobs.content.push(token);
    for (const token of delta.refusal) candidate.logprobs.refusal.push(token);
  }
}

/** The answer that the events make. */
export function foldEvents(events: Iterable<Event>): Answer {
  const fold = new AnswerFold();
  fold.push(events);
  return fold.answer();
}

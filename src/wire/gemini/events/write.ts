/** From typed steps to the events of a client. */
import type { Event, LogprobsDelta, ThinkingDelta, ToolCallStart } from "../../../api/index.js";
import type { GatewayError } from "../../../base/errors.js";
import { arrayText, jsonOf, objectText } from "../../json/text.js";
import { StreamEncoder } from "../../events/writer.js";
import type { RequestFacts } from "../../wire.js";
import { callJson, partJson, textJson, thoughtJson } from "../answer/write-parts.js";
import { errorText } from "../error.js";
import { encodeFinish } from "../answer/finish.js";
import { encodeLogprobs } from "../answer/logprobs.js";
import { encodeUsage } from "../answer/usage.js";

export function encodeStream(_request: RequestFacts): StreamEncoder {
  return new GeminiStreamEncoder();
}

/** What of one candidate is not told yet. */
interface Pending {
  readonly candidate: number;
  readonly parts: string[];
  /** Text, or a thought, that goes on: runs of it are one part. */
  text: string;
  thought: string;
  logprobs: LogprobsDelta | undefined;
  /** Why it ended, once it did. */
  reason: string | undefined;
}

/** A call whose arguments still come: on this wire a call is told whole. */
interface OpenCall {
  readonly start: ToolCallStart;
  arguments: string;
}

class GeminiStreamEncoder extends StreamEncoder {
  /** What every chunk ends with. */
  private tail = "";
  private pending: Pending | undefined;
  /** Candidates that ended: told with the usage, for Google's own client takes a chunk without any for no answer. */
  private ended: Pending[] = [];
  private readonly calls = new Map<number, OpenCall[]>();

  protected override tell(events: readonly Event[]): void {
    for (const { kind } of events) if (kind !== undefined) this.encode(kind);
    this.flush();
  }

  protected override tellFailure(error: GatewayError): void {
    this.out.data(errorText(error));
  }

  private encode(kind: NonNullable<Event["kind"]>): void {
    switch (kind.$case) {
      case "start": {
        const { id, model, createTime } = kind.value;
        this.tail = [
          ["modelVersion", jsonOf(model)],
          ["createTime", createTime === undefined ? undefined : jsonOf(createTime.toISOString())],
          ["responseId", jsonOf(id)],
        ].reduce((text, [key, json]) => (json === undefined ? text : `${text},"${key}":${json}`), "");
        return;
      }
      case "text":
      case "refusal": {
        const pending = this.of(kind.value.candidate);
        if (pending.thought !== "") closeText(pending);
        pending.text += kind.value.text;
        return;
      }
      case "thinking":
        return this.think(kind.value);
      case "toolCallStart": {
        const calls = this.calls.get(kind.value.candidate) ?? [];
        this.calls.set(kind.value.candidate, [...calls, { start: kind.value, arguments: "" }]);
        for (const text of [kind.value.id, kind.value.name, kind.value.signature ?? ""]) this.keep(text);
        return;
      }
      case "toolCallDelta": {
        const call = this.calls.get(kind.value.candidate)?.find(({ start }) => start.index === kind.value.index);
        if (call === undefined) return;
        call.arguments += kind.value.arguments;
        this.keep(kind.value.arguments);
        return;
      }
      case "logprobs": {
        const pending = this.of(kind.value.candidate);
        if (pending.logprobs !== undefined) this.flush();
        this.of(kind.value.candidate).logprobs = kind.value;
        return;
      }
      case "part": {
        const json = kind.value.part === undefined ? undefined : partJson(kind.value.part);
        if (json !== undefined) this.add(kind.value.candidate, json);
        return;
      }
      case "candidateEnd":
        return this.end(kind.value.candidate, encodeFinish(kind.value.reason));
      case "finish": {
        this.flush();
        const { usage } = kind.value;
        const told = usage === undefined ? "" : `,"usageMetadata":${JSON.stringify(encodeUsage(usage))}`;
        this.chunk(`"candidates":${arrayText(this.ended.map(candidateText))}${told}`);
        return;
      }
      default:
        return kind satisfies never;
    }
  }

  private think({ candidate, text, signature }: ThinkingDelta): void {
    const pending = this.of(candidate);
    if (pending.text !== "") closeText(pending);
    pending.thought += text;
    if (signature === undefined) return;
    pending.parts.push(thoughtJson(pending.thought, signature));
    pending.thought = "";
  }

  private add(candidate: number, part: string): void {
    const pending = this.of(candidate);
    closeText(pending);
    pending.parts.push(part);
  }

  /** What is pending of the candidate; what is pending of another goes out first. */
  private of(candidate: number): Pending {
    if (this.pending?.candidate === candidate) return this.pending;
    this.flush();
    this.pending = { candidate, parts: [], text: "", thought: "", logprobs: undefined, reason: undefined };
    return this.pending;
  }

  /** The calls, which are whole now, and the end. */
  private end(candidate: number, reason: string): void {
    for (const { start, arguments: text } of this.calls.get(candidate) ?? [])
      this.add(candidate, callJson({ ...start, arguments: text }));
    this.calls.delete(candidate);
    const pending = this.of(candidate);
    closeText(pending);
    pending.reason = reason;
    this.ended.push(pending);
    this.pending = undefined;
  }

  private flush(): void {
    const { pending } = this;
    if (pending === undefined) return;
    closeText(pending);
    this.pending = undefined;
    if (pending.parts.length > 0 || pending.logprobs !== undefined)
      this.chunk(`"candidates":[${candidateText(pending)}]`);
  }

  private chunk(members: string): void {
    this.out.data(`{${members}${this.tail}}`);
  }
}

function candidateText({ candidate, parts, logprobs, reason }: Pending): string {
  return objectText([
    ["content", `{"parts":${arrayText(parts.length === 0 ? [textJson("")] : parts)},"role":"model"}`],
    ["finishReason", jsonOf(reason)],
    ["index", String(candidate)],
    ["logprobsResult", logprobs === undefined ? undefined : JSON.stringify(encodeLogprobs(logprobs))],
  ]);
}

function closeText(pending: Pending): void {
  if (pending.text !== "") pending.parts.push(textJson(pending.text));
  if (pending.thought !== "") pending.parts.push(thoughtJson(pending.thought, undefined));
  pending.text = "";
  pending.thought = "";
}

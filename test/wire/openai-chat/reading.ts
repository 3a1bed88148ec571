/** Reads streams in pieces and folds typed steps, so that tests compare what came of them. */
import type { Event } from "../../../src/api/index.js";
import type { GatewayError } from "../../../src/base/errors.js";
import { wire } from "../../../src/wire/openai-chat/index.js";
import type { AnswerForm, AnswerReport, RequestFacts } from "../../../src/wire/wire.js";

export interface Read {
  readonly events: Event[];
  readonly source: string;
  readonly error: GatewayError | undefined;
  readonly visible: boolean;
  readonly report: AnswerReport;
}

/** Decodes a stream that comes in reads cut at the places. */
export function readStream(bytes: Buffer, facts: RequestFacts, form: AnswerForm, cuts: readonly number[] = []): Read {
  const decoder = wire.decodeStream(facts, form);
  const batches = [];
  let start = 0;
  for (const cut of [...cuts, bytes.length]) {
    batches.push(decoder.push(Buffer.from(bytes.subarray(start, cut))));
    start = cut;
  }
  batches.push(decoder.end());
  return {
    events: batches.flatMap((batch) => batch.events),
    source: Buffer.concat(batches.map((batch) => batch.source)).toString("latin1"),
    error: batches.find((batch) => batch.error !== undefined)?.error,
    visible: batches.some((batch) => batch.visible),
    report: decoder.report,
  };
}

/** The events of payloads, as an upstream sends them. */
export function sse(...payloads: readonly (object | string)[]): string {
  return payloads
    .map((payload) => `data: ${typeof payload === "string" ? payload : JSON.stringify(payload)}\n\n`)
    .join("");
}

/** A chunk with one choice. */
export function chunk(delta: object, rest: object = {}, top: object = {}): object {
  return {
    id: "c-1",
    object: "chat.completion.chunk",
    created: 1700000000,
    model: "up",
    choices: [{ index: 0, delta, finish_reason: null, ...rest }],
    ...top,
  };
}

/** Everything that typed steps tell, run together: of each candidate its text, thinking, calls and end. */
export function fold(events: readonly Event[]): Record<string, unknown> {
  const folded: Record<string, unknown> = {};
  const add = (key: string, text: string): void => {
    const before = folded[key];
    folded[key] = (typeof before === "string" ? before : "") + text;
  };
  for (const { kind } of events) {
    if (kind === undefined || kind.$case === "finish") continue;
    if (kind.$case === "start") {
      folded["start"] = kind.value;
      continue;
    }
    const at = String(kind.value.candidate);
    if (kind.$case === "text" || kind.$case === "refusal") add(`${at} ${kind.$case}`, kind.value.text);
    else if (kind.$case === "thinking") {
      add(`${at} thinking`, kind.value.text);
      if (kind.value.signature !== undefined) add(`${at} signature`, kind.value.signature);
    } else if (kind.$case === "toolCallStart") folded[`${at} call ${kind.value.index}`] = kind.value;
    else if (kind.$case === "toolCallDelta") add(`${at} call ${kind.value.index} arguments`, kind.value.arguments);
    else if (kind.$case === "logprobs") {
      const before = folded[`${at} logprobs`];
      folded[`${at} logprobs`] = [
        ...(Array.isArray(before) ? before : []),
        ...kind.value.content,
        ...kind.value.refusal,
      ];
    } else if (kind.$case === "candidateEnd") folded[`${at} end`] = kind.value;
    else folded[`${at} part ${Object.keys(folded).length}`] = kind.value.part;
  }
  return folded;
}

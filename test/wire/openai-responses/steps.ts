/** The steps that make an answer, in pieces: a text, a thought and a call may come in several. */
import type { Answer, Event } from "../../../src/api/index.js";

export function stepsOf(whole: Answer): Event[] {
  const { id, model, createTime } = whole;
  const events: Event[] = [{ kind: { $case: "start", value: { id, model, createTime, inputTokens: undefined } } }];
  for (const { index: candidate, message, finishReason: reason, stopString } of whole.candidates) {
    let calls = 0;
    for (const part of message?.parts ?? []) {
      const { kind } = part;
      if (kind?.$case === "text")
        for (const text of kind.value.text) events.push({ kind: { $case: "text", value: { candidate, text } } });
      else if (kind?.$case === "thinking") {
        // OpenAI's own proof is told with its thought: the item's id must be known before its text.
        const { signature, text } = kind.value;
        const isOwn = signature?.startsWith("openai:") === true;
        const value = { candidate, text, signature: isOwn ? signature : undefined };
        events.push({ kind: { $case: "thinking", value } });
        if (signature !== undefined && !isOwn)
          events.push({ kind: { $case: "thinking", value: { candidate, text: "", signature } } });
      } else if (kind?.$case === "refusal")
        events.push({ kind: { $case: "refusal", value: { candidate, text: kind.value.text } } });
      else if (kind?.$case === "toolCall") {
        const { arguments: text, ...call } = kind.value;
        const index = calls++;
        events.push({ kind: { $case: "toolCallStart", value: { candidate, index, ...call } } });
        for (const piece of text.match(/[^]{1,3}/gu) ?? [])
          events.push({ kind: { $case: "toolCallDelta", value: { candidate, index, arguments: piece } } });
      } else events.push({ kind: { $case: "part", value: { candidate, part } } });
    }
    events.push({ kind: { $case: "candidateEnd", value: { candidate, reason, stopString } } });
  }
  const { usage: used, usageSource, costNanos } = whole;
  events.push({ kind: { $case: "finish", value: { usage: used, usageSource, costNanos } } });
  return events;
}

/** Recordings of OpenAI-wire upstreams, told to a client of this wire: same text, calls, end and usage. */
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../../src/api/answer-fold.js";
import type { Event, Usage } from "../../../src/api/index.js";
import { wire } from "../../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../../src/wire/openai-chat/index.js";
import { hasRecordings, recordingsNote, streams } from "../openai-chat/recordings.js";
import { FACTS, readStream } from "./reading.js";

/** What a client acts on: words, thoughts, calls with their arguments, and why it ended. */
function meaning(events: readonly Event[]): unknown {
  return foldEvents(events).candidates.map(({ index, message, finishReason }) => {
    const said = { index, finishReason, text: "", thinking: "", calls: [] as unknown[] };
    for (const { kind } of message?.parts ?? []) {
      if (kind?.$case === "text" || kind?.$case === "refusal") said.text += kind.value.text;
      else if (kind?.$case === "thinking") said.thinking += kind.value.text;
      else if (kind?.$case === "toolCall")
        said.calls.push([kind.value.id, kind.value.name, JSON.parse(kind.value.arguments || "{}")]);
    }
    return said;
  });
}

const total = (usage: Usage | undefined): bigint[] =>
  usage === undefined
    ? []
    : [
        usage.inputTokens + usage.cacheWriteTokens,
        usage.cacheReadTokens,
        usage.outputTokens,
        usage.reasoningTokens,
        usage.audioInputTokens,
      ];

describe.runIf(hasRecordings)(recordingsNote, () => {
  test.each(streams)("stream $name", ({ body }) => {
    const bytes = Buffer.from(body);
    for (const step of [bytes.length, 997, 61]) {
      const decoder = openAiChat.decodeStream({ ...FACTS, includeUsage: true }, "events");
      const encoder = wire.encodeStream(FACTS);
      const events: Event[] = [];
      const told: Buffer[] = [];
      const take = (batch: { readonly events: Event[] }): void => {
        events.push(...batch.events);
        told.push(encoder.push(batch.events));
      };
      for (let at = 0; at < bytes.length; at += step) take(decoder.push(Buffer.from(bytes.subarray(at, at + step))));
      take(decoder.end());
      const { usage } = decoder.report;
      take({ events: [{ kind: { $case: "finish", value: { usage, usageSource: 1, costNanos: 0n } } }] });
      const again = readStream(Buffer.concat(told), "events");
      expect(again.error).toBeUndefined();
      expect(again.report.complete).toBe(true);
      expect(meaning(again.events)).toEqual(meaning(events));
      expect(total(again.report.usage)).toEqual(total(usage));
    }
  });
});

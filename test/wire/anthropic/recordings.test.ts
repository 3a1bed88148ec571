/** Recordings of real upstreams: read whole, and streamed in any pieces, they mean the same and lose no byte. */
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../../src/api/answer-fold.js";
import { type Answer, type Event, FinishReason } from "../../../src/api/index.js";
import { wire } from "../../../src/wire/anthropic/index.js";
import type { AnswerReport } from "../../../src/wire/wire.js";
import { wire as openAiChat } from "../../../src/wire/openai-chat/index.js";
import { recordedAnthropicTokens } from "../../support/recorded-tokens.js";
import { checkGrammar, FACTS, readStream } from "./reading.js";
import { answers, hasRecordings, recordingsNote, streams } from "./recordings.js";
import { CUT_STEP, END_STEP } from "../../support/sweep.js";

/** Why each ended, read by hand; the others by themselves. */
const ENDS: Readonly<Record<string, FinishReason>> = {
  "anthropic-json-tool.1.chunks.txt": FinishReason.FINISH_REASON_TOOL_CALLS,
  "anthropic-json-tool.1.json": FinishReason.FINISH_REASON_TOOL_CALLS,
  "anthropic-refusal.chunks.txt": FinishReason.FINISH_REASON_BLOCKED,
  "anthropic-refusal.json": FinishReason.FINISH_REASON_BLOCKED,
  "anthropic-tool-no-args.chunks.txt": FinishReason.FINISH_REASON_TOOL_CALLS,
  "anthropic-tool-no-args.json": FinishReason.FINISH_REASON_TOOL_CALLS,
};

function finished(events: readonly Event[], { usage }: AnswerReport): Event[] {
  return [...events, { kind: { $case: "finish", value: { usage, usageSource: 1, costNanos: 0n } } }];
}

function checkTold(name: string, events: readonly Event[], report: AnswerReport): Answer {
  const answer = foldEvents(finished(events, report));
  const want = recordedAnthropicTokens[name];
  if (want !== undefined) {
    const { inputTokens, cacheReadTokens, outputTokens, reasoningTokens } = report.usage ?? {};
    expect([inputTokens, cacheReadTokens, outputTokens, reasoningTokens].map(Number)).toEqual([
      want.input,
      want.cacheRead ?? 0,
      want.output,
      want.reasoning ?? 0,
    ]);
    expect(answer.candidates[0]?.finishReason).toBe(ENDS[name] ?? FinishReason.FINISH_REASON_END);
  }
  expect(answer.candidates).toHaveLength(1);
  return answer;
}

const keyed = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? `${item}n` : item));

const STOP = /event: message_stop\r?\ndata: [^\n]*\n\r?\n/;

describe.runIf(hasRecordings)(recordingsNote, () => {
  test("there are some of each kind", () => {
    expect([answers.length, streams.length].every((count) => count > 0)).toBe(true);
  });

  describe.each(streams)("stream $name", ({ name, body }) => {
    const bytes = Buffer.from(body);
    const whole = readStream(bytes, "source");
    const typed = readStream(bytes, "events");

    test("is complete, loses no byte before its end, and tells usage and end as they are", () => {
      expect(whole.error).toBeUndefined();
      expect(whole.report.complete).toBe(true);
      expect(whole.source).toBe(bytes.toString("latin1").replace(STOP, ""));
      checkTold(name, typed.events, typed.report);
      expect(typed.report.usage).toEqual(whole.report.usage);
      expect(typed.report.text).toBe(whole.report.text);
    });

    test.each([
      { end: "LF", text: body },
      { end: "CRLF", text: body.replaceAll("\n", "\r\n") },
    ])("cut in two, with $end, it means the same", ({ end, text }) => {
      const cutBytes = Buffer.from(text);
      const want = keyed(foldEvents(typed.events));
      const usage = keyed(whole.report.usage);
      const source = cutBytes.toString("latin1").replace(STOP, "");
      for (let cut = 1; cut < cutBytes.length; cut++) {
        if (end === "LF" && cut % CUT_STEP !== 0) continue;
        // Between line ends CRLF makes no difference.
        if (end !== "LF" && !cutBytes.subarray(cut - 1, cut + 1).includes("\n") && cutBytes[cut - 1] !== 0x0d) continue;
        const asSource = readStream(cutBytes, "source", [cut]);
        const asEvents = readStream(cutBytes, "events", [cut]);
        const isSame =
          asSource.source === source &&
          asSource.report.complete &&
          asSource.report.text === whole.report.text &&
          keyed(asSource.report.usage) === usage &&
          keyed(foldEvents(asEvents.events)) === want;
        // Compared by hand: an expectation for each of so many cuts costs more than the reading.
        if (!isSame) expect.unreachable(`cut at ${cut}`);
      }
    });

    test("cut short anywhere, it is never complete", () => {
      const end = bytes.indexOf("event: message_stop");
      for (let at = 0; at < end; at += END_STEP) {
        const cut = readStream(Buffer.from(bytes.subarray(0, at)), "source");
        if (cut.report.complete || cut.source.includes("message_stop")) expect.unreachable(`cut at ${at}`);
      }
    });

    test("told to a client of the wire and read again, it means the same", () => {
      const encoder = wire.encodeStream(FACTS);
      const events = finished(typed.events, typed.report);
      const bytesTold = Buffer.concat(events.map((event) => encoder.push([event])));
      checkGrammar(bytesTold);
      const again = readStream(bytesTold, "events");
      expect(foldEvents(again.events)).toEqual(foldEvents(typed.events));
      expect(again.report.usage).toEqual(typed.report.usage);
      expect(again.report.complete).toBe(true);
    });

    test("told to OpenAI's client and read again, it says the same", () => {
      const encoder = openAiChat.encodeStream(FACTS);
      const bytesTold = encoder.push(finished(typed.events, typed.report));
      const decoder = openAiChat.decodeStream(FACTS, "events");
      const batches = [decoder.push(bytesTold), decoder.end()];
      expect(decoder.report.complete).toBe(true);
      expect(decoder.report.usage).toEqual(typed.report.usage);
      const again = foldEvents(batches.flatMap((batch) => batch.events)).candidates[0];
      const was = foldEvents(typed.events).candidates[0];
      expect(again?.message?.parts).toEqual(was?.message?.parts);
      expect(again?.finishReason).toBe(was?.finishReason);
    });
  });

  describe.each(answers)("answer $name", ({ name, body }) => {
    const answer = wire.decodeAnswer(Buffer.from(body));

    test("is read, with its usage and its end", () => {
      expect(answer.report.complete).toBe(true);
      checkTold(name, answer.events(), answer.report);
    });

    test("written for a client of the wire and read again, it is the same", () => {
      const folded = foldEvents(finished(answer.events(), answer.report));
      const again = wire.decodeAnswer(wire.encodeAnswer(folded));
      expect(foldEvents(finished(again.events(), again.report))).toEqual(folded);
    });
  });
});

/** Recordings of real upstreams: read whole, and streamed in any pieces, they mean the same and lose no byte. */
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../../src/api/answer-fold.js";
import { type Event, FinishReason, type Usage } from "../../../src/api/index.js";
import { wire } from "../../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../../src/wire/openai-chat/index.js";
import { recordedGeminiTokens } from "../../support/recorded-tokens.js";
import { FACTS, readStream } from "./reading.js";
import { answers, errors, hasRecordings, recordingsNote, streams } from "./recordings.js";
import { CUT_STEP, END_STEP } from "../../support/sweep.js";

const keyed = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? `${item}n` : item));

/** Compares with what was worked out by hand, where it was. */
function checkTokens(name: string, usage: Usage | undefined): void {
  const want = recordedGeminiTokens[name];
  if (want === undefined) return;
  const told = [usage?.inputTokens, usage?.cacheReadTokens, usage?.outputTokens, usage?.reasoningTokens];
  expect(told.map(Number)).toEqual([want.input, want.cacheRead ?? 0, want.output, want.reasoning ?? 0]);
}

function finished(events: readonly Event[], report: { readonly usage: unknown }): Event[] {
  const usage = report.usage as never;
  return [...events, { kind: { $case: "finish", value: { usage, usageSource: 1, costNanos: 0n } } }];
}

describe.runIf(hasRecordings)(recordingsNote, () => {
  test("there are some of each kind", () => {
    expect([answers.length, streams.length, errors.length].every((count) => count > 0)).toBe(true);
  });

  describe.each(streams)("stream $name", ({ name, body }) => {
    const bytes = Buffer.from(body);
    const whole = readStream(bytes, "source");
    const typed = readStream(bytes, "events");

    test("is complete, loses no byte, and tells the usage that was added up by hand", () => {
      expect(whole.error).toBeUndefined();
      expect(whole.report.complete).toBe(true);
      expect(whole.source).toBe(bytes.toString("latin1"));
      const { usage } = whole.report;
      checkTokens(name, usage);
      expect(typed.report.usage).toEqual(usage);
    });

    test.each([
      { end: "LF", text: body },
      { end: "CRLF", text: body.replaceAll("\n", "\r\n") },
    ])("cut in two, with $end, it means the same", ({ text }) => {
      const cutBytes = Buffer.from(text);
      const want = keyed(foldEvents(typed.events));
      for (let cut = 1; cut < cutBytes.length; cut += CUT_STEP) {
        const source = readStream(cutBytes, "source", [cut]);
        const events = readStream(cutBytes, "events", [cut]);
        const isSame =
          source.source === cutBytes.toString("latin1") &&
          source.report.complete &&
          source.report.text === whole.report.text &&
          keyed(source.report.usage) === keyed(whole.report.usage) &&
          keyed(foldEvents(events.events)) === want;
        if (!isSame) expect.unreachable(`cut at ${cut}`);
      }
    });

    test("cut short anywhere, it never looks complete before its last reason", () => {
      const end = body.lastIndexOf('"finishReason"');
      for (let cut = 0; cut < end; cut += END_STEP) {
        const read = readStream(bytes.subarray(0, cut), "events");
        if (read.report.complete || read.events.some(({ kind }) => kind?.$case === "candidateEnd"))
          expect.unreachable(`cut short at ${cut}`);
      }
    });

    test("told to a client of the wire and read again, it says the same", () => {
      const told = wire.encodeStream(FACTS).push(finished(typed.events, typed.report));
      const again = readStream(told, "events");
      expect(foldEvents(again.events)).toEqual(foldEvents(typed.events));
      expect(again.report.usage).toEqual(typed.report.usage);
      expect(again.report.complete).toBe(true);
    });

    test("told to a chat client, it says the same text, calls and usage", () => {
      const facts = { ...FACTS, includeUsage: true };
      const told = openAiChat.encodeStream(facts).push(finished(typed.events, typed.report));
      const decoder = openAiChat.decodeStream(facts, "events");
      const events = [...decoder.push(told).events, ...decoder.end().events];
      const saidBy = (list: readonly Event[]): string => {
        const [candidate] = foldEvents(list).candidates;
        const calls = candidate?.message?.parts.filter(({ kind }) => kind?.$case === "toolCall");
        return keyed({ calls, reason: candidate?.finishReason });
      };
      expect(saidBy(events)).toBe(saidBy(typed.events));
      expect(decoder.report.text).toBe(typed.report.text);
      expect(decoder.report.usage).toEqual(typed.report.usage);
      expect(decoder.report.complete).toBe(true);
    });
  });

  describe.each(answers)("answer $name", ({ name, body }) => {
    const answer = wire.decodeAnswer(Buffer.from(body));

    test("is read, with the usage that was added up by hand", () => {
      const { usage, text, complete } = answer.report;
      expect(complete).toBe(true);
      expect(text).not.toBe("");
      checkTokens(name, usage);
      const [candidate] = foldEvents(answer.events()).candidates;
      const hasCalls = candidate?.message?.parts.some(({ kind }) => kind?.$case === "toolCall");
      expect(candidate?.finishReason).toBe(
        hasCalls === true ? FinishReason.FINISH_REASON_TOOL_CALLS : FinishReason.FINISH_REASON_END,
      );
    });

    test("written out and read again, it is the same", () => {
      const folded = foldEvents(finished(answer.events(), answer.report));
      const again = wire.decodeAnswer(wire.encodeAnswer(folded));
      expect(foldEvents(finished(again.events(), again.report))).toEqual(folded);
    });
  });

  test.each(errors)("error $name says how long to wait", ({ body, status }) => {
    for (const text of [body, `[${body}]`]) {
      const error = wire.decodeError(status, {}, Buffer.from(text));
      expect(error.reason).toBe("ERROR_REASON_UPSTREAM_RATE_LIMITED");
      expect(error.retryAfterMs).toBe(34_400);
    }
  });
});

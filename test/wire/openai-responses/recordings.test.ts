/** Recordings of real upstreams: read whole, and streamed in any pieces, they mean the same and lose no byte. */
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../../src/api/answer-fold.js";
import { type Answer, type Event, FinishReason } from "../../../src/api/index.js";
import type { GatewayError } from "../../../src/base/errors.js";
import { wire as anthropic } from "../../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../../src/wire/openai-chat/index.js";
import { wire } from "../../../src/wire/openai-responses/index.js";
import { UpstreamRefusal } from "../../../src/wire/error/upstream-refusal.js";
import type { AnswerReport } from "../../../src/wire/wire.js";
import { checkGrammar, FACTS, readStream } from "./reading.js";
import { answers, failures, hasRecordings, recordingsNote, refusals, streams } from "./recordings.js";
import { bySweep, CUT_STEP, END_STEP } from "../../support/sweep.js";

const END = FinishReason.FINISH_REASON_END;
const CALLS = FinishReason.FINISH_REASON_TOOL_CALLS;

/** Input, all output, the reasoning in it, and why it ended: read by hand from the raw files. */
const WANT: Readonly<Record<string, readonly [bigint, bigint, bigint, FinishReason]>> = {
  "responses-openai-custom-tool.1.json": [50n, 20n, 0n, CALLS],
  "responses-openai-custom-tool.1.chunks.txt#0": [50n, 20n, 0n, CALLS],
  "responses-openai-reasoning-encrypted-content.1.json": [865n, 163n, 128n, END],
  "responses-openai-reasoning-encrypted-content.1.chunks.txt#0": [134n, 28n, 0n, CALLS],
  "responses-openai-reasoning-encrypted-content.1.chunks.txt#1": [221n, 26n, 0n, CALLS],
  "responses-openai-reasoning-encrypted-content.1.chunks.txt#2": [260n, 26n, 0n, CALLS],
  "responses-openai-reasoning-encrypted-content.1.chunks.txt#3": [299n, 12n, 0n, END],
};

function kindOf(error: GatewayError | undefined): string | undefined {
  return error?.cause instanceof UpstreamRefusal ? error.cause.kind : undefined;
}

function finished(events: readonly Event[], { usage }: AnswerReport): Event[] {
  return [...events, { kind: { $case: "finish", value: { usage, usageSource: 1, costNanos: 0n } } }];
}

function checkTold(name: string, events: readonly Event[], report: AnswerReport): Answer {
  const answer = foldEvents(finished(events, report));
  const { inputTokens, outputTokens = 0n, reasoningTokens = 0n } = report.usage ?? {};
  const told = [inputTokens, outputTokens + reasoningTokens, reasoningTokens, answer.candidates[0]?.finishReason];
  expect(WANT).toHaveProperty([name]);
  expect(told).toEqual(WANT[name]);
  expect(answer.candidates).toHaveLength(1);
  return answer;
}

const keyed = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? `${item}n` : item));

describe.runIf(hasRecordings)(recordingsNote, () => {
  test("there are some of each kind", () => {
    expect([answers, streams, failures, refusals].every((kind) => kind.length > 0)).toBe(true);
  });

  describe.each(streams)("stream $name", ({ name, body }) => {
    const bytes = Buffer.from(body);
    const whole = readStream(bytes, "source");
    const typed = readStream(bytes, "events");

    test("is complete, loses no byte, and tells usage and end as they are", () => {
      expect(whole.error).toBeUndefined();
      expect(whole.report.complete).toBe(true);
      expect(whole.source).toBe(bytes.toString("latin1"));
      checkTold(name, typed.events, typed.report);
      expect(typed.report.usage).toEqual(whole.report.usage);
      expect(typed.report.text).toBe(whole.report.text);
    });

    test.each([
      { end: "LF", text: body, step: CUT_STEP },
      { end: "CRLF", text: body.replaceAll("\n", "\r\n"), step: bySweep({ short: 101, long: 25, all: 25 }) },
    ])(
      "cut at every byte that is $step from another, with $end, it means the same",
      ({ text, step }) => {
        const cutBytes = Buffer.from(text);
        const want = keyed(foldEvents(typed.events));
        const usage = keyed(whole.report.usage);
        const source = cutBytes.toString("latin1");
        for (let cut = 1; cut < cutBytes.length; cut += step) {
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
      },
      180_000,
    );

    test("cut short anywhere, it is never complete", () => {
      const end = bytes.indexOf("event: response.completed");
      for (let at = 0; at < end; at += END_STEP) {
        const cut = readStream(Buffer.from(bytes.subarray(0, at)), "source");
        if (cut.report.complete || cut.source.includes("response.completed")) expect.unreachable(`cut at ${at}`);
      }
    });

    test("told to a client of the wire and read again, it means the same", () => {
      const encoder = wire.encodeStream(FACTS);
      const bytesTold = Buffer.concat(finished(typed.events, typed.report).map((event) => encoder.push([event])));
      checkGrammar(bytesTold);
      const again = readStream(bytesTold, "events");
      expect(foldEvents(again.events)).toEqual(foldEvents(typed.events));
      expect(again.report.usage).toEqual(typed.report.usage);
      expect(again.report.complete).toBe(true);
    });

    test.each([openAiChat, anthropic, gemini])(
      "told to a client of $name and read again, it says the same",
      (other) => {
        const encoder = other.encodeStream(FACTS);
        const bytesTold = encoder.push(finished(typed.events, typed.report));
        const decoder = other.decodeStream(FACTS, "events");
        const batches = [decoder.push(bytesTold), decoder.end()];
        expect(decoder.report.complete).toBe(true);
        expect(decoder.report.usage).toEqual(typed.report.usage);
        const again = foldEvents(batches.flatMap((batch) => batch.events)).candidates[0];
        const was = foldEvents(typed.events).candidates[0];
        const said = (parts: readonly unknown[] = []): string =>
          keyed(parts.map((part) => [Reflect.get(Object(part), "kind")]))
            .replaceAll(/"(id|custom|signature)":[^,}]+,?/g, "")
            // Where a wire knows functions alone, free text is told as their argument.
            .replaceAll(
              String.raw`{\"input\":\"SELECT * FROM users WHERE age > 25\"}`,
              "SELECT * FROM users WHERE age > 25",
            );
        expect(said(again?.message?.parts)).toBe(said(was?.message?.parts));
        expect(again?.finishReason).toBe(was?.finishReason);
      },
    );
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

  test.each(failures)("failure $name, however it is cut, is an error before anything was generated", ({ body }) => {
    const bytes = Buffer.from(body);
    for (let cut = 1; cut < bytes.length; cut += CUT_STEP)
      for (const form of ["source", "events"] as const) {
        const read = readStream(bytes, form, [cut]);
        const isSame = kindOf(read.error) === "no_funds" && read.report.made === "nothing" && read.events.length === 0;
        if (!isSame) expect.unreachable(`${form} cut at ${cut}`);
      }
  });

  test.each(refusals)("refusal $name is the upstream's own trouble", ({ body }) => {
    const error = wire.decodeError(429, {}, Buffer.from(body));
    expect(error.reason).toBe("ERROR_REASON_UPSTREAM_CREDENTIAL");
    expect(kindOf(error)).toBe("no_funds");
  });
});

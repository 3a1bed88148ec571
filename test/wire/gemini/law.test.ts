/** The law of the wire: what is written and read again is the same, and on its own wire nothing is lost. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import type { Answer, Event } from "../../../src/api/index.js";
import { foldEvents } from "../../../src/api/answer-fold.js";
import { wire } from "../../../src/wire/gemini/index.js";
import { decodeUsage, encodeUsage } from "../../../src/wire/gemini/answer/usage.js";
import { jsonText } from "../openai-chat/bodies.js";
import { answer, prompt, usage } from "./bodies.js";
import { FACTS, owned, readStream, request } from "./reading.js";

test("a prompt that is written and read again is the same", () => {
  fc.assert(
    fc.property(prompt, (asked) => {
      const candidateCount = asked.candidateCount ?? 1;
      const typed = { facts: { ...FACTS, candidateCount }, source: undefined, prompt: () => asked };
      const body = wire.encodeRequest(typed, owned({ candidateCount, outputTokensMax: 7 }), {});
      const again = request(body.toString());
      expect(again.facts).toMatchObject({ candidateCount, outputTokensMax: 7 });
      expect(again.prompt()).toEqual(asked);
    }),
  );
});

test("a usage that is written and read again is the same", () => {
  fc.assert(
    fc.property(usage, (used) => {
      expect(decodeUsage(encodeUsage(used))).toEqual(used);
    }),
  );
});

/** The steps that make an answer, in pieces: a thought and a call may come in several. */
function stepsOf(whole: Answer): Event[] {
  const { id, model, createTime } = whole;
  const events: Event[] = [{ kind: { $case: "start", value: { id, model, createTime, inputTokens: undefined } } }];
  for (const { index: candidate, message, logprobs, finishReason: reason } of whole.candidates) {
    let calls = 0;
    for (const part of message?.parts ?? []) {
      const { kind } = part;
      if (kind?.$case === "text")
        for (const text of kind.value.text) events.push({ kind: { $case: "text", value: { candidate, text } } });
      else if (kind?.$case === "thinking")
        events.push({ kind: { $case: "thinking", value: { candidate, ...kind.value } } });
      else if (kind?.$case === "toolCall") {
        const { arguments: text, ...call } = kind.value;
        const index = calls++;
        events.push({ kind: { $case: "toolCallStart", value: { candidate, index, ...call } } });
        for (const piece of text.match(/[^]{1,3}/gu) ?? [])
          events.push({ kind: { $case: "toolCallDelta", value: { candidate, index, arguments: piece } } });
      } else events.push({ kind: { $case: "part", value: { candidate, part } } });
    }
    if (logprobs !== undefined) events.push({ kind: { $case: "logprobs", value: logprobs } });
    events.push({ kind: { $case: "candidateEnd", value: { candidate, reason, stopString: undefined } } });
  }
  const { usage: used, usageSource, costNanos } = whole;
  events.push({ kind: { $case: "finish", value: { usage: used, usageSource, costNanos } } });
  return events;
}

describe("an answer", () => {
  const finished = (events: readonly Event[], told: Answer["usage"]): Answer => ({
    ...foldEvents(events),
    usage: told,
    usageSource: 1,
  });
  /** Parts of a thought that has no proof run together, and a missing message is an empty one. */
  const plain = (whole: Answer): Answer => foldEvents(stepsOf(whole));

  test("written whole and read again is the same", () => {
    fc.assert(
      fc.property(answer, (whole) => {
        const read = wire.decodeAnswer(wire.encodeAnswer(whole));
        expect(finished(read.events(), read.report.usage)).toEqual(plain(whole));
      }),
    );
  });

  test("streamed in any batches and read again in any pieces is the same", () => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 99 }), (whole, batch, step) => {
        const events = stepsOf(whole);
        const encoder = wire.encodeStream(FACTS);
        const pieces: Buffer[] = [];
        for (let at = 0; at < events.length; at += batch) pieces.push(encoder.push(events.slice(at, at + batch)));
        const bytes = Buffer.concat(pieces);
        const cuts = Array.from({ length: Math.floor(bytes.length / step) }, (_, place) => place * step);
        const facts = { ...FACTS, candidateCount: whole.candidates.length };
        const read = readStream(bytes, "events", cuts, facts);
        expect(read.report.complete).toBe(true);
        expect(finished(read.events, read.report.usage)).toEqual(plain(whole));
      }),
    );
  });
});

test("a body of the wire goes upstream as it came, but for what the gateway owns", () => {
  const spelled = fc.constantFrom(["generationConfig", "maxOutputTokens"], ["generation_config", "max_output_tokens"]);
  fc.assert(
    fc.property(jsonText, jsonText, spelled, fc.constantFrom("", " ", "\n"), (a, b, [config, limit], gap) => {
      const body = (most: number | string): string =>
        [
          `{${gap}"contents":[{"parts":[{"text":"Hi","x":${a}}],"x":${b}}]`,
          `"${config}":{"x":${a},"${limit}"${gap}:${most}}`,
          `"x":${b}${gap}}`,
        ].join(",");
      const read = request(body(500));
      expect(wire.encodeRequest(read, owned({ outputTokensMax: 500 }), {})).toBe(read.source?.body);
      expect(wire.encodeRequest(read, owned({ outputTokensMax: 20 }), {}).toString()).toBe(body(20));
    }),
  );
});

/** Recordings of real upstreams: read whole, and streamed in any pieces, they mean the same and lose no byte. */
import { describe, expect, test } from "vitest";
import { openAiChatDialect, wire } from "../../../src/wire/openai-chat/index.js";
import type { RequestFacts } from "../../../src/wire/wire.js";
import { FACTS, owned } from "./bodies.js";
import { fold, readStream } from "./reading.js";
import { answers, hasRecordings, recordingsNote, streams } from "./recordings.js";
import { bySweep, CUT_STEP } from "../../support/sweep.js";

const ASKED: RequestFacts = { ...FACTS, includeUsage: true };
const EDGE_BYTES = 4096;
/** How long the reads are in which a whole stream comes. */
const ALL_STEPS = [1, 7, 997, 4099, 16_411];

/** The first and the last events of a stream, as many as hold the bytes at its edges. */
function edges(text: string): string {
  const events = text.split(/(?<=\n\n)/);
  const from = (ordered: readonly string[]): number => {
    let bytes = 0;
    return ordered.findIndex((event) => (bytes += event.length) > EDGE_BYTES) + 1;
  };
  const [head, tail] = [from(events), from(events.toReversed())];
  if (head === 0 || tail === 0 || head + tail >= events.length) return text;
  return [...events.slice(0, head), ...events.slice(-tail)].join("");
}

/** What a client that did not ask for usage must receive, told by the rules alone. */
function withoutUsage(text: string, end: string): string {
  return text
    .split(new RegExp(`(?<=${end}${end})`))
    .filter((event) => event.trim() !== "" && !event.includes("[DONE]"))
    .filter((event) => !/"choices":\[\],"usage":\{/.test(event))
    .map((event) => event.replace(/,"usage":null(?=[,}])/, ""))
    .join("");
}

describe.runIf(hasRecordings)(recordingsNote, () => {
  test("there are some of each kind", () => {
    expect(answers.length).toBeGreaterThanOrEqual(10);
    expect(streams.length).toBeGreaterThanOrEqual(10);
  });

  describe.each(streams)("stream $name", ({ body }) => {
    const whole = readStream(Buffer.from(body), ASKED, "source");

    test("is complete, with text and usage, and loses no byte", () => {
      expect(whole.error).toBeUndefined();
      expect(whole.report.complete).toBe(true);
      // A model may spend all its tokens on thinking that it does not show.
      expect(whole.report.text !== "").toBe(!body.includes('"finish_reason":"length"') || body.length > 4096);
      const hasUsage = body.includes('"usage":{');
      expect(whole.report.usage !== undefined).toBe(hasUsage);
      const sent = Buffer.from(body).toString("latin1");
      expect(whole.source).toBe(sent.slice(0, sent.lastIndexOf("data: [DONE]")));
    });

    test.each([
      { name: "LF", text: edges(body), end: "\n" },
      { name: "CRLF", text: edges(body).replaceAll("\n", "\r\n"), end: "\r\n" },
    ])("cut in two at its edges, with $name, it means the same", ({ text, end }) => {
      const bytes = Buffer.from(text);
      const want = readStream(bytes, FACTS, "source");
      expect(want.source).toBe(Buffer.from(withoutUsage(text, end)).toString("latin1"));
      const usage = String(Object.values(want.report.usage ?? {}));
      // Compared by hand: an expectation for each of so many cuts costs more than the reading.
      for (let cut = 1; cut < bytes.length; cut++) {
        if (end === "\n" && cut % CUT_STEP !== 0) continue;
        // Between line ends CRLF makes no difference.
        if (end !== "\n" && !bytes.subarray(cut - 1, cut + 1).includes("\n") && bytes[cut - 1] !== 0x0d) continue;
        const { source, report } = readStream(bytes, FACTS, "source", [cut]);
        const isSame = source === want.source && report.text === want.report.text && report.complete;
        if (!isSame || String(Object.values(report.usage ?? {})) !== usage) expect.unreachable(`cut at ${cut}`);
      }
    });

    test("typed, it tells the same text, however it is cut", () => {
      const bytes = Buffer.from(body);
      const want = fold(readStream(bytes, FACTS, "events").events);
      const texts = Object.entries(want).map(([key, value]) => {
        if (typeof value === "string") return key.endsWith("signature") ? "" : value;
        return typeof value === "object" && value !== null && "name" in value ? String(value.name) : "";
      });
      expect([...texts.join("")].sort().join("")).toBe([...whole.report.text].sort().join(""));
      expect(want["0 end"]).toBeDefined();
      const steps = bySweep({ short: [1, 997], long: ALL_STEPS, all: ALL_STEPS });
      for (const step of steps) {
        const cuts = Array.from({ length: Math.floor(bytes.length / step) }, (_, place) => place * step);
        const got = readStream(bytes, FACTS, "events", cuts);
        expect(fold(got.events)).toEqual(want);
        expect(got.report.usage).toEqual(whole.report.usage);
        expect(readStream(bytes, ASKED, "source", cuts).source).toBe(whole.source);
      }
    });

    test("told to a client and read again, it tells the same", () => {
      const read = readStream(Buffer.from(body), ASKED, "events");
      const encoder = wire.encodeStream(ASKED);
      const finish = { usage: read.report.usage, usageSource: 1, costNanos: 0n };
      const told = encoder.push([...read.events, { kind: { $case: "finish", value: finish } }]);
      const again = readStream(told, ASKED, "events");
      expect(fold(again.events)).toEqual(fold(read.events));
      expect(again.report.usage).toEqual(read.report.usage);
      expect(again.report.complete).toBe(true);
    });
  });

  describe.each(answers)("answer $name", ({ name, body, status }) => {
    test("is read", () => {
      if (status !== 200) {
        const error = wire.decodeError(status, {}, Buffer.from(body));
        expect(error.reason).toBe(
          name.includes("unknown-model") ? "ERROR_REASON_UPSTREAM_FAILED" : "ERROR_REASON_UPSTREAM_REJECTED",
        );
        return;
      }
      const answer = wire.decodeAnswer(Buffer.from(body));
      expect(answer.report.complete).toBe(true);
      expect(answer.report.text.length).toBeGreaterThan(0);
      expect(answer.report.usage?.outputTokens ?? 0n).toBeGreaterThanOrEqual(0n);
      const folded = fold(answer.events());
      expect(folded["0 end"]).toMatchObject({ candidate: 0 });
      expect(folded["start"]).toMatchObject({ model: expect.stringMatching(/./) });
    });
  });

  test.each([...answers, ...streams].filter((recording) => recording.request !== undefined))(
    "request of $name goes upstream unchanged",
    ({ request }) => {
      const body = Buffer.from(request ?? "");
      const isRefusedHere = JSON.parse(body.toString()).temperature < 0;
      const read = (): Buffer => {
        const facts = wire.readRequest({ wire: wire.name, body, headers: {} });
        facts.prompt();
        const { model, stream, candidateCount } = facts.facts;
        return wire.encodeRequest(facts, owned({ model, stream, candidateCount }), {
          ...openAiChatDialect,
          streamUsage: false,
          // As OpenAI, which says itself what its models do not take.
          keepsBodies: true,
        });
      };
      if (isRefusedHere) expect(read).toThrow("'max_tokens'");
      else expect(read().toString()).toBe(body.toString());
    },
  );
});

/** The law of the wire: what is written and read again is the same, and on its own wire nothing is lost. */
import { escapedBreaks } from "../../support/escaped-breaks.js";
import { readdirSync, readFileSync } from "node:fs";
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../../src/api/answer-fold.js";
import { type Answer, type Event, Prompt } from "../../../src/api/index.js";
import { wire } from "../../../src/wire/anthropic/index.js";
import type { WireRequest } from "../../../src/wire/wire.js";
import { jsonText } from "../openai-chat/bodies.js";
import { answer, asked } from "./bodies.js";
import { checkGrammar, FACTS, owned, readStream, request } from "./reading.js";

/** As the protocol carries it: what maps inherit and how absence is written makes no difference there. */
function carried(value: Prompt): Prompt {
  return Prompt.decode(Prompt.encode(value).finish());
}

function typed(prompt: Prompt): WireRequest {
  return { facts: FACTS, source: undefined, prompt: () => prompt };
}

test("a prompt that is written and read again is the same", () => {
  fc.assert(
    fc.property(asked, ({ model, prompt }) => {
      const dropped: string[] = [];
      const fields = owned({ model, outputTokensMax: 9_000, stream: true });
      const body = wire.encodeRequest(typed(prompt), fields, {}, dropped);
      const again = request(body);
      expect(again.facts).toMatchObject({ model, outputTokensMax: 9_000, stream: true, candidateCount: 1 });
      expect(carried(again.prompt())).toEqual(carried(prompt));
      expect(dropped).toEqual([]);
    }),
  );
});

describe("an answer", () => {
  /** Neighbouring texts run together, as they do in every stream. */
  const plain = (whole: Answer): Answer => foldEvents(stepsOf(whole));
  const finished = (events: readonly Event[], told: Answer["usage"]): Answer => ({
    ...foldEvents(events),
    usage: told,
    usageSource: 1,
  });

  test("written whole and read again is the same", () => {
    fc.assert(
      fc.property(answer, (whole) => {
        const read = wire.decodeAnswer(wire.encodeAnswer(plain(whole)));
        expect(finished(read.events(), read.report.usage)).toEqual(plain(whole));
      }),
    );
  });

  test("streamed in any batches and read again in any pieces is the same, and keeps the grammar", () => {
    const cuts = fc.array(fc.nat(4_000), { maxLength: 4 });
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 9 }), cuts, (whole, step, places) => {
        const encoder = wire.encodeStream(FACTS);
        const events = stepsOf(whole);
        const pieces: Buffer[] = [];
        for (let at = 0; at < events.length; at += step) pieces.push(encoder.push(events.slice(at, at + step)));
        const bytes = Buffer.concat(pieces);
        checkGrammar(bytes);
        const sorted = places.filter((place) => place < bytes.length).sort((a, b) => a - b);
        const read = readStream(bytes, "events", sorted);
        expect(read.report.complete).toBe(true);
        expect(finished(read.events, read.report.usage)).toEqual(plain(whole));
      }),
    );
  });
});

/** The steps that make an answer, in pieces: a text, a thought and a call may come in several. */
function stepsOf(whole: Answer): Event[] {
  const { id, model, createTime } = whole;
  const events: Event[] = [{ kind: { $case: "start", value: { id, model, createTime, inputTokens: undefined } } }];
  for (const { index: candidate, message, finishReason: reason, stopString } of whole.candidates) {
    let calls = 0;
    for (const part of message?.parts ?? []) {
      const { kind } = part;
      if (kind?.$case === "text")
        for (const text of kind.value.text) events.push({ kind: { $case: "text", value: { candidate, text } } });
      else if (kind?.$case === "thinking") {
        for (const text of kind.value.text)
          events.push({ kind: { $case: "thinking", value: { candidate, text, signature: undefined } } });
        const { signature } = kind.value;
        if (signature !== undefined)
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

describe("on its own wire", () => {
  const member = fc.tuple(
    fc.string({ maxLength: 8 }).map((key) => JSON.stringify(`x-${key}`)),
    jsonText,
  );
  const members = fc.uniqueArray(member, { maxLength: 4, selector: ([key]) => key });
  const written = (list: readonly (readonly [string, string])[]): string =>
    list.map(([key, value]) => `,${key}:${value}`).join("");

  test("a request is the same, byte for byte, but for what the gateway owns", () => {
    fc.assert(
      fc.property(members, members, members, ([...top], [...inMessage], [...inBlock]) => {
        const block = (text: string): string =>
          `{"type":"text","text":${JSON.stringify(text)}${written(inBlock)},"cache_control":{"type":"ephemeral"}}`;
        const thought = '{"type":"thinking","thinking":"\\u0061 b","signature":"EqQB+/=="}';
        const turns = (model: string, limit: string): string =>
          `{ "model":${model} ,"max_tokens": ${limit},"messages":[{"role":"user","content":[${block("a")}]${written(inMessage)}},` +
          `{"role":"assistant","content":[${thought},{"type":"redacted_thinking","data":"x=="}]}, {"role":"user","content":"b"}]${written(top)}}`;
        const { facts, source } = request(turns('"claude-x"', "77"));
        const same = wire.encodeRequest(request(source?.body ?? ""), owned({ model: facts.model }), {});
        expect(same.toString()).toBe(turns('"claude-x"', "77"));
        const fields = owned({ model: "up", outputTokensMax: 5 });
        const changed = wire.encodeRequest(request(source?.body ?? ""), fields, {});
        expect(changed.toString()).toBe(turns('"up"', "5"));
      }),
    );
  });

  test("an event of any kind passes unchanged, known or not, where its turn is", () => {
    const EVENTS: Readonly<Record<string, readonly string[]>> = {
      "what begins": ["message_start"],
      "a piece": ["message_start", "content_block_start", "content_block_delta", "content_block_stop"],
      "an unknown kind": ["x_new", "message_start", "x_new"],
      "a sign of life": ["ping", "message_start", "ping"],
    };
    fc.assert(
      fc.property(members, fc.constantFrom(...Object.keys(EVENTS)), (list, name) => {
        const eventOf = (type: string): string => {
          const index = type.startsWith("content_block") ? ',"index":0' : "";
          const event = `event: ${type}\ndata: {"type":"${type}"${index}${written(list)}}\n\n`.replaceAll("\r", " ");
          return event.replaceAll(/(?<=data: [^]*)\n(?=[^]*\n\n$)/g, " ");
        };
        const end = `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"x"}}\n\n`;
        const flat = EVENTS[name]!.map(eventOf).join("") + end;
        const read = readStream(Buffer.from(`${flat}event: message_stop\ndata: {"type":"message_stop"}\n\n`), "source");
        expect(read.error).toBeUndefined();
        expect(Buffer.from(read.source, "latin1").toString()).toBe(escapedBreaks(flat));
      }),
    );
  });
});

describe("goldens", () => {
  const folder = new URL("../../../src/wire/anthropic/testdata/", import.meta.url);
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".request.json"))
    .map((name) => name.replace(".request.json", ""));

  test.each(names)("%s", (name) => {
    const body = readFileSync(new URL(`${name}.request.json`, folder));
    const prompt = request(body).prompt();
    const fields = owned({ model: "claude-opus-5", outputTokensMax: 2048 });
    const made = wire.encodeRequest(typed(prompt), fields, {});
    const want: unknown = JSON.parse(readFileSync(new URL(`${name}.upstream.json`, folder), "utf8"));
    expect(JSON.parse(made.toString())).toEqual(want);
    expect(carried(request(made).prompt())).toEqual(carried(prompt));
  });
});

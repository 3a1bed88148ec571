/** The law of the wire: what is written and read again is the same, and on its own wire nothing is lost. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../../src/api/answer-fold.js";
import { type Answer, type Event, Prompt } from "../../../src/api/index.js";
import { wire } from "../../../src/wire/openai-responses/index.js";
import { decodePrompt } from "../../../src/wire/openai-responses/request/decode-prompt.js";
import type { WireRequest } from "../../../src/wire/wire.js";
import { escapedBreaks } from "../../support/escaped-breaks.js";
import { jsonText } from "../openai-chat/bodies.js";
import { answer, prompt } from "./bodies.js";
import { checkGrammar, FACTS, owned, readStream, request } from "./reading.js";
import { stepsOf } from "./steps.js";

/** As the protocol carries it: what maps inherit and how absence is written makes no difference there. */
function carried(value: Prompt): Prompt {
  return Prompt.decode(Prompt.encode(value).finish());
}

function typed(value: Prompt): WireRequest {
  return { facts: FACTS, source: undefined, prompt: () => value };
}

test("a prompt that is written and read again is the same", () => {
  fc.assert(
    fc.property(prompt, (value) => {
      const dropped: string[] = [];
      const body = wire.encodeRequest(typed(value), owned({ outputTokensMax: 9_000, stream: true }), {}, dropped);
      expect(request(body).facts).toMatchObject({ model: "gpt-5.2", outputTokensMax: 9_000, stream: true });
      expect(carried(decodePrompt(body))).toEqual(carried(value));
      expect(dropped).toEqual([]);
    }),
  );
});

describe("an answer", () => {
  const plain = (whole: Answer): Answer => foldEvents(stepsOf(whole));
  const finished = (events: readonly Event[], usage: Answer["usage"]): Answer => ({
    ...foldEvents(events),
    usage,
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
        // To a client of the wire the same stream passes by its bytes.
        expect(readStream(bytes, "source", sorted).source).toBe(bytes.toString("latin1"));
      }),
    );
  });
});

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
      fc.property(members, members, members, ([...top], [...inItem], [...inTool]) => {
        const body = (model: string, limit: string): string =>
          `{ "model":${model} ,"max_output_tokens": ${limit},"input":[{"type":"reasoning","id":"rs_0a","summary":[],` +
          `"encrypted_content":"gAAAA_b-x=="${written(inItem)}},{"type":"web_search_call","id":"ws_1"${written(inItem)}}, ` +
          `{"role":"user","content":"\\u0061 b"}],"tools":[{"type":"web_search"${written(inTool)}},` +
          `{"type":"namespace","name":"ns","tools":[{"type":"function","name":"f"${written(inTool)}}]}]${written(top)}}`;
        const asked = request(body('"gpt-x"', "77"));
        expect(wire.encodeRequest(asked, owned({ model: "gpt-x" }), {}).toString()).toBe(body('"gpt-x"', "77"));
        const changed = wire.encodeRequest(asked, owned({ model: "up", outputTokensMax: 5 }), {});
        expect(changed.toString()).toBe(body('"up"', "5"));
      }),
    );
  });

  test("an event of any kind passes unchanged, known or not", () => {
    const types = fc.constantFrom("response.created", "response.output_text.delta", "x.new", "keepalive");
    fc.assert(
      fc.property(members, types, (list, type) => {
        const data = `{"type":"${type}"${written(list)}}`.replaceAll(/[\r\n]/g, " ");
        const event = `event: ${type}\ndata: ${data}\n\n`;
        const end = 'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r"}}\n\n';
        const read = readStream(Buffer.from(event + end), "source");
        expect(read.error).toBeUndefined();
        expect(Buffer.from(read.source, "latin1").toString()).toBe(escapedBreaks(event + end));
      }),
    );
  });
});

/** Streams: what is told of blocks that come interleaved, oddly or not at all, and of errors among them. */
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../../src/api/answer-fold.js";
import { type Event, FinishReason } from "../../../src/api/index.js";
import { GatewayError } from "../../../src/base/errors.js";
import { wire } from "../../../src/wire/anthropic/index.js";
import { wire as openAiChat } from "../../../src/wire/openai-chat/index.js";
import type { WireRequest } from "../../../src/wire/wire.js";
import { checkGrammar, FACTS, readStream, sse, told } from "./reading.js";

const START = {
  type: "message_start",
  message: { id: "msg_1", model: "m", usage: { input_tokens: 5, output_tokens: 1 } },
};
const STOP = { type: "message_stop" };
const end = (reason: string, usage: object = { output_tokens: 7 }): object => ({
  type: "message_delta",
  delta: { stop_reason: reason, stop_sequence: null },
  usage,
});
const block = (index: number, start: object, ...deltas: readonly object[]): object[] => [
  { type: "content_block_start", index, content_block: start },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

const step = {
  text: (text: string): Event => ({ kind: { $case: "text", value: { candidate: 0, text } } }),
  call: (index: number): Event => ({
    kind: {
      $case: "toolCallStart",
      value: { candidate: 0, index, id: `c${index}`, name: "f", custom: false, signature: undefined },
    },
  }),
  goOn: (index: number, fragment: string): Event => ({
    kind: { $case: "toolCallDelta", value: { candidate: 0, index, arguments: fragment } },
  }),
  end: (reason = FinishReason.FINISH_REASON_END): Event => ({
    kind: { $case: "candidateEnd", value: { candidate: 0, reason, stopString: undefined } },
  }),
  finish: { kind: { $case: "finish", value: { usage: undefined, usageSource: 2, costNanos: 0n } } } satisfies Event,
};

/** What each push of a step tells. */
function tell(events: readonly Event[]): string[] {
  const encoder = wire.encodeStream(FACTS);
  return events.map((event) => encoder.push([event]).toString());
}

describe("towards a client", () => {
  test("calls that come interleaved are told one after the other, and no fragment is lost", () => {
    const events = [
      step.call(0),
      step.call(1),
      step.goOn(1, '{"b":"}'),
      step.goOn(0, '{"a":'),
      step.goOn(1, '"}'),
      step.goOn(0, "1}"),
      step.text("and"),
      step.end(FinishReason.FINISH_REASON_TOOL_CALLS),
      step.finish,
    ];
    const bytes = Buffer.from(tell(events).join(""));
    expect(checkGrammar(bytes)).toEqual(["tool_use", "tool_use", "text"]);
    const parts = foldEvents(readStream(bytes, "events").events).candidates[0]?.message?.parts;
    expect(parts?.map(({ kind }) => (kind?.$case === "toolCall" ? kind.value.arguments : kind?.$case))).toEqual([
      '{"a":1}',
      '{"b":"}"}',
      "text",
    ]);
  });

  test("calls that come in turn are told as they come", () => {
    const pieces = tell([step.call(0), step.goOn(0, '{"a":"\\"}"}'), step.call(1), step.goOn(1, "{")]);
    expect(pieces[0]).toContain("message_start");
    expect(pieces[1]).toContain("input_json_delta");
    expect(pieces[2]).toContain("content_block_stop");
    expect(pieces[2]).toContain('"id":"c1"');
    expect(pieces[3]).toContain("input_json_delta");
  });

  test("an answer of nothing, not even a beginning, is whole", () => {
    const bytes = tell([step.finish]).join("");
    expect(checkGrammar(bytes)).toEqual([]);
    expect(told(bytes).at(-2)).toMatchObject({ delta: { stop_reason: "end_turn" }, usage: { output_tokens: 0 } });
  });

  test("a model's own refusal is said in words, and ends as one", () => {
    const refusal: Event = { kind: { $case: "refusal", value: { candidate: 0, text: "I won't." } } };
    const bytes = tell([refusal, step.end(), step.finish]).join("");
    expect(checkGrammar(bytes)).toEqual(["text"]);
    expect(told(bytes).at(-2)).toMatchObject({ delta: { stop_reason: "refusal" } });
  });

  test("other candidates, probabilities and sound are left out", () => {
    const other: Event = { kind: { $case: "text", value: { candidate: 1, text: "x" } } };
    const sound: Event = {
      kind: {
        $case: "part",
        value: {
          candidate: 0,
          part: {
            kind: { $case: "audio", value: { source: { $case: "fileId", value: "a" }, transcript: "said" } },
            cacheMark: undefined,
          },
        },
      },
    };
    const probabilities: Event = { kind: { $case: "logprobs", value: { candidate: 0, content: [], refusal: [] } } };
    const bytes = tell([other, probabilities, sound, step.end(), step.finish]).join("");
    expect(checkGrammar(bytes)).toEqual(["text"]);
    expect(bytes).toContain("said");
    expect(bytes).not.toContain('"x"');
  });

  test("a failure is an error event, and nothing after it", () => {
    const error = new GatewayError("ERROR_REASON_UPSTREAM_UNAVAILABLE", { model: "m" });
    const bytes = wire.encodeStream(FACTS).fail(error);
    expect(told(bytes)).toMatchObject([{ type: "error", error: { type: "overloaded_error" } }]);
  });

  test("the bytes that keep a stream alive are a ping", () => {
    expect(told(wire.heartbeat)).toEqual([{ type: "ping" }]);
  });
});

describe("from an upstream", () => {
  test("a ping is nothing to see, in either form", () => {
    const ping = Buffer.from(sse({ type: "ping" }));
    for (const form of ["events", "source"] as const)
      expect(readStream(ping, form)).toMatchObject({ visible: false, error: undefined, events: [] });
  });

  test.each([
    { name: "overloaded", type: "overloaded_error", reason: "ERROR_REASON_UPSTREAM_UNAVAILABLE" },
    { name: "limited", type: "rate_limit_error", reason: "ERROR_REASON_UPSTREAM_RATE_LIMITED" },
    { name: "failed", type: "api_error", reason: "ERROR_REASON_UPSTREAM_FAILED" },
    { name: "refused", type: "invalid_request_error", reason: "ERROR_REASON_UPSTREAM_REJECTED" },
    { name: "of no known kind", type: "x_error", reason: "ERROR_REASON_UPSTREAM_FAILED" },
  ])("an error in the stream: $name", ({ type, reason }) => {
    const error = { type: "error", error: { type, message: "No." } };
    const read = readStream(Buffer.from(sse(START, error, ...block(0, { type: "text", text: "x" }), STOP)), "source");
    expect(read.error?.reason).toBe(reason);
    expect(read.report).toMatchObject({ complete: false, text: "" });
    expect(read.source).not.toContain("error");
  });

  test.each([
    { name: "a page", bytes: "<html>" },
    { name: "no JSON", bytes: "data: {nope\n\n" },
  ])("$name is no stream", ({ bytes }) => {
    const decoder = wire.decodeStream(FACTS, "events");
    const read = (): unknown => {
      const { error } = decoder.push(Buffer.from(bytes));
      if (error !== undefined) throw error;
      return decoder.end();
    };
    expect(read).toThrow(GatewayError);
  });

  test("counts of the end overwrite those of the beginning, one by one", () => {
    const told = {
      input_tokens: 9,
      cache_read_input_tokens: null,
      output_tokens: 3,
      output_tokens_details: { thinking_tokens: 2 },
    };
    const start = { input_tokens: 5, cache_read_input_tokens: 4, cache_creation_input_tokens: 6, output_tokens: 1 };
    const cache = { cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 4 } };
    const message = { ...START.message, usage: { ...start, ...cache } };
    const read = readStream(Buffer.from(sse({ ...START, message }, end("end_turn", told), STOP)), "source");
    expect(read.report.usage).toMatchObject({
      inputTokens: 9n,
      cacheReadTokens: 4n,
      cacheWriteTokens: 2n,
      cacheWrite1hTokens: 4n,
      outputTokens: 1n,
      reasoningTokens: 2n,
    });
  });

  test.each([
    { name: "negative and fractional", usage: { input_tokens: -5, output_tokens: 2.9 }, want: [5n, 2n] },
    { name: "absurd", usage: { input_tokens: 1e300, output_tokens: "7" }, want: [0n, 0n] },
    {
      name: "in rounds",
      usage: {
        input_tokens: 2,
        output_tokens: 3,
        iterations: [
          { input_tokens: 10, output_tokens: 20 },
          { input_tokens: 2, output_tokens: 3 },
        ],
      },
      want: [12n, 23n],
    },
  ])("counts that are $name", ({ usage, want, name }) => {
    const read = readStream(Buffer.from(sse(START, end("end_turn", usage), STOP)), "source");
    const { inputTokens, outputTokens } = read.report.usage!;
    // What is no count is as if it had not been told: a wrong one at the end does not undo the beginning's.
    if (name === "negative and fractional") expect([0n, 5n]).toContain(inputTokens);
    else expect(inputTokens).toBe(want[0]);
    expect(outputTokens).toBe(want[1]);
  });

  test("the input of a call that came with its beginning, in fragments, or never", () => {
    const use = (id: string, input: object): object => ({ type: "tool_use", id, name: "f", input });
    const json = (partial: string): object => ({ type: "input_json_delta", partial_json: partial });
    const bytes = sse(
      START,
      ...block(0, use("a", { x: 1 })),
      ...block(1, use("b", {}), json(""), json('{"y"'), json(":2}")),
      ...block(2, use("c", {})),
      end("end_turn"),
      STOP,
    );
    const answer = foldEvents(readStream(Buffer.from(bytes), "events").events).candidates[0];
    const calls = answer?.message?.parts.map(({ kind }) => (kind?.$case === "toolCall" ? kind.value.arguments : ""));
    expect(calls).toEqual(['{"x":1}', '{"y":2}', "{}"]);
    expect(answer?.finishReason).toBe(FinishReason.FINISH_REASON_TOOL_CALLS);
  });

  test("the answer to a schema that a tool stood for is text", () => {
    const asked: WireRequest = openAiChat.readRequest({
      wire: openAiChat.name,
      body: Buffer.from(
        '{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}}}',
      ),
      headers: {},
    });
    const answer = { type: "tool_use", id: "a", name: "json", input: {} };
    const bytes = sse(
      START,
      ...block(0, answer, { type: "input_json_delta", partial_json: '{"a":1}' }),
      end("tool_use"),
      STOP,
    );
    const streamed = foldEvents(readStream(Buffer.from(bytes), "events", [], asked).events).candidates[0];
    const body = { content: [{ ...answer, input: { a: 1 } }], stop_reason: "tool_use" };
    const whole = foldEvents(wire.decodeAnswer(Buffer.from(JSON.stringify(body)), asked).events()).candidates[0];
    for (const candidate of [streamed, whole]) {
      expect(candidate?.message?.parts).toMatchObject([{ kind: { $case: "text", value: { text: '{"a":1}' } } }]);
      expect(candidate?.finishReason).toBe(FinishReason.FINISH_REASON_END);
    }
  });

  test("blocks that only the wire has come whole, with the input that came after", () => {
    const use = { type: "server_tool_use", id: "s", name: "web_search", input: {} };
    const bytes = sse(
      START,
      ...block(0, use, { type: "input_json_delta", partial_json: '{"query":"x"}' }),
      end("pause_turn"),
      STOP,
    );
    const answer = foldEvents(readStream(Buffer.from(bytes), "events").events).candidates[0];
    const [part] = answer?.message?.parts ?? [];
    const json = part?.kind?.$case === "opaque" ? part.kind.value.json : "";
    expect(JSON.parse(json)).toEqual({ ...use, input: { query: "x" } });
    expect(answer?.finishReason).toBe(FinishReason.FINISH_REASON_PAUSED);
  });
});

describe("whole answers that are none", () => {
  test.each([
    { body: "<html>", reason: "ERROR_REASON_UPSTREAM_FAILED" },
    { body: "{}", reason: "ERROR_REASON_UPSTREAM_FAILED" },
    {
      body: '{"type":"error","error":{"type":"overloaded_error","message":"x"}}',
      reason: "ERROR_REASON_UPSTREAM_UNAVAILABLE",
    },
  ])("$body", ({ body, reason }) => {
    let thrown: unknown;
    try {
      wire.decodeAnswer(Buffer.from(body));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ reason });
  });
});

test("a call of a tool that takes free text is told as the object that a client can read, in pieces too", () => {
  const call = { candidate: 0, index: 0, id: "c1", name: "sql", custom: true, signature: undefined };
  const piece = (text: string): Event => ({
    kind: { $case: "toolCallDelta", value: { candidate: 0, index: 0, arguments: text } },
  });
  const encoder = wire.encodeStream(FACTS);
  const bytes = Buffer.concat([
    encoder.push([{ kind: { $case: "toolCallStart", value: call } }, piece('SELECT "a\n')]),
    encoder.push([piece("}"), piece('" \ud83d'), piece("\ude00")]),
    encoder.push([{ kind: { $case: "finish", value: { usage: undefined, usageSource: 1, costNanos: 0n } } }]),
  ]);
  expect(checkGrammar(bytes)).toEqual(["tool_use"]);
  const json = told(bytes).map(({ delta }) => Reflect.get(Object(delta), "partial_json") as string | undefined);
  expect(JSON.parse(json.join(""))).toEqual({ input: 'SELECT "a\n}" 😀' });
});

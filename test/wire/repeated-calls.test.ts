/** Ids of calls that an upstream gives twice, within an answer or across the conversation: clients get each once. */
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../src/api/answer-fold.js";
import type { Event } from "../../src/api/index.js";
import { families } from "../../src/families/index.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { createWire as createConverse } from "../../src/wire/bedrock-converse/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";
import type { UpstreamWire, Wire, WireRequest } from "../../src/wire/wire.js";
import { frameOf } from "../support/fake-bedrock.js";

type Json = Readonly<Record<string, unknown>>;

/** Ids as servers give them: counted, of Kimi's form, and as long as an id may be. */
const IDS = ["call_0", "functions.f:0", "0", "c".repeat(64)];

const data = (value: object | string): Buffer =>
  Buffer.from(`data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`);
const named = (value: { readonly type: string }): Buffer =>
  Buffer.from(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`);

interface Upstream {
  readonly wire: UpstreamWire;
  whole(ids: readonly string[]): Json;
  stream(ids: readonly string[]): readonly Buffer[];
}

const HEAD = { id: "x", created: 1, model: "m" };
const chatCall = (id: string): Json => ({ id, type: "function", function: { name: "f", arguments: '{"a":1}' } });
const callItem = (call_id: string, place: number): Json => ({
  type: "function_call",
  id: `fc_${place}`,
  call_id,
  name: "f",
  arguments: '{"a":1}',
  status: "completed",
});
const response = (ids: readonly string[]): Json => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "m",
  status: "completed",
  output: ids.map(callItem),
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});
const geminiAnswer = (ids: readonly string[]): Json => ({
  candidates: [
    {
      content: { role: "model", parts: ids.map((id) => ({ functionCall: { id, name: "f", args: { a: 1 } } })) },
      finishReason: "STOP",
      index: 0,
    },
  ],
});

const UPSTREAMS: readonly Upstream[] = [
  {
    wire: chat,
    whole: (ids) => ({
      ...HEAD,
      choices: [
        { index: 0, message: { role: "assistant", tool_calls: ids.map(chatCall) }, finish_reason: "tool_calls" },
      ],
    }),
    stream: (ids) => [
      data({ ...HEAD, choices: [{ index: 0, delta: { role: "assistant" } }] }),
      ...ids.map((id, index) =>
        data({ ...HEAD, choices: [{ index: 0, delta: { tool_calls: [{ index, ...chatCall(id) }] } }] }),
      ),
      data({ ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }),
      data("[DONE]"),
    ],
  },
  {
    wire: anthropic,
    whole: (ids) => ({
      id: "msg",
      type: "message",
      role: "assistant",
      model: "m",
      content: ids.map((id) => ({ type: "tool_use", id, name: "f", input: { a: 1 } })),
      stop_reason: "tool_use",
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
    stream: (ids) => [
      named({ type: "message_start", message: { id: "msg", role: "assistant", model: "m", content: [] } } as never),
      ...ids.flatMap((id, index) => [
        named({
          type: "content_block_start",
          index,
          content_block: { type: "tool_use", id, name: "f", input: {} },
        } as never),
        named({
          type: "content_block_delta",
          index,
          delta: { type: "input_json_delta", partial_json: '{"a":1}' },
        } as never),
        named({ type: "content_block_stop", index } as never),
      ]),
      named({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 1 } } as never),
      named({ type: "message_stop" }),
    ],
  },
  {
    wire: createConverse(() => "id"),
    whole: (ids) => ({
      output: {
        message: {
          role: "assistant",
          content: ids.map((toolUseId) => ({ toolUse: { toolUseId, name: "f", input: { a: 1 } } })),
        },
      },
      stopReason: "tool_use",
    }),
    stream: (ids) => [
      frameOf("messageStart", { role: "assistant" }),
      ...ids.flatMap((toolUseId, contentBlockIndex) => [
        frameOf("contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId, name: "f" } } }),
        frameOf("contentBlockDelta", { contentBlockIndex, delta: { toolUse: { input: '{"a":1}' } } }),
        frameOf("contentBlockStop", { contentBlockIndex }),
      ]),
      frameOf("messageStop", { stopReason: "tool_use" }),
    ],
  },
  { wire: gemini, whole: geminiAnswer, stream: (ids) => [data(geminiAnswer(ids))] },
  {
    wire: responses,
    whole: response,
    stream: (ids) => [
      named({ type: "response.created", response: { ...response([]), status: "in_progress" } } as never),
      ...ids.flatMap((id, output_index) => [
        named({ type: "response.output_item.added", output_index, item: callItem(id, output_index) } as never),
        named({ type: "response.output_item.done", output_index, item: callItem(id, output_index) } as never),
      ]),
      named({ type: "response.completed", response: response(ids) } as never),
    ],
  },
];

/** A conversation in which a call of this id was answered, as a client of another wire tells it. */
const CLIENTS: readonly { readonly wire: Wire; body(id: string): Json }[] = [
  {
    wire: anthropic,
    body: (id) => ({
      model: "m",
      max_tokens: 9,
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: [{ type: "tool_use", id, name: "f", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "done" }] },
      ],
    }),
  },
  {
    wire: chat,
    body: (id) => ({
      model: "m",
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: null, tool_calls: [chatCall(id)] },
        { role: "tool", tool_call_id: id, content: "done" },
      ],
    }),
  },
  {
    wire: responses,
    body: (id) => ({
      model: "m",
      input: [callItem(id, 0), { type: "function_call_output", call_id: id, output: "done" }],
    }),
  },
];

/** The ids of the calls in a conversation as its client tells it, read from the bytes that this client gets. */
function idsToldTo(client: Wire, events: readonly Event[]): string[] {
  const told = JSON.parse(client.encodeAnswer(foldEvents([...events])).toString()) as object;
  return [...JSON.stringify(told).matchAll(/"(?:call_id|id)":"((?:call_|toolu_|functions|0|c{9})[^"]*)"/g)].map(
    ([, id]) => id ?? "",
  );
}

function read(upstream: Upstream, ids: readonly string[], asked: WireRequest, isStream: boolean): Event[] {
  if (!isStream) return upstream.wire.decodeAnswer(Buffer.from(JSON.stringify(upstream.whole(ids))), asked).events();
  const decoder = upstream.wire.decodeStream(asked.facts, "events", asked);
  return [...upstream.stream(ids).map((chunk) => decoder.push(chunk)), decoder.end()].flatMap(({ events }) => events);
}

const callsIn = (events: readonly Event[]): string[] =>
  events.flatMap(({ kind }) => (kind?.$case === "toolCallStart" ? [kind.value.id] : []));
const argumentsIn = (events: readonly Event[]): string[] => {
  const texts: string[] = [];
  for (const { kind } of events) {
    if (kind?.$case !== "toolCallDelta") continue;
    texts[kind.value.index] = (texts[kind.value.index] ?? "") + kind.value.arguments;
  }
  return texts;
};

const PAIRS = UPSTREAMS.flatMap((upstream) =>
  CLIENTS.filter(({ wire }) => wire.name !== upstream.wire.name).flatMap((client) =>
    [false, true].flatMap((isStream) =>
      IDS.map((id) => ({
        upstream,
        client,
        isStream,
        id,
        to: client.wire.name,
        from: `${upstream.wire.name} ${isStream ? "streamed" : "whole"}`,
      })),
    ),
  ),
);

describe("an id that is given twice", () => {
  test.each(PAIRS)("is told once: $from to $to, $id", ({ upstream, client, isStream, id }) => {
    const body = client.wire.encodeAnswer(foldEvents(callOf(id)));
    const known = idsToldTo(client.wire, callOf(id))[0];
    expect(body.toString()).toContain(known);
    const source = { wire: client.wire.name, body: Buffer.from(JSON.stringify(client.body(known ?? ""))), headers: {} };
    const asked = client.wire.readRequest(source);
    const events = read(upstream, [id, id, "other"], asked, isStream);
    expect(argumentsIn(events)).toEqual(['{"a":1}', '{"a":1}', '{"a":1}']);
    const told = callsIn(events);
    expect(new Set([...told, id]).size).toBe(4);
    expect(told[2]).toBe("other");
    // What the upstream counts on stays where nothing else has the id.
    const first = read(
      upstream,
      [id],
      client.wire.readRequest({ ...source, body: withoutCalls(source.body) }),
      isStream,
    );
    expect(callsIn(first)).toEqual([id]);
  });
});

function callOf(id: string): Event[] {
  const value = { candidate: 0, index: 0, id, name: "f", custom: false, signature: undefined };
  return [{ kind: { $case: "toolCallStart", value } }];
}

function withoutCalls(body: Buffer): Buffer {
  const { messages, input, ...rest } = JSON.parse(body.toString()) as Record<string, unknown>;
  const said = [{ role: "user", content: "go" }];
  return Buffer.from(
    JSON.stringify({ ...rest, ...(messages === undefined ? { input: input && said } : { messages: said }) }),
  );
}

const FITTED = families.filter(({ wire, answers }) => wire.name === chat.name && answers === "fitted");

test.each(FITTED)("a chat client gets each id of an answer of $name's once", () => {
  const upstream = UPSTREAMS[0];
  const facts = chat.readRequest({
    wire: chat.name,
    body: Buffer.from('{"model":"m","stream":true,"messages":[{"role":"user","content":"go"}]}'),
    headers: {},
  }).facts;
  const idsIn = (text: string): string[] =>
    [...text.matchAll(/"id":"([^"]*)","type":"function"/g)].map(([, id]) => id ?? "");
  for (const id of IDS) {
    const whole = chat.decodeAnswer(Buffer.from(JSON.stringify(upstream?.whole([id, id]))), undefined, "fitted");
    const decoder = chat.decodeStream(facts, "fitted");
    const streamed = (upstream?.stream([id, id]) ?? []).map((chunk) => decoder.push(chunk).source.toString()).join("");
    for (const told of [whole.source?.toString() ?? "", streamed]) {
      expect(idsIn(told)).toHaveLength(2);
      expect(new Set(idsIn(told)).size).toBe(2);
    }
  }
});

test.each(FITTED)("a chat client of $name's gets no id that its conversation has", () => {
  const upstream = UPSTREAMS[0];
  const idsIn = (text: string): string[] =>
    [...text.matchAll(/"id":"([^"]*)","type":"function"/g)].map(([, id]) => id ?? "");
  for (const id of IDS) {
    const calls = [chatCall(id), chatCall(`${id}_2`)];
    const results = calls.map((call) => ({ role: "tool", tool_call_id: call["id"], content: "done" }));
    const messages = [
      { role: "user", content: "go" },
      { role: "assistant", content: null, tool_calls: calls },
      ...results,
    ];
    const tools = [{ type: "function", function: { name: "f" } }];
    const body = (stream: boolean): Buffer => Buffer.from(JSON.stringify({ model: "m", stream, messages, tools }));
    const asked = (stream: boolean): WireRequest =>
      chat.readRequest({ wire: chat.name, body: body(stream), headers: {} });
    const answered = [id, "other", id];
    const whole = chat.decodeAnswer(Buffer.from(JSON.stringify(upstream?.whole(answered))), asked(false), "fitted");
    const decoder = chat.decodeStream(asked(true).facts, "fitted", asked(true));
    const chunks = (upstream?.stream(answered) ?? []).map((chunk) => decoder.push(chunk).source.toString());
    for (const told of [whole.source?.toString() ?? "", chunks.join("")]) {
      const ids = idsIn(told);
      expect(ids).toHaveLength(3);
      expect(new Set([...ids, id, `${id}_2`]).size).toBe(5);
      expect(ids[1]).toBe("other");
    }
  }
});

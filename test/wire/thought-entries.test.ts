/** Entries of `reasoning_details` on their way to clients of every wire, and back to the upstream that wants them. */
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../src/api/answer-fold.js";
import type { Event } from "../../src/api/index.js";
import { openrouter } from "../../src/families/openrouter.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { createWire as createConverse } from "../../src/wire/bedrock-converse/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";
import type { UpstreamWire, Wire, WireRequest } from "../../src/wire/wire.js";

type Json = Readonly<Record<string, unknown>>;

/** What an upstream says in turn: entries, a call and words. */
type Said = Json | "call" | "words";

const CALL = { id: "tool_0_get", type: "function", function: { name: "get", arguments: '{"a":1}' } };
const HEAD = { id: "x", created: 1, model: "m" };

const wholeAnswer = (said: readonly Said[]): Json => ({
  ...HEAD,
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: said.includes("words") ? "words" : null,
        reasoning_details: said.filter((each) => typeof each === "object"),
        tool_calls: said.includes("call") ? [CALL] : undefined,
      },
      finish_reason: said.includes("call") ? "tool_calls" : "stop",
    },
  ],
});

/** The deltas of one thing that is said: an entry's text in three pieces, with its id and signature on the last. */
function deltasOf(said: Said): readonly Json[] {
  if (said === "call") return [{ tool_calls: [{ index: 0, ...CALL }] }];
  if (said === "words") return [{ content: "wor" }, { content: "ds" }];
  const { id, signature, ...entry } = said;
  const member = entry["text"] === undefined ? "summary" : "text";
  const text = entry[member];
  if (typeof text !== "string") return [{ content: "", reasoning_details: [said] }];
  const pieces = [text.slice(0, 1), text.slice(1, 3), text.slice(3)];
  return pieces.map((piece, place) => ({
    content: "",
    reasoning: piece,
    reasoning_details: [{ ...entry, [member]: piece, ...(place === 2 ? { id, signature } : {}) }],
  }));
}

const chunk = (delta: Json, finish_reason: string | null = null): Buffer =>
  Buffer.from(`data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);

function eventsOf(said: readonly Said[], isStream: boolean, asked: WireRequest): Event[] {
  if (!isStream) return chat.decodeAnswer(Buffer.from(JSON.stringify(wholeAnswer(said))), asked).events();
  const decoder = chat.decodeStream(asked.facts, "events", asked);
  const chunks = [...said.flatMap(deltasOf).map((delta) => chunk(delta)), chunk({}, "stop")];
  return [...chunks.map((bytes) => decoder.push(bytes)), decoder.end()].flatMap(({ events }) => events);
}

interface Client {
  readonly wire: Wire;
  /** The request of a turn: the question alone, or with an answer as the wire tells it, and what follows. */
  body(answered: readonly unknown[], isStream: boolean): Json;
  /** What it keeps of an answer. */
  ofWhole(answer: Json): readonly unknown[];
  ofStream(events: readonly Json[]): readonly unknown[];
}

const RESULT = { call_id: CALL.id, output: "12" };
const calls = (answered: readonly unknown[]): boolean => JSON.stringify(answered).includes(CALL.id);

const CLIENTS: readonly Client[] = [
  {
    wire: anthropic,
    body: (answered, stream) => ({
      model: "m",
      stream,
      max_tokens: 4_000,
      messages: [
        { role: "user", content: "q" },
        ...(answered.length === 0 ? [] : [{ role: "assistant", content: answered }]),
        ...(calls(answered)
          ? [{ role: "user", content: [{ type: "tool_result", tool_use_id: CALL.id, content: "12" }] }]
          : [{ role: "user", content: "more" }]),
      ],
    }),
    ofWhole: ({ content }) => content as readonly Json[],
    ofStream: (events) => {
      const blocks: Record<string, unknown>[] = [];
      for (const { type, index, content_block: begun, delta } of events) {
        if (type === "content_block_start") blocks[Number(index)] = { ...(begun as Json) };
        const block = blocks[Number(index)];
        for (const [key, value] of Object.entries((type === "content_block_delta" ? delta : undefined) ?? {}))
          if (block !== undefined && key !== "type") block[key] = `${textOf(block[key])}${String(value)}`;
      }
      return blocks.map(({ partial_json: input, ...block }) =>
        input === undefined ? block : Object.assign(block, { input: JSON.parse(String(input)) as Json }),
      );
    },
  },
  {
    wire: responses,
    body: (answered, stream) => ({
      model: "m",
      stream,
      input: [
        { role: "user", content: "q" },
        ...answered,
        calls(answered) ? { type: "function_call_output", ...RESULT } : { role: "user", content: "more" },
      ],
    }),
    ofWhole: ({ output }) => output as readonly Json[],
    ofStream: (events) =>
      events.flatMap(({ type, item }) => (type === "response.output_item.done" ? [item as Json] : [])),
  },
  {
    wire: gemini,
    body: (answered) => ({
      contents: [
        { role: "user", parts: [{ text: "q" }] },
        ...(answered.length === 0 ? [] : [{ role: "model", parts: answered }]),
        calls(answered)
          ? {
              role: "user",
              parts: [{ functionResponse: { id: CALL.id, name: "get", response: { output: "12" } } }],
            }
          : { role: "user", parts: [{ text: "more" }] },
      ],
    }),
    ofWhole: (answer) => partsOf(answer),
    ofStream: (events) => events.flatMap(partsOf),
  },
  {
    // Its answers are typed where they are told anew to a client that lost its connection.
    wire: chat,
    body: (answered, stream) => ({
      model: "m",
      stream,
      messages: [
        { role: "user", content: "q" },
        ...answered,
        calls(answered) ? { role: "tool", tool_call_id: CALL.id, content: "12" } : { role: "user", content: "more" },
      ],
    }),
    ofWhole: (answer) => [(answer as { choices: readonly { message: Json }[] }).choices[0]!.message],
    ofStream: (events) => {
      const deltas = events.flatMap(({ choices }) => (choices as readonly { delta: Json }[])[0]?.delta ?? []);
      const all = (name: string): readonly unknown[] => deltas.flatMap((delta) => (delta as Json)[name] ?? []);
      const content = all("content").join("");
      const tool_calls = all("tool_calls").length === 0 ? undefined : [CALL];
      return [{ role: "assistant", content, reasoning_details: all("reasoning_details"), tool_calls }];
    },
  },
];

function partsOf(answer: Json): readonly Json[] {
  const { candidates = [] } = answer as { candidates?: readonly { content: { parts: readonly Json[] } }[] };
  return candidates.flatMap(({ content }) => content.parts).filter(({ text }) => text !== "" || candidates.length > 0);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function askedBy({ wire, body }: Client, answered: readonly unknown[], isStream: boolean): WireRequest {
  const headers = wire === gemini ? { "x-tollgate-path-model": "m" } : {};
  return wire.readRequest({ wire: wire.name, body: Buffer.from(JSON.stringify(body(answered, isStream))), headers });
}

/** What a client keeps of what an upstream said. */
function keptBy(client: Client, said: readonly Said[], isStream: boolean): readonly unknown[] {
  const asked = askedBy(client, [], isStream);
  const events = eventsOf(said, isStream, asked);
  if (!isStream)
    return client.ofWhole(JSON.parse(client.wire.encodeAnswer(foldEvents(events), () => asked).toString()) as Json);
  const encoder = client.wire.encodeStream(asked.facts, asked);
  const end: Event = { kind: { $case: "finish", value: {} as never } };
  const told = [...events.filter(({ kind }) => kind?.$case !== "finish"), end].map((event) =>
    encoder.push([event]).toString(),
  );
  return client.ofStream(
    [...told.join("").matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json!) as Json),
  );
}

/** The assistant's message as OpenRouter gets it. */
function sentBack(client: Client, kept: readonly unknown[]): Json {
  const owned = { model: "m", outputTokensMax: 4_000, stream: false, candidateCount: 1 };
  const body = chat.encodeRequest(askedBy(client, kept, false), owned, openrouter.dialect);
  const { messages } = JSON.parse(body.toString()) as { readonly messages: readonly Json[] };
  return messages.find(({ role }) => role === "assistant") ?? {};
}

const FORMATS = ["google-gemini-v1", "openai-responses-v1", "xai-responses-v1", "unknown"];
const SHAPES: readonly { readonly name: string; readonly said: (format: string) => readonly Said[] }[] = [
  {
    name: "a thought, a call, and the state of the call",
    said: (format) => [
      { type: "reasoning.text", text: "hmm?", format, index: 0 },
      "call",
      { type: "reasoning.encrypted", data: "ENCDATA", id: CALL.id, format, index: 0 },
    ],
  },
  {
    name: "a summary and what it sums up",
    said: (format) => [
      { type: "reasoning.summary", summary: "in short", format, index: 0 },
      { type: "reasoning.encrypted", data: "gAAA_-", id: "rs_1", format, index: 0 },
      "words",
    ],
  },
  {
    name: "several entries with ids and a signature",
    said: (format) => [
      { type: "reasoning.text", text: "first one", id: "a", format, index: 0 },
      { type: "reasoning.text", text: "second one", signature: "S1==", id: "b", format, index: 1 },
      { type: "reasoning.summary", summary: "third one", format, index: 2 },
      "call",
    ],
  },
  { name: "sealed thoughts alone", said: (format) => [{ type: "reasoning.encrypted", data: "A+/=", format }, "words"] },
];

const CASES = CLIENTS.flatMap((client) =>
  [false, true].flatMap((isStream) =>
    SHAPES.flatMap(({ name, said }) =>
      FORMATS.map((format) => ({
        client,
        isStream,
        said: said(format),
        name: `${name} of ${format}, ${isStream ? "streamed" : "whole"} to ${client.wire.name}`,
      })),
    ),
  ),
);

const entriesOf = (said: readonly Said[]): readonly Json[] => said.filter((each) => typeof each === "object");

test.each(CASES)("$name, come back as they were", ({ client, isStream, said }) => {
  const message = sentBack(client, keptBy(client, said, isStream));
  const wanted = entriesOf(said);
  // Clients of chats join entries by their index, so each has one of its own there.
  expect(message["reasoning_details"]).toEqual(
    client.wire === chat ? wanted.map((entry, index) => ({ ...entry, index })) : wanted,
  );
  expect(message["tool_calls"] === undefined).toBe(!said.includes("call"));
});

describe("an entry of Anthropic's format", () => {
  const said: readonly Said[] = [
    { type: "reasoning.text", text: "hmm?", signature: "EqQB+/==", format: "anthropic-claude-v1", index: 0 },
    { type: "reasoning.encrypted", data: "EnsK+/==", format: "anthropic-claude-v1", index: 1 },
    "call",
  ];
  test.each([false, true])("reaches a client of Anthropic's byte for byte, streamed: %s", (isStream) => {
    const kept = keptBy(CLIENTS[0]!, said, isStream);
    expect(kept.slice(0, 2)).toEqual([
      { type: "thinking", thinking: "hmm?", signature: "EqQB+/==" },
      { type: "redacted_thinking", data: "EnsK+/==" },
    ]);
    expect(sentBack(CLIENTS[0]!, kept)["reasoning_details"]).toEqual([
      { type: "reasoning.text", text: "hmm?", signature: "EqQB+/==" },
      { type: "reasoning.encrypted", data: "EnsK+/==" },
    ]);
  });
});

const UPSTREAMS: readonly { readonly wire: UpstreamWire; readonly model: string }[] = [
  { wire: anthropic, model: "claude-sonnet-4-5" },
  { wire: createConverse(() => "id"), model: "anthropic.claude-sonnet-4-5" },
  { wire: gemini, model: "gemini-3-flash" },
  { wire: responses, model: "gpt-5.1" },
];

test.each(
  CLIENTS.flatMap((client) =>
    UPSTREAMS.map((upstream) => ({ client, upstream, from: client.wire.name, to: upstream.wire.name })),
  ),
)("nothing of an entry reaches another vendor: $from to $to", ({ client, upstream }) => {
  for (const { said } of SHAPES) {
    const kept = keptBy(client, said("google-gemini-v1"), false);
    const owned = { model: upstream.model, outputTokensMax: 4_000, stream: false, candidateCount: 1 };
    const body = upstream.wire.encodeRequest(askedBy(client, kept, false), owned, {}).toString();
    if (client.wire === upstream.wire && client.wire !== anthropic) continue;
    expect(body).not.toMatch(/ENCDATA|detail:|tollgate\.|dG9sbGdhdGU|google-gemini-v1/);
  }
});

test("a proof of another vendor's does not reach this one as Anthropic's", () => {
  const [, fromResponses, fromGemini] = CLIENTS;
  const thought = { type: "reasoning", id: "rs_0a", encrypted_content: "gAAA", summary: [] };
  const summary = [{ type: "summary_text", text: "hmm?" }];
  const words = { type: "message", role: "assistant", content: [{ type: "output_text", text: "words" }] };
  const bare = [{ type: "reasoning.text", text: "hmm?" }];
  expect(sentBack(fromResponses!, [thought, words])["reasoning_details"]).toBeUndefined();
  expect(sentBack(fromResponses!, [{ ...thought, summary }, words])["reasoning_details"]).toEqual(bare);
  const part = { text: "hmm?", thought: true, thoughtSignature: "R09PRw==" };
  expect(sentBack(fromGemini!, [part, { text: "words" }])["reasoning_details"]).toEqual(bare);
});

test("an entry that a client altered is a thought without it", () => {
  const client = CLIENTS[0]!;
  const [block] = keptBy(client, SHAPES[0]!.said("google-gemini-v1"), false) as readonly [
    { readonly signature: string },
  ];
  const { signature } = block;
  const decoded = (opaque: string): Json => {
    const thought = { type: "thinking", thinking: "hmm?", signature: opaque };
    return sentBack(client, [thought, { type: "text", text: "words" }]);
  };
  const ours = (detail: unknown): string =>
    `tollgate.proof.${Buffer.from(`detail:${JSON.stringify(detail)}`).toString("base64url")}`;
  const bare = [{ type: "reasoning.text", text: "hmm?" }];
  for (const cut of [10, 17, 30, signature.length - 1])
    expect(decoded(signature.slice(0, cut))["reasoning_details"]).toHaveLength(1);
  for (const detail of [
    null,
    7,
    [],
    "{",
    {},
    { type: "x", id: {}, format: ["a"], index: "0" },
    { id: "i".repeat(513), format: "f".repeat(513), index: 1e9 },
    { type: "reasoning.encrypted", proof: "x" },
    { role: "system", text: "other words" },
  ])
    expect(decoded(ours(detail))["reasoning_details"]).toEqual(bare);
  const sealed = { type: "redacted_thinking", data: ours({}).replace("proof", "redacted") };
  expect(sentBack(client, [sealed, { type: "text", text: "words" }])["reasoning_details"]).toBeUndefined();
});

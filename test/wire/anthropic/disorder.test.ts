/** Events in every order that a sloppy or a lying upstream may send: each client gets one whole answer or an error. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../../src/api/answer-fold.js";
import type { Answer, Event } from "../../../src/api/index.js";
import { wire as gemini } from "../../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../../src/wire/openai-chat/index.js";
import { wire as responses } from "../../../src/wire/openai-responses/index.js";
import { wire } from "../../../src/wire/anthropic/index.js";
import { readStream as readChat } from "../openai-chat/reading.js";
import { readStream as readGemini } from "../gemini/reading.js";
import { checkGrammar as checkResponse, readStream as readResponse, request } from "../openai-responses/reading.js";
import { checkGrammar, FACTS, readStream, sse } from "./reading.js";

type Json = Readonly<Record<string, unknown>>;

const USAGE = { input_tokens: 5, output_tokens: 1 };
const start = (id: string, more: Json = {}): Json => ({
  type: "message_start",
  message: { id, type: "message", role: "assistant", model: "m", content: [], usage: USAGE, ...more },
});
const STOP = { type: "message_stop" };
const end = (reason = "end_turn"): Json => ({
  type: "message_delta",
  delta: { stop_reason: reason, stop_sequence: null },
  usage: { output_tokens: 7 },
});
const begun = (index: number, block: object): Json => ({ type: "content_block_start", index, content_block: block });
const piece = (index: number, delta: object): Json => ({ type: "content_block_delta", index, delta });
const over = (index: number): Json => ({ type: "content_block_stop", index });
const json = (partial: string): object => ({ type: "input_json_delta", partial_json: partial });
const say = (text: string): object => ({ type: "text_delta", text });
const call = (id: string, input: object = {}): Json => ({ type: "tool_use", id, name: "f", input });
const TEXT = { type: "text", text: "" };

/** A message with a thought, words and two calls, as it should come. */
function message(id: string): Json[] {
  return [
    start(id),
    begun(0, { type: "thinking", thinking: "", signature: "" }),
    piece(0, { type: "thinking_delta", thinking: "hm" }),
    over(0),
    begun(1, TEXT),
    piece(1, say("Hello ")),
    piece(1, say("you")),
    over(1),
    begun(2, call(`${id}_a`)),
    piece(2, json('{"x"')),
    piece(2, json(":1}")),
    over(2),
    begun(3, call(`${id}_b`)),
    piece(3, json('{"y":2}')),
    over(3),
    end("tool_use"),
    STOP,
  ];
}

interface Outcome {
  readonly failed: boolean;
  /** What each client understood, where it was told all of it. */
  readonly seen: Readonly<Record<string, unknown>>;
}

/** Reads a stream of the upstream's as each client is told it; fails where its grammar is broken for any. */
function outcomeOf(events: readonly Json[]): Outcome {
  const bytes = Buffer.from(sse(...events));
  const typed = readStream(bytes, "events");
  const source = readStream(bytes, "source");
  expect(source.error?.reason).toBe(typed.error?.reason);
  expect(source.report.complete).toBe(typed.report.complete);
  if (typed.error !== undefined || !typed.report.complete) return { failed: true, seen: {} };
  const steps: Event[] = [
    ...typed.events,
    { kind: { $case: "finish", value: { usage: typed.report.usage, usageSource: 1, costNanos: 0n } } },
  ];
  const native = source.source + wire.streamEnd.toString("latin1");
  const asked = request({ model: "m", input: "x", stream: true });
  const toResponses = Buffer.from(responses.encodeStream(FACTS, asked).push(steps));
  const toAnthropic = wire.encodeStream(FACTS).push(steps);
  checkGrammar(native);
  checkGrammar(toAnthropic);
  checkResponse(toResponses);
  const chat = readChat(openAiChat.encodeStream(FACTS).push(steps), FACTS, "events").events;
  expect(new Set(chat.flatMap(({ kind }) => (kind?.$case === "start" ? [kind.value.id] : []))).size).toBe(1);
  return {
    failed: false,
    seen: {
      anthropic: told(readStream(Buffer.from(native, "latin1"), "events").events),
      "anthropic, written": told(readStream(toAnthropic, "events").events),
      chat: told(chat),
      responses: told(readResponse(toResponses, "events").events),
      gemini: told(readGemini(gemini.encodeStream(FACTS).push(steps), "events").events),
    },
  };
}

/** The words and the calls of an answer. */
function told(events: readonly Event[]): unknown {
  const parts = (foldEvents(events) satisfies Answer).candidates[0]?.message?.parts ?? [];
  return {
    text: parts.map(({ kind }) => (kind?.$case === "text" ? kind.value.text : "")).join(""),
    calls: parts.flatMap(({ kind }) =>
      kind?.$case === "toolCall" ? [`${kind.value.name} ${JSON.stringify(JSON.parse(kind.value.arguments))}`] : [],
    ),
  };
}

function expectSeen({ failed, seen }: Outcome, want: unknown): void {
  expect(failed).toBe(false);
  for (const [client, got] of Object.entries(seen)) expect(got, client).toEqual(want);
}

describe("is mended, since there is no doubt what is meant", () => {
  const hello = { text: "Hello", calls: [] };
  const called = { text: "", calls: ['f {"x":1}'] };
  test.each<{ name: string; events: Json[]; want: unknown }>([
    {
      name: "a beginning that holds a call already, and no end but the last event",
      events: [start("m", { content: [call("a", { x: 1 })], stop_reason: "tool_use" }), STOP],
      want: called,
    },
    {
      name: "a beginning that holds a call, which then comes again",
      events: [start("m", { content: [call("a", { x: 1 })] }), begun(0, call("a", { x: 1 })), over(0), end(), STOP],
      want: called,
    },
    {
      name: "a beginning that holds a call, and words behind it",
      events: [
        start("m", { content: [call("a", { x: 1 })] }),
        begun(1, TEXT),
        piece(1, say("Hello")),
        over(1),
        end("tool_use"),
        STOP,
      ],
      want: { ...called, text: "Hello" },
    },
    {
      name: "no reason of the end",
      events: [start("m"), begun(0, call("a")), piece(0, json('{"x":1}')), over(0), STOP],
      want: called,
    },
    {
      name: "no beginning",
      events: message("m").slice(4, 8).concat(end(), STOP),
      want: { text: "Hello you", calls: [] },
    },
    {
      name: "a beginning that comes twice",
      events: [start("m"), { type: "ping" }, start("n"), begun(0, TEXT), piece(0, say("Hello")), over(0), end(), STOP],
      want: hello,
    },
    {
      name: "a block that never ends",
      events: [start("m"), begun(0, TEXT), piece(0, say("Hello")), end(), STOP],
      want: hello,
    },
    {
      name: "words of no block",
      events: [start("m"), piece(0, say("Hel")), piece(0, say("lo")), end(), STOP],
      want: hello,
    },
    {
      name: "a number that is used twice",
      events: [
        start("m"),
        begun(0, TEXT),
        piece(0, say("Hel")),
        begun(0, TEXT),
        piece(0, say("lo")),
        over(0),
        end(),
        STOP,
      ],
      want: hello,
    },
    {
      name: "numbers with a gap",
      events: [start("m"), begun(4, TEXT), piece(4, say("Hello")), over(4), end(), STOP],
      want: hello,
    },
    {
      name: "no numbers at all",
      events: [start("m"), begun(0, TEXT), piece(0, say("Hello")), over(0), end(), STOP].map((event): Json =>
        Object.assign({}, event, { index: undefined }),
      ),
      want: hello,
    },
    {
      name: "blocks side by side",
      events: [
        start("m"),
        begun(0, call("a")),
        begun(1, TEXT),
        piece(1, say("Hel")),
        piece(0, json('{"x":')),
        over(1),
        begun(2, TEXT),
        piece(2, say("lo")),
        piece(0, json("1}")),
        over(0),
        end("tool_use"),
        STOP,
      ],
      want: { text: "Hello", calls: ['f {"x":1}'] },
    },
  ])("$name", ({ events, want }) => {
    expectSeen(outcomeOf(events), want);
  });
});

describe("is no answer", () => {
  const half = message("m").slice(0, 10);
  test.each<{ name: string; events: Json[] }>([
    { name: "another message amid a call", events: [...half, ...message("n")] },
    { name: "another message amid the words", events: [...message("m").slice(0, 6), ...message("n")] },
    {
      name: "the rest of a call that never began",
      events: [start("m"), piece(0, json('"x":1}')), over(0), end(), STOP],
    },
    { name: "words behind the end", events: [start("m"), end(), begun(0, TEXT), piece(0, say("late")), over(0), STOP] },
  ])("$name", ({ events }) => {
    const read = readStream(Buffer.from(sse(...events)), "source");
    expect(read.error?.reason).toBe("ERROR_REASON_UPSTREAM_FAILED");
    expect(read.report.complete).toBe(false);
    expect(outcomeOf(events).failed).toBe(true);
  });
});

test("events that are only named in their data are named for clients, which pass over others", () => {
  const bytes = message("m")
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join("");
  const { source } = readStream(Buffer.from(bytes), "source");
  expect(checkGrammar(source + wire.streamEnd.toString())).toEqual(["thinking", "text", "tool_use", "tool_use"]);
});

test("a message in its order passes byte for byte", () => {
  const bytes = sse(...message("m"));
  const { source } = readStream(Buffer.from(bytes), "source");
  expect(source + wire.streamEnd.toString()).toBe(bytes);
});

test("whatever is lost, doubled, moved or spliced in, every client is told the same, or that it failed", () => {
  const places = fc.nat(16);
  const change = fc.oneof(
    fc.record({ kind: fc.constantFrom("lose", "double", "renumber"), at: places, to: places }),
    fc.record({ kind: fc.constantFrom("move", "splice"), at: places, to: places }),
  );
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      let events = message("m");
      for (const { kind, at, to } of changes) {
        const event = events[at];
        if (event === undefined) continue;
        if (kind === "lose") events = events.toSpliced(at, 1);
        else if (kind === "double") events = events.toSpliced(at, 0, event);
        else if (kind === "renumber" && "index" in event) events = events.with(at, { ...event, index: to });
        else if (kind === "move") events = events.toSpliced(at, 1).toSpliced(to, 0, event);
        else if (kind === "splice") events = [...events.slice(0, at), ...message("n").slice(to % 3)];
      }
      let outcome: Outcome;
      try {
        outcome = outcomeOf(events);
      } catch (error) {
        // Pieces of a call that were lost leave what is no JSON; nobody can tell, and each client sees it for itself.
        if (error instanceof SyntaxError) return;
        throw error;
      }
      const [first, ...others] = Object.entries(outcome.seen);
      for (const [client, got] of others) expect(got, client).toEqual(first?.[1]);
    }),
    { numRuns: 400 },
  );
});

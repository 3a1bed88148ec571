/**
 * Streams whose last events tell once more what was told before, in each way that a wire has for it: every word and
 * call is read once, whatever of it the snapshot holds, and a snapshot behind nothing is the answer.
 */
import { describe, expect, test } from "vitest";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import { chatReader } from "../conformance/readers/openai-chat.js";
import { WIRES } from "../gateway/wires.js";
import { fold } from "./openai-chat/reading.js";

type Json = Readonly<Record<string, unknown>>;

/** What an answer says, each part in pieces. */
interface Said {
  readonly name: string;
  readonly thought?: readonly string[];
  readonly text?: readonly string[];
  readonly arguments?: readonly string[];
}

const SAID: readonly Said[] = [
  { name: "a text", text: ["I'll", " look"] },
  { name: "a thought and a text", thought: ["Let", " me"], text: ["yes"] },
  { name: "a call", arguments: ['{"city":', '"Oslo"}'] },
  { name: "all of it", thought: ["think"], text: ["I'll ", "look"], arguments: ['{"city"', ':"Oslo"}'] },
];
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const USAGE = { total_tokens: 30, prompt_tokens: 20, completion_tokens: 10 };
const joined = (pieces: readonly string[] = []): string => pieces.join("");

const CHAT = { id: "x", created: 1, model: "m" };
const chunkOf = (choice: object, object = "chat.completion.chunk", top: object = {}): string =>
  data({ ...CHAT, object, choices: [{ index: 0, finish_reason: null, ...choice }], ...top });
const callOf = (text: string): Json => ({
  index: 0,
  id: "call_1",
  type: "function",
  function: { name: "get_weather", arguments: text },
});

function chatDeltas({ thought = [], text = [], arguments: parts = [] }: Said): string[] {
  const calls = parts.map((part, place) => (place === 0 ? callOf(part) : { index: 0, function: { arguments: part } }));
  return [
    ...thought.map((piece) => chunkOf({ delta: { reasoning_content: piece } })),
    ...text.map((content) => chunkOf({ delta: { content } })),
    ...calls.map((call) => chunkOf({ delta: { tool_calls: [call] } })),
  ];
}

function chatMessage({ thought, text, arguments: parts }: Said): Json {
  return {
    role: "assistant",
    content: joined(text),
    ...(thought === undefined ? {} : { reasoning_content: joined(thought) }),
    ...(parts === undefined ? {} : { tool_calls: [callOf(joined(parts))] }),
  };
}

/** The chunk behind the deltas, by what it holds. */
const CHAT_ENDS: readonly { readonly name: string; readonly end: (said: Said, finish_reason: string) => string }[] = [
  {
    name: "a message",
    end: (said, finish_reason) =>
      chunkOf({ message: chatMessage(said), finish_reason }, "chat.completion", { usage: USAGE }),
  },
  {
    name: "a message beside no delta",
    end: (said, finish_reason) => chunkOf({ delta: null, message: chatMessage(said), finish_reason }),
  },
  {
    name: "a message beside an empty delta",
    end: (said, finish_reason) => chunkOf({ delta: {}, message: chatMessage(said), finish_reason }),
  },
  {
    name: "a message beside a delta that says who speaks",
    end: (said, finish_reason) =>
      chunkOf({ delta: { role: "assistant", content: "" }, message: chatMessage(said), finish_reason }),
  },
  {
    name: "a message and its text once more",
    end: (said, finish_reason) => chunkOf({ message: chatMessage(said), text: joined(said.text), finish_reason }),
  },
];

function read(name: keyof typeof WIRES, stream: string): Record<string, unknown> {
  const decoder = WIRES[name].decodeStream(FACTS, "events");
  const batches = [decoder.push(Buffer.from(stream)), decoder.end()];
  expect(batches.map(({ error }) => error)).toEqual([undefined, undefined]);
  const { text, complete } = decoder.report;
  return { ...fold(batches.flatMap(({ events }) => events)), text, complete };
}
const { facts: FACTS } = openAiChat.readRequest({
  wire: "openai-chat",
  body: Buffer.from('{"model":"m","stream":true,"messages":[{"role":"user","content":"q"}]}'),
  headers: {},
});

/** The answer as a client of the wire gets it from a family whose answers are fitted. */
function passed(stream: string): string {
  const decoder = openAiChat.decodeStream(FACTS, "fitted");
  return Buffer.concat([decoder.push(Buffer.from(stream)).source, decoder.end().source]).toString();
}

const OPENING = chunkOf({ delta: { role: "assistant", content: "" } });
const DONE = "data: [DONE]\n\n";

describe.each(SAID)("$name of a chat", (said) => {
  const reason = said.arguments === undefined ? "stop" : "tool_calls";
  const plainEnd = chunkOf({ delta: {}, finish_reason: reason });
  const want = [OPENING, ...chatDeltas(said), plainEnd, DONE].join("");
  const cases = CHAT_ENDS.flatMap(({ name, end }) =>
    [DONE, ""].flatMap((mark) => [
      { name: `${name}, ${mark.length}`, stream: [OPENING, ...chatDeltas(said), end(said, reason), mark].join("") },
      {
        name: `${name} behind the end, ${mark.length}`,
        stream: [want.replace(DONE, ""), end(said, reason), mark].join(""),
      },
      { name: `${name} behind nothing, ${mark.length}`, stream: [OPENING, end(said, reason), mark].join("") },
    ]),
  );

  test.each(cases)("then $name is read once", ({ stream }) => {
    expect(read("openai-chat", stream)).toEqual(read("openai-chat", want));
    const told = passed(stream);
    expect(told).not.toContain('"message"');
    expect(told).not.toContain('"chat.completion"');
    expect(told.split(`"finish_reason":"${reason}"`)).toHaveLength(2);
    expect(chatReader.stream(`${told}${DONE}`)).toMatchObject(
      withoutUsage(chatReader.stream(`${passed(want)}${DONE}`)),
    );
  });
});

function withoutUsage(heard: object): object {
  return Object.fromEntries(Object.entries(heard).filter(([key]) => key !== "tokens"));
}

const event = (type: string, rest: object): string => `event: ${type}\n${data({ type, ...rest })}`;

/** The items of a response: as they begin, go on, and once more whole, each by the events that repeat it. */
function responseOf({ thought, text, arguments: parts }: Said): {
  deltas: string[];
  repeats: string[][];
  items: Json[];
} {
  const deltas: string[] = [];
  const repeats: string[][] = [];
  const items: Json[] = [];
  const add = (
    item: Json,
    kind: string,
    pieces: readonly string[],
    place: object,
    repeated: readonly string[],
  ): void => {
    const at = { item_id: item["id"], output_index: items.length };
    deltas.push(event("response.output_item.added", { ...at, item: { ...item, ...emptied(item) } }));
    for (const delta of pieces) deltas.push(event(`response.${kind}.delta`, { ...at, ...place, delta }));
    repeats.push([...repeated, event("response.output_item.done", { ...at, item })]);
    items.push(item);
  };
  if (thought !== undefined) {
    const whole = { type: "summary_text", text: joined(thought) };
    const place = { item_id: "rs_1", output_index: 0, summary_index: 0 };
    add({ id: "rs_1", type: "reasoning", summary: [whole] }, "reasoning_summary_text", thought, { summary_index: 0 }, [
      event("response.reasoning_summary_text.done", { ...place, text: whole.text }),
      event("response.reasoning_summary_part.done", { ...place, part: whole }),
    ]);
  }
  if (text !== undefined) {
    const whole = { type: "output_text", text: joined(text), annotations: [] };
    const place = { item_id: "msg_1", output_index: items.length, content_index: 0 };
    const item = { id: "msg_1", type: "message", role: "assistant", content: [whole] };
    add(item, "output_text", text, { content_index: 0 }, [
      event("response.output_text.done", { ...place, text: whole.text }),
      event("response.content_part.done", { ...place, part: whole }),
    ]);
  }
  if (parts !== undefined) {
    const item = { id: "fc_1", type: "function_call", call_id: "c1", name: "get", arguments: joined(parts) };
    const place = { item_id: "fc_1", output_index: items.length };
    add(item, "function_call_arguments", parts, {}, [
      event("response.function_call_arguments.done", { ...place, arguments: item.arguments }),
    ]);
  }
  return { deltas, repeats, items };
}

/** What an item holds before anything of it came. */
function emptied(item: Json): Json {
  return {
    ...("summary" in item ? { summary: [] } : {}),
    ...("content" in item ? { content: [] } : {}),
    ...calls(item),
  };
}

function calls(item: Json): Json {
  return "arguments" in item ? { arguments: "" } : {};
}

describe.each(SAID)("$name of a response", (said) => {
  const { deltas, repeats, items } = responseOf(said);
  const response = { id: "resp_1", object: "response", created_at: 1, model: "m" };
  const opening = event("response.created", { response: { ...response, status: "in_progress", output: [] } });
  const end = (output: readonly Json[]): string =>
    event("response.completed", { response: { ...response, status: "completed", output } });
  const want = read("openai-responses", [opening, ...deltas, end([])].join(""));

  test.each([
    { name: "every event that repeats", stream: [opening, ...deltas, ...repeats.flat(), end(items)] },
    { name: "the items", stream: [opening, ...deltas, ...repeats.flatMap((all) => all.slice(-1)), end([])] },
    { name: "the response", stream: [opening, ...deltas, end(items)] },
    { name: "the response behind nothing", stream: [opening, end(items)] },
  ])("then $name is read once", ({ stream }) => {
    expect(read("openai-responses", stream.join(""))).toEqual(want);
  });
});

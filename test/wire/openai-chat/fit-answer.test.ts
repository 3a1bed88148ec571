/** Answers of upstreams that are not quite what a client of OpenAI's is promised, as such a client gets them. */
import { describe, expect, test } from "vitest";
import { families } from "../../../src/families/index.js";
import { wire } from "../../../src/wire/openai-chat/index.js";
import { chatReader, looseChatReader } from "../../conformance/readers/openai-chat.js";
import { FACTS } from "./bodies.js";
import { chunk, sse } from "./reading.js";
import { answers, recordingsNote, streams } from "./recordings.js";

type Told = Readonly<Record<string, unknown>>;
const ASKED = { ...FACTS, includeUsage: true };

function pass(stream: string, form: "source" | "fitted"): string {
  const decoder = wire.decodeStream(ASKED, form);
  const batches = [decoder.push(Buffer.from(stream)), decoder.end()];
  expect(batches.map(({ error }) => error)).toEqual([undefined, undefined]);
  return Buffer.concat(batches.map(({ source }) => source)).toString();
}

function fitted(...chunks: object[]): Told[] {
  const text = pass(sse(...chunks, "[DONE]"), "fitted");
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!) as Told);
}

function deltas(...told: object[]): unknown[] {
  const opened = chunk({ role: "assistant", content: "" });
  // Before them it opens, and behind them comes the end that none of them told.
  return fitted(opened, ...told.map((delta) => chunk(delta)))
    .slice(1, -1)
    .map(({ choices }) => (choices as Told[])[0]!["delta"]);
}

const REAL = { id: "t1", type: "function", function: { name: "get", arguments: "{}" } };

describe("a delta", () => {
  test.each([
    {
      name: "of calls without numbers gets them",
      told: [{ tool_calls: [REAL, { ...REAL, id: "t2" }] }],
      want: [
        {
          tool_calls: [
            { index: 0, ...REAL },
            { index: 1, ...REAL, id: "t2" },
          ],
        },
      ],
    },
    {
      name: "that goes on with a call without its number goes on with the last",
      told: [{ tool_calls: [REAL] }, { tool_calls: [{ function: { arguments: "x" } }] }],
      want: [{ tool_calls: [{ index: 0, ...REAL }] }, { tool_calls: [{ index: 0, function: { arguments: "x" } }] }],
    },
    {
      name: "with an empty call of each other kind beside the real one has the real one alone",
      told: [
        {
          function_call: { name: "", arguments: "" },
          tool_calls: [{ index: 0, ...REAL, custom: { name: "", input: "" } }],
        },
      ],
      want: [{ tool_calls: [{ index: 0, ...REAL }] }],
    },
    {
      name: "whose call says no type is of the kind that has a name",
      told: [{ tool_calls: [{ index: 0, id: "t", function: { name: "" }, custom: { name: "run", input: "a" } }] }],
      want: [{ tool_calls: [{ index: 0, id: "t", type: "custom", custom: { name: "run", input: "a" } }] }],
    },
    {
      name: "with a call that has no name has no call",
      told: [{ content: "a", tool_calls: [{ index: 0, id: "t", type: "function", function: { name: "" } }] }],
      want: [{ content: "a" }],
    },
    {
      name: "whose call gets its name later tells it then",
      told: [
        { tool_calls: [{ index: 0, id: "t", function: { arguments: "{" } }] },
        { tool_calls: [{ index: 0, function: { name: "get", arguments: "}" } }] },
      ],
      want: [{}, { tool_calls: [{ index: 0, id: "t", type: "function", function: { name: "get", arguments: "{}" } }] }],
    },
    {
      name: "that goes on with empty names and no id says none",
      told: [
        { tool_calls: [{ index: 0, ...REAL }] },
        { tool_calls: [{ index: 0, id: "", type: null, function: { name: "", arguments: "x" } }] },
      ],
      want: [{ tool_calls: [{ index: 0, ...REAL }] }, { tool_calls: [{ index: 0, function: { arguments: "x" } }] }],
    },
    {
      name: "with arguments as an object has them as text",
      told: [{ tool_calls: [{ index: 0, ...REAL, function: { name: "get", arguments: { a: 1 } } }] }],
      want: [{ tool_calls: [{ index: 0, ...REAL, function: { name: "get", arguments: '{"a":1}' } }] }],
    },
    {
      name: "of a thought and a text in pieces has them in members of their own",
      told: [
        {
          content: [
            { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
            { type: "text", text: "yes" },
            { type: "reference", reference_ids: [1] },
          ],
        },
      ],
      want: [
        {
          content: "yes",
          reasoning_content: "hm",
          content_parts: [{ type: "reference", reference_ids: [1] }],
        },
      ],
    },
    {
      name: "of a thought in pieces, with its proof, has no content",
      told: [{ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }], signature: "s" }] }],
      want: [{ reasoning_content: "hm", reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "s" }] }],
    },
    {
      name: "that fits keeps what it adds",
      told: [{ content: "a", reasoning: "b", x_own: { y: [1] } }],
      want: [{ content: "a", reasoning: "b", x_own: { y: [1] } }],
    },
  ])("$name", ({ told, want }) => {
    expect(deltas(...told)).toEqual(want);
  });
});

describe.each(["", null, "model", "system", 7, "assistant", undefined])("a role of %j", (role) => {
  const texts = ["a", "b", "c", "d", "e", "f"];
  const withRole = (members: object): object => (role === undefined ? members : { role, ...members });

  test.each([true, false])("behind an opening (%j) is told once, as the assistant's", (isOpened) => {
    const opening = isOpened ? [chunk({ role: "assistant", content: "" })] : [];
    const told = fitted(...opening, ...texts.map((content) => chunk(withRole({ content }))));
    const got = told.slice(0, -1).map(({ choices }) => (choices as Told[])[0]!["delta"] as Told);
    expect(got.map(({ content }) => content).join("")).toBe(texts.join(""));
    const roles = got.map((delta) => ("role" in delta ? delta["role"] : undefined));
    const rest = role === "assistant" ? "assistant" : undefined;
    expect(roles).toEqual(roles.map((_, place) => (place === 0 ? "assistant" : rest)));
  });

  test("of a whole answer is the assistant's", () => {
    const body = { id: "c", created: 1, model: "m", choices: [{ message: withRole({ content: "a" }) }] };
    const { source } = wire.decodeAnswer(Buffer.from(JSON.stringify(body)), undefined, "fitted");
    expect(JSON.parse(source!.toString())).toMatchObject({ choices: [{ message: { role: "assistant" } }] });
  });
});

describe("a chunk", () => {
  const first = (...chunks: object[]): Told => (fitted(...chunks)[0]!["choices"] as Told[])[0]!;
  const last = (...chunks: object[]): unknown => (fitted(...chunks).at(-1)!["choices"] as Told[])[0]!["finish_reason"];

  test("without the number of its choice gets it, and the first says who speaks", () => {
    const told = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
    const got = first({ ...told, choices: [{ delta: { content: "a" }, finish_reason: null }] });
    expect(got).toEqual({ index: 0, delta: { content: "a", role: "assistant" }, finish_reason: null });
  });

  test("without choices has none", () => {
    expect(fitted({ id: "c", usage: { prompt_tokens: 1 } })).toEqual([
      { id: "c", usage: { prompt_tokens: 1 }, choices: [] },
    ]);
  });

  test.each([
    { name: "a word that clients know", reason: "length", want: "length" },
    { name: "a word of Mistral's", reason: "model_length", want: "length" },
    { name: "a word that nobody knows", reason: "eos", want: "stop" },
    { name: "no word", reason: "", want: "stop" },
    { name: "calls that never came", reason: "tool_calls", want: "stop" },
  ])("that ends with $name says what clients know", ({ reason, want }) => {
    expect(last(chunk({ role: "assistant", content: "a" }, { finish_reason: reason }))).toBe(want);
  });

  test("that stops behind a call says so", () => {
    const called = chunk({ role: "assistant", content: null, tool_calls: [{ index: 0, ...REAL }] });
    expect(last(called, chunk({}, { finish_reason: "stop" }))).toBe("tool_calls");
  });
});

test("a whole answer is fitted alike", () => {
  const message = {
    content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }],
    tool_calls: [{ id: "t", function: { name: "get", arguments: { a: 1 } } }],
    function_call: {},
  };
  const body = { id: "c", created: 1, model: "m", choices: [{ message, finish_reason: "stop" }] };
  const { source } = wire.decodeAnswer(Buffer.from(JSON.stringify(body)), undefined, "fitted");
  expect((JSON.parse(source!.toString()) as Told)["choices"]).toEqual([
    {
      index: 0,
      message: {
        role: "assistant",
        content: null,
        refusal: null,
        reasoning_content: "hm",
        tool_calls: [{ id: "t", type: "function", function: { name: "get", arguments: '{"a":1}' } }],
      },
      finish_reason: "tool_calls",
      logprobs: null,
    },
  ]);
});

/** An answer with the members that some leave out where they say nothing. */
function withNulls(body: string): unknown {
  const told = JSON.parse(body) as Told;
  const choices = (told["choices"] as Told[]).map((choice) => {
    const message = Object.assign({ refusal: null }, choice["message"]);
    return Object.assign({ logprobs: null }, choice, { message });
  });
  return { ...told, choices };
}

describe.runIf(streams.length > 0)(recordingsNote, () => {
  const promised = ({ name }: { readonly name: string }): string | undefined => {
    const folder = name.split("/")[0];
    return families.find((family) => family.name === (folder === "cassettes" ? "openai" : folder))?.answers;
  };
  const good = <Recorded extends { readonly status: number }>(all: readonly Recorded[]): Recorded[] =>
    all.filter(({ status }) => status === 200);

  test("there are streams of families of both kinds", () => {
    expect(new Set(streams.map(promised))).toEqual(new Set(["exact", "fitted"]));
  });

  test.each(good(streams))("$name is what its family says", (recorded) => {
    const text = pass(recorded.body, "fitted");
    const heard = chatReader.stream(`${text}data: [DONE]\n\n`);
    expect(heard).toEqual(looseChatReader.stream(recorded.body));
    if (promised(recorded) === "exact") expect(text).toBe(pass(recorded.body, "source"));
  });

  test.each(good(answers))("$name is what its family says, whole", (recorded) => {
    const { source } = wire.decodeAnswer(Buffer.from(recorded.body), undefined, "fitted");
    // What their makers leave out where it is null is no loss to anybody.
    if (promised(recorded) === "exact")
      expect(withNulls(source?.toString() ?? recorded.body)).toEqual(withNulls(recorded.body));
    expect(chatReader.answer(source?.toString() ?? recorded.body)).toEqual(looseChatReader.answer(recorded.body));
  });
});

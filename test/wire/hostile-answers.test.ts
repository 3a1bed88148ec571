/** Answers of upstreams that number, name and place things as no honest one does: the work they make is bounded. */
import { afterEach, describe, expect, test, vi } from "vitest";
import type { GatewayError } from "../../src/base/errors.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import { wire as openAiCompletions } from "../../src/wire/openai-completions/index.js";
import { wire as openAiResponses } from "../../src/wire/openai-responses/index.js";
import type { AnswerForm, RequestFacts } from "../../src/wire/wire.js";
import { codeOf } from "../../src/wire/error/code.js";

const FACTS: RequestFacts = {
  model: "m",
  stream: true,
  includeUsage: true,
  candidateCount: 1,
  outputTokensMax: undefined,
  textBytes: 0,
  imageCount: 0,
  fileCount: 0,
  audioCount: 0,
};
type Wire = Pick<typeof openAiChat, "decodeStream" | "name">;

const many = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index));
const geminiCall = (pieces: readonly object[]): object => ({
  candidates: [{ content: { parts: [{ functionCall: { name: "f", partialArgs: pieces } }] }, finishReason: "STOP" }],
});
const chatCalls = (calls: readonly object[]): object => ({
  id: "c",
  choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: null }],
});

/** How many pieces each has is `size`. */
const ANSWERS: readonly [name: string, wire: Wire, size: number, event: (size: number) => object][] = [
  [
    "lists whose last item alone is told",
    gemini,
    400,
    (size) => geminiCall(many(size, (index) => ({ jsonPath: `$.a${index}[99999]`, numberValue: 1 }))),
  ],
  [
    "lists in lists whose last item alone is told",
    gemini,
    400,
    (size) => geminiCall(many(size, (index) => ({ jsonPath: `$.a[${index}][9999]`, numberValue: 1 }))),
  ],
  ["a path that never ends", gemini, 60_000, (size) => geminiCall([{ jsonPath: '["x'.repeat(size), numberValue: 1 }])],
  [
    "many short paths that never end",
    gemini,
    2_000,
    (size) => geminiCall(many(size, () => ({ jsonPath: '["x'.repeat(100), numberValue: 1 }))),
  ],
  [
    "candidates of other numbers",
    gemini,
    20_000,
    (size) => ({ candidates: many(size, (index) => ({ index, content: { parts: [{ text: "a" }] } })) }),
  ],
  [
    "choices of other numbers",
    openAiChat,
    20_000,
    (size) => ({ id: "c", choices: many(size, (index) => ({ index: index * 7, delta: { content: "a" } })) }),
  ],
  [
    "choices of a completion",
    openAiCompletions,
    20_000,
    (size) => ({ id: "c", choices: many(size, (index) => ({ index, text: "a" })) }),
  ],
  [
    "fragments of many calls, by their numbers",
    openAiChat,
    20_000,
    (size) => chatCalls(many(size, (index) => ({ index: index % 1_000, function: { name: "f", arguments: "1" } }))),
  ],
  [
    "fragments of many calls, by their ids",
    openAiChat,
    20_000,
    (size) => chatCalls(many(size, (index) => ({ id: `c${index % 1_000}`, function: { arguments: "1" } }))),
  ],
  [
    "counts of tools that nobody has",
    anthropic,
    20_000,
    (size) => ({
      type: "message_start",
      message: {
        type: "message",
        role: "assistant",
        usage: {
          input_tokens: 1,
          output_tokens: 1,
          server_tool_use: Object.fromEntries(many(size, (index) => [`t${index}_requests`, 1])),
        },
      },
    }),
  ],
  [
    "items of other numbers",
    openAiResponses,
    20_000,
    (size) => ({
      type: "response.completed",
      response: { id: "r", output: many(size, () => ({ type: "message", content: [] })) },
    }),
  ],
];

const FORMS: readonly AnswerForm[] = ["events", "source", "fitted"];

afterEach(() => vi.restoreAllMocks());

/** Elements that searches of lists had before them: what makes reading quadratic, counted rather than timed. */
function countSearches(): () => number {
  let elements = 0;
  for (const method of ["find", "findLast", "findIndex", "findLastIndex"] as const) {
    const plain: unknown = Array.prototype[method];
    vi.spyOn(Array.prototype, method).mockImplementation(function (this: unknown[], ...given: unknown[]) {
      elements += this.length;
      return Reflect.apply(plain as (...given: unknown[]) => never, this, given);
    });
  }
  return () => elements;
}

describe.each(ANSWERS)("%s of %#", (_name, { decodeStream, name }, size, event) => {
  test.each(FORMS)(`${name} makes no more of it than came, as %s`, (form) => {
    const data = Buffer.from(`data: ${JSON.stringify(event(size))}\n\n`);
    const searched = countSearches();
    const decoder = decodeStream(FACTS, form);
    const batches = [decoder.push(data), decoder.end()];
    const made = JSON.stringify(batches.map(({ events }) => events)).length;
    expect(made).toBeLessThan(20 * data.length + 600_000);
    // A candidate is one of 128, and a call is looked for once or twice.
    expect(searched()).toBeLessThan(256 * size + 10_000);
  });
});

describe("places of arguments", () => {
  const argumentsOf = (pieces: readonly object[]): string => {
    const decoder = gemini.decodeStream(FACTS, "events");
    const { events, error } = decoder.push(Buffer.from(`data: ${JSON.stringify(geminiCall(pieces))}\n\n`));
    expect(error).toBeUndefined();
    return events.map(({ kind }) => (kind?.$case === "toolCallDelta" ? kind.value.arguments : "")).join("");
  };

  test.each([
    ["$.city", '{"city":1}'],
    ["$.a[1].b", '{"a":[null,{"b":1}]}'],
    ["$['a b'][\"c.d\"]", '{"a b":{"c.d":1}}'],
    ["$.a[0][1]", '{"a":[[null,1]]}'],
    ["$.__proto__.x", '{"__proto__":{"x":1}}'],
  ])("%s is read", (jsonPath, json) => {
    expect(argumentsOf([{ jsonPath, numberValue: 1 }])).toBe(json);
  });

  test("a list of many items comes whole", () => {
    const json = argumentsOf(many(5_000, (index) => ({ jsonPath: `$.a[${index}]`, numberValue: index })));
    expect(JSON.parse(json)).toEqual({ a: many(5_000, (index) => index) });
  });
});

const HOST = "10.1.2.3:8443";
const KEY = "sk-live_51H8abcdefghijklmnopqrstuvwx";

/** All that a client may read of a refusal. */
function told(error: GatewayError | undefined): string {
  return JSON.stringify([error?.message, error?.param, error && codeOf(error), error?.metadata]);
}

describe("what an upstream says in a refusal reaches no client with its key or its host", () => {
  const words = [`${HOST} ${KEY}`, KEY, `contents.${KEY}`, "AIzaSyA1234567890abcdefghijklmnopqrstuv"];
  test.each(words)("%s", (word) => {
    const secrets = [HOST, KEY, "AIzaSyA1234567890"];
    const openAiError = { error: { message: word, type: word, param: word, code: word } };
    const googleError = {
      error: { code: 400, status: word, message: word, details: [{ fieldViolations: [{ field: word }] }] },
    };
    const anthropicError = { type: "error", error: { type: word, message: word, details: { error_code: word } } };
    const errors = [openAiChat, openAiResponses, anthropic, gemini].flatMap((wire) =>
      [openAiError, googleError, anthropicError].flatMap((body) =>
        [400, 404, 422, 500].map((status) => wire.decodeError(status, {}, Buffer.from(JSON.stringify(body)))),
      ),
    );
    for (const secret of secrets) expect(errors.map(told).join("")).not.toContain(secret);
  });

  test.each(["response.completed", "response.incomplete"])("nor in a failed response that is called %s", (type) => {
    const error = { code: "server_error", message: `no connection to ${HOST} with ${KEY}` };
    for (const response of [
      { id: "r", status: "failed", error, output: [] },
      { id: "r", status: "failed", output: [] },
      { id: "r", status: `${HOST} ${KEY}`, output: [] },
    ]) {
      const delta = { type: "response.output_text.delta", output_index: 0, delta: "Hal" };
      const text = [delta, { type, response }].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      for (const form of ["events", "source"] as const) {
        const decoder = openAiResponses.decodeStream(FACTS, form);
        const batches = [decoder.push(Buffer.from(text)), decoder.end()];
        const failure = batches.find((batch) => batch.error !== undefined)?.error;
        expect(failure).toBeDefined();
        expect(decoder.report.complete).toBe(false);
        const bytes = batches.map(({ source }) => source.toString()).join("") + String(decoder.report.ending ?? "");
        for (const secret of [HOST, KEY]) expect(told(failure) + bytes).not.toContain(secret);
      }
    }
  });
});

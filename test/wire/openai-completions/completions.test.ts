/** The wire of completions: what it reads, what a chat can answer, and that its answers come back as they were. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Event } from "../../../src/api/index.js";
import { foldEvents } from "../../../src/api/answer-fold.js";
import { NO_USAGE } from "../../../src/api/usage.js";
import { wire } from "../../../src/wire/openai-completions/index.js";
import type { WireRequest } from "../../../src/wire/wire.js";

function read(body: unknown): WireRequest {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return wire.readRequest({ wire: wire.name, body: bytes, headers: {} });
}

function refusal(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

describe("requests", () => {
  test("their facts: sixteen tokens where the client does not say, for each prompt and candidate", () => {
    expect(read({ model: "m", prompt: "x" }).facts).toMatchObject({
      model: "m",
      stream: false,
      includeUsage: false,
      candidateCount: 1,
      outputTokensMax: 16,
      inputCount: 1,
    });
    const many = { model: "m", prompt: ["a", "b", "c"], n: 2, best_of: 4, max_tokens: 0, stream: true };
    expect(read({ ...many, stream_options: { include_usage: true } }).facts).toMatchObject({
      stream: true,
      includeUsage: true,
      candidateCount: 12,
      outputTokensMax: 0,
      inputCount: 3,
    });
    expect(read({ model: "m", prompt: [1, 2] }).facts.inputCount).toBe(1);
    expect(read({ model: "m", prompt: [[1], [2, 3]] }).facts.inputCount).toBe(2);
  });

  test("as a chat they are what the user says", () => {
    const body = {
      model: "m",
      prompt: "Once",
      temperature: 0.5,
      top_p: 0.25,
      presence_penalty: -1,
      frequency_penalty: 2,
      logit_bias: { "50256": -100 },
      seed: 7,
      stop: ["\n"],
      logprobs: 3,
      n: 2,
      user: "me",
    };
    expect(read(body).prompt()).toMatchObject({
      messages: [{ parts: [{ kind: { $case: "text", value: { text: "Once" } } }] }],
      temperature: 0.5,
      topP: 0.25,
      presencePenalty: -1,
      frequencyPenalty: 2,
      logitBias: { "50256": -100 },
      seed: 7n,
      stop: ["\n"],
      logprobs: true,
      topLogprobs: 3,
      candidateCount: 2,
      user: "me",
    });
    expect(refusal(() => read(body).checkForeign?.("m"))).toBeUndefined();
  });

  test.each([
    { body: { prompt: ["a", "b"] }, param: "prompt" },
    { body: { prompt: [1, 2] }, param: "prompt" },
    { body: { prompt: "a", suffix: "b" }, param: "suffix" },
    { body: { prompt: "a", echo: true }, param: "echo" },
    { body: { prompt: "a", best_of: 2 }, param: "best_of" },
  ])("no chat can answer $param of $body", ({ body, param }) => {
    const request = read({ model: "m", ...body });
    expect(refusal(() => request.checkForeign?.("m"))).toMatchObject({
      reason: "ERROR_REASON_PARAMETER_UNSUPPORTED",
      param,
    });
  });

  test.each([
    { name: "no model", body: { prompt: "x" }, param: "model" },
    { name: "no prompt", body: { model: "m" }, param: "prompt" },
    { name: "an empty array", body: { model: "m", prompt: [] }, param: "prompt" },
    { name: "an empty array of tokens", body: { model: "m", prompt: [[]] }, param: "prompt" },
    { name: "a mix", body: { model: "m", prompt: ["x", 1] }, param: "prompt" },
    { name: "half a token", body: { model: "m", prompt: [1.5] }, param: "prompt" },
    { name: "a prompt of no kind", body: { model: "m", prompt: 1 }, param: "prompt" },
    { name: "fewer than no tokens", body: { model: "m", prompt: "x", max_tokens: -1 }, param: "max_tokens" },
    { name: "half an answer", body: { model: "m", prompt: "x", n: 1.5 }, param: "n" },
    { name: "fewer than wanted", body: { model: "m", prompt: "x", n: 3, best_of: 2 }, param: "best_of" },
    { name: "heat", body: { model: "m", prompt: "x", temperature: 3 }, param: "temperature" },
    { name: "a stop of no kind", body: { model: "m", prompt: "x", stop: [1] }, param: "stop" },
    {
      name: "options without a stream",
      body: { model: "m", prompt: "x", stream_options: {} },
      param: "stream_options",
    },
    { name: "a bias of no kind", body: { model: "m", prompt: "x", logit_bias: { a: 101 } }, param: "logit_bias.a" },
    { name: "an equal key", body: '{"model":"m","prompt":"x","prompt":"y"}', param: null },
    { name: "no JSON", body: '{"model":', param: null },
    { name: "nothing", body: "", param: null },
    { name: "an array", body: "[]", param: null },
  ])("$name is refused", ({ body, param }) => {
    expect(refusal(() => read(body))).toMatchObject({ http: 400, param });
  });

  test("to an upstream of the wire they go as they came, with what the gateway owns", () => {
    const raw = '{ "prompt" : ["a"], "model":"m","max_tokens":5, "x":[1.0] }';
    const owned = { model: "m", outputTokensMax: 5, stream: false, candidateCount: 1 };
    expect(wire.encodeRequest(read(raw), owned, {}).toString()).toBe(raw);
    const lower = wire.encodeRequest(read(raw), { ...owned, model: "up", outputTokensMax: 3 }, {}).toString();
    expect(lower).toBe(raw.replace('"m"', '"up"').replace("5", "3"));
    const plain = read('{"prompt":"a","model":"m"}');
    const told = JSON.parse(wire.encodeRequest(plain, { ...owned, outputTokensMax: 16 }, {}).toString()) as unknown;
    expect(told).toEqual({ prompt: "a", model: "m", max_tokens: 16 });
    const streamed = read('{"prompt":"a","model":"m","max_tokens":5,"stream":true}');
    const asked = JSON.parse(wire.encodeRequest(streamed, { ...owned, stream: true }, {}).toString()) as unknown;
    expect(asked).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });
});

const ANSWER: readonly Event[] = [
  {
    kind: {
      $case: "start",
      value: { id: "cmpl-1", model: "m-2", createTime: new Date(5_000), inputTokens: undefined },
    },
  },
  { kind: { $case: "text", value: { candidate: 0, text: "Hé" } } },
  {
    kind: {
      $case: "logprobs",
      value: {
        candidate: 0,
        content: [
          { token: "H", logprob: -0.5, rawBytes: undefined, top: [token("H", -0.5), token("B", -2)] },
          { token: "é", logprob: -1, rawBytes: undefined, top: [token("é", -1)] },
        ],
        refusal: [],
      },
    },
  },
  { kind: { $case: "text", value: { candidate: 1, text: "No" } } },
  { kind: { $case: "candidateEnd", value: { candidate: 0, reason: 3, stopString: undefined } } },
  { kind: { $case: "candidateEnd", value: { candidate: 1, reason: 2, stopString: "\n" } } },
];
const USAGE = { ...NO_USAGE, inputTokens: 7n, outputTokens: 3n };
const FINISH: Event = { kind: { $case: "finish", value: { usage: USAGE, usageSource: 1, costNanos: 0n } } };

function token(text: string, logprob: number): { token: string; logprob: number; rawBytes: undefined; top: never[] } {
  return { token: text, logprob, rawBytes: undefined, top: [] };
}

describe("answers", () => {
  const request = { model: "m", prompt: "x", n: 2, stream: true, stream_options: { include_usage: true } };

  test("a stream that is written is read again, wherever it is cut", () => {
    const { facts } = read(request);
    const text = wire.encodeStream(facts).push([...ANSWER, FINISH]);
    expect(text.toString()).toMatch(/"choices":\[\],"usage":\{[^\n]*\}\n\ndata: \[DONE\]\n\n$/);
    for (const step of [1, 7, text.length]) {
      const decoder = wire.decodeStream(facts, "events");
      const events: Event[] = [];
      for (let at = 0; at < text.length; at += step) events.push(...decoder.push(text.subarray(at, at + step)).events);
      events.push(...decoder.end().events);
      expect(events).toEqual(ANSWER);
      expect(decoder.report).toMatchObject({ complete: true, usage: USAGE, text: "HéNo" });
    }
  });

  test("a whole answer that is written is read again", () => {
    const body = wire.encodeAnswer(foldEvents([...ANSWER, FINISH]));
    const answer = wire.decodeAnswer(body);
    expect(foldEvents(answer.events()).candidates).toEqual(foldEvents(ANSWER).candidates);
    expect(answer.report).toMatchObject({ complete: true, usage: USAGE, text: "HéNo" });
    expect(JSON.parse(body.toString())).toMatchObject({
      object: "text_completion",
      created: 5,
      choices: [
        {
          text: "Hé",
          index: 0,
          finish_reason: "length",
          logprobs: {
            tokens: ["H", "é"],
            token_logprobs: [-0.5, -1],
            top_logprobs: [{ H: -0.5, B: -2 }, { é: -1 }],
            text_offset: [0, 1],
          },
        },
        { text: "No", index: 1, finish_reason: "stop", logprobs: null },
      ],
    });
  });

  test("a stream that is cut is not complete, and a failure in it is told", () => {
    const { facts } = read(request);
    const text = wire.encodeStream(facts).push(ANSWER.slice(0, 5));
    const decoder = wire.decodeStream(facts, "source");
    decoder.push(text);
    decoder.end();
    expect(decoder.report.complete).toBe(false);
    const failing = wire.decodeStream(facts, "source");
    const { error } = failing.push(Buffer.from('data: {"error":{"message":"broke","type":"server_error"}}\n\n'));
    expect(error).toMatchObject({ reason: "ERROR_REASON_UPSTREAM_FAILED" });
  });

  test("what else a chat says has no place in a text", () => {
    const { facts } = read({ ...request, stream_options: undefined });
    const events: Event[] = [
      { kind: { $case: "thinking", value: { candidate: 0, text: "hm", signature: undefined } } },
      { kind: { $case: "refusal", value: { candidate: 0, text: "No." } } },
      FINISH,
    ];
    const text = wire.encodeStream(facts).push(events).toString();
    expect(text.match(/"text":"[^"]*"/g)).toEqual(['"text":"No."']);
    expect(text).not.toContain("usage");
  });
});

const folder =
  process.env["TOLLGATE_RECORDINGS"] ?? fileURLToPath(new URL("../../../../shared/recordings", import.meta.url));
const hasRecordings = existsSync(folder);

describe(hasRecordings ? "recordings" : "recordings (absent: none of them was run)", () => {
  const load = (name: string): string => readFileSync(join(folder, "openai", name), "utf8");
  // Read off the raw files by hand.
  const usage = { ...NO_USAGE, inputTokens: 14n, outputTokens: 16n };

  test.skipIf(!hasRecordings)("the whole answer, through the typed form and back", () => {
    const answer = wire.decodeAnswer(Buffer.from(load("completion-text.json")));
    const text = '\n\nThe new holiday is called "Gratitude Day" and it celebrates the importance of';
    expect(answer.report.text.trim()).toBe(text.trim());
    expect(answer.report.usage).toEqual(usage);
    const again = JSON.parse(wire.encodeAnswer(foldEvents(answer.events())).toString()) as unknown;
    expect(again).toMatchObject({ object: "text_completion", choices: [{ finish_reason: "length", index: 0 }] });
  });

  test.skipIf(!hasRecordings).each([true, false])("the stream, cut at every byte, usage asked: %s", (asked) => {
    const lines = load("completion-text.chunks.txt")
      .split("\n")
      .filter((line) => line !== "");
    const bytes = Buffer.from([...lines, "[DONE]"].map((line) => `data: ${line}\n\n`).join(""));
    const { facts } = read({ model: "m", prompt: "x", stream: true, stream_options: { include_usage: asked } });
    const stripped = lines.slice(0, -1).map((line) => `data: ${line.replace(',"usage":null', "")}\n\n`);
    const want = asked ? bytes.subarray(0, bytes.length - "data: [DONE]\n\n".length).toString() : stripped.join("");
    for (const step of [1, bytes.length]) {
      const decoder = wire.decodeStream(facts, "source");
      const sources: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += step) sources.push(decoder.push(bytes.subarray(at, at + step)).source);
      sources.push(decoder.end().source);
      expect(Buffer.concat(sources).toString()).toBe(want);
      expect(decoder.report).toMatchObject({ complete: true, usage });
    }
  });
});

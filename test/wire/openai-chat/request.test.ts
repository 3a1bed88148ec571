/** Requests: what is read of them, what is refused, and that only what the gateway owns is ever changed. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../../src/base/errors.js";
import { openAiChatDialect, wire } from "../../../src/wire/openai-chat/index.js";
import type { OwnedFields, RequestFacts, WireRequest } from "../../../src/wire/wire.js";
import { jsonText, owned } from "./bodies.js";
import { codeOf } from "../../../src/wire/error/code.js";

function read(body: string | Buffer): WireRequest {
  return wire.readRequest({ wire: wire.name, body: Buffer.from(body), headers: {} });
}

function refusal(body: string | Buffer): GatewayError {
  try {
    read(body);
  } catch (error) {
    return GatewayError.from(error);
  }
  throw new Error("it was not refused");
}

const MESSAGES = '"messages":[{"role":"user","content":"hi"}]';

/** A body with one more field. */
function having(field: string): string {
  return `{"model":"m",${MESSAGES},${field}}`;
}

describe("facts", () => {
  const plain: Partial<RequestFacts> = { model: "m", stream: false, includeUsage: false, candidateCount: 1 };

  test.each<{ name: string; body: string; want: Partial<RequestFacts> }>([
    { name: "the least", body: `{"model":"m",${MESSAGES}}`, want: { ...plain, outputTokensMax: undefined } },
    {
      name: "nulls are absent",
      body: having('"n":null,"stream":null,"max_tokens":null,"stop":null,"tools":null'),
      want: plain,
    },
    { name: "a stream", body: having('"stream":true'), want: { stream: true, includeUsage: false } },
    {
      name: "a stream with usage",
      body: having('"stream":true,"stream_options":{"include_usage":true}'),
      want: { stream: true, includeUsage: true },
    },
    {
      name: "options without usage",
      body: having('"stream_options":{"include_usage":false,"x":1},"stream":true'),
      want: { includeUsage: false },
    },
    { name: "the newer limit", body: having('"max_tokens":5,"max_completion_tokens":7'), want: { outputTokensMax: 7 } },
    {
      name: "the older limit",
      body: having('"max_tokens":5,"max_completion_tokens":null'),
      want: { outputTokensMax: 5 },
    },
    {
      name: "a limit as a float",
      body: having('"max_tokens":5e1,"n":2.0'),
      want: { outputTokensMax: 50, candidateCount: 2 },
    },
    { name: "an escaped model", body: `{"model":"\\u006d",${MESSAGES}}`, want: { model: "m" } },
  ])("$name", ({ body, want }) => {
    expect(read(body).facts).toMatchObject(want);
  });

  test("media is counted and its bytes are not", () => {
    const data = "A".repeat(1000);
    const parts = [
      { type: "text", text: "data:text" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { image_url: `data:image/png;base64,${data}`, type: "image_url" },
      { type: "file", file: { file_data: `data:application/pdf;base64,${data}`, filename: "a.pdf" } },
      { type: "input_audio", input_audio: { data, format: "wav" } },
      // What the upstream takes for text counts, whatever else stands beside it.
      { type: "text", text: "x", image_url: { url: `data:image/png;base64,${data}` } },
    ];
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: parts }] });
    const facts = read(body).facts;
    expect(facts).toMatchObject({ imageCount: 3, fileCount: 1, audioCount: 1 });
    const mediaBytes = 2 * `"data:image/png;base64,${data}"`.length + `"data:application/pdf;base64,${data}"`.length;
    expect(facts.textBytes).toBe(body.length - mediaBytes - `"${data}"`.length);
  });
});

describe("bodies that cannot be read", () => {
  test.each([
    { name: "nothing", body: "", problem: "it is empty" },
    { name: "no object", body: "[]", problem: "no JSON object" },
    { name: "a string", body: '"model"', problem: "no JSON object" },
    { name: "cut", body: '{"model":"m"', problem: "not valid JSON at byte 12" },
    { name: "more behind", body: `{"model":"m",${MESSAGES}}{}`, problem: "not valid JSON at byte 57" },
    { name: "a second model", body: `{"model":"a",${MESSAGES},"model":"b"}`, problem: "the key 'model' occurs twice" },
    {
      name: "a second model, escaped",
      body: `{"model":"a",${MESSAGES},"\\u006dodel":"b"}`,
      problem: "the key 'model' occurs twice",
    },
    { name: "a second unknown key", body: having('"x":1,"x":2'), problem: "the key 'x' occurs twice" },
    {
      name: "a second option of the stream",
      body: having('"stream":true,"stream_options":{"include_usage":true,"include_usage":false}'),
      problem: "the key 'include_usage' occurs twice",
    },
    { name: "a prototype", body: having('"x":{"__proto__":{}}'), problem: "the key '__proto__' is not allowed" },
    {
      name: "nested far too deeply",
      body: having(`"x":${"[".repeat(100_000)}${"]".repeat(100_000)}`),
      problem: "nested deeper than 64 levels",
    },
    {
      name: "messages nested far too deeply",
      body: `{"model":"m","messages":[{"role":"user","content":[{"type":"text","x":${'{"a":'.repeat(100_000)}`,
      problem: "nested deeper than 64 levels",
    },
    // The grammar is told before any field, so that a cut body is never blamed on a parameter.
    { name: "cut behind a wrong field", body: '{"model":5,"n":', problem: "not valid JSON at byte 15" },
  ])("$name", ({ body, problem }) => {
    const error = refusal(body);
    expect(error.reason).toBe("ERROR_REASON_BODY_INVALID");
    expect(error.metadata["problem"]).toBe(problem);
  });
});

describe("parameters that are refused", () => {
  test.each([
    ["{}", "model"],
    ['{"model":null,"messages":[{"role":"user"}]}', "model"],
    ['{"model":"m"}', "messages"],
    ['{"model":"m","messages":null}', "messages"],
    ['{"model":"m","messages":[{"content":"x"}]}', "messages[0].role"],
    ['{"model":"m","messages":[{"role":"user"},{"role":null}]}', "messages[1].role"],
    ['{"model":"m","messages":[{"role":"user","content":[{"text":"x"}]}]}', "messages[0].content[0].type"],
  ])("missing: %s", (body, param) => {
    const error = refusal(body);
    expect(error.reason).toBe("ERROR_REASON_PARAMETER_MISSING");
    expect(error.param).toBe(param);
  });

  test.each([
    ['{"model":"","messages":[{"role":"user"}]}', "model"],
    ['{"model":5,"messages":[{"role":"user"}]}', "model"],
    [`{"model":"${"m".repeat(257)}","messages":[{"role":"user"}]}`, "model"],
    ['{"model":"m","messages":[]}', "messages"],
    ['{"model":"m","messages":"hi"}', "messages"],
    ['{"model":"m","messages":[5]}', "messages[0]"],
    ['{"model":"m","messages":[{"role":5}]}', "messages[0].role"],
    ['{"model":"m","messages":[{"role":"user","content":5}]}', "messages[0].content"],
    ['{"model":"m","messages":[{"role":"user","content":{}}]}', "messages[0].content"],
    ['{"model":"m","messages":[{"role":"user"},{"role":"user","content":["x"]}]}', "messages[1].content[0]"],
    [having('"temperature":2.1'), "temperature"],
    [having('"temperature":-0.5'), "temperature"],
    [having('"temperature":"1"'), "temperature"],
    [having('"temperature":1e999'), "temperature"],
    [having('"top_p":1.5'), "top_p"],
    [having('"presence_penalty":3'), "presence_penalty"],
    [having('"frequency_penalty":-3'), "frequency_penalty"],
    [having('"n":0'), "n"],
    [having('"n":129'), "n"],
    [having('"n":1.5'), "n"],
    [having('"max_tokens":0'), "max_tokens"],
    [having('"max_tokens":"5"'), "max_tokens"],
    [having('"max_completion_tokens":-1'), "max_completion_tokens"],
    [having('"max_completion_tokens":1e300'), "max_completion_tokens"],
    [having('"top_logprobs":21'), "top_logprobs"],
    [having('"logprobs":1'), "logprobs"],
    [having('"seed":1.5'), "seed"],
    [having('"stop":5'), "stop"],
    [having('"stop":["a",5]'), "stop"],
    [having(`"stop":[${Array(17).fill('"a"').join(",")}]`), "stop"],
    [having('"stream":"true"'), "stream"],
    [having('"stream_options":{"include_usage":true}'), "stream_options"],
    [having('"stream":true,"stream_options":true'), "stream_options"],
    [having('"stream":true,"stream_options":{"include_usage":"yes"}'), "stream_options"],
    [having('"tools":{}'), "tools"],
    [having('"tools":["a"]'), "tools"],
    [having('"tool_choice":5'), "tool_choice"],
    [having('"logit_bias":[]'), "logit_bias"],
    [having('"response_format":"json"'), "response_format"],
    [having('"metadata":[]'), "metadata"],
    [having('"user":5'), "user"],
    [having('"reasoning_effort":1'), "reasoning_effort"],
    [having('"modalities":"text"'), "modalities"],
  ])("wrong: %s", (body, param) => {
    const error = refusal(body);
    expect(error.reason).toBe("ERROR_REASON_PARAMETER_INVALID");
    expect(error.param).toBe(param);
    expect(error.http).toBe(400);
  });

  test("no message at all has OpenAI's own code", () => {
    expect(codeOf(refusal('{"model":"m","messages":[]}'))).toBe("empty_array");
  });
});

describe("what goes upstream", () => {
  const encode = (body: string, fields: Partial<OwnedFields>, dialect = {}): string =>
    wire.encodeRequest(read(body), owned(fields), { ...openAiChatDialect, ...dialect }).toString();

  test.each<{ name: string; body: string; fields: Partial<OwnedFields>; dialect?: object; want: string }>([
    {
      name: "the model",
      body: `{ "model" : "m" , ${MESSAGES}}`,
      fields: { model: "up/é" },
      want: `{ "model" : "up/é" , ${MESSAGES}}`,
    },
    {
      name: "a limit where none was",
      body: having('"x":1'),
      fields: { outputTokensMax: 9 },
      want: having('"x":1,"max_completion_tokens":9'),
    },
    {
      name: "a limit in the upstream's own field",
      body: having('"x":1'),
      fields: { outputTokensMax: 9 },
      dialect: { outputTokensField: "max_tokens" },
      want: having('"x":1,"max_tokens":9'),
    },
    {
      name: "the field that the client used",
      body: having('"max_tokens":10'),
      fields: { outputTokensMax: 9 },
      want: having('"max_tokens":9'),
    },
    {
      name: "both fields",
      body: having('"max_tokens":10,"max_completion_tokens":9'),
      fields: { outputTokensMax: 9 },
      want: having('"max_tokens":9,"max_completion_tokens":9'),
    },
    {
      name: "a field that is null is absent",
      body: having('"max_tokens":null'),
      fields: { outputTokensMax: 9 },
      want: having('"max_tokens":null,"max_completion_tokens":9'),
    },
    {
      name: "the upstream's field that is null is filled",
      body: having('"max_completion_tokens":null'),
      fields: { outputTokensMax: 9 },
      want: having('"max_completion_tokens":9'),
    },
    {
      name: "the same limit, however written",
      body: having('"max_tokens":9.0'),
      fields: { outputTokensMax: 9 },
      want: having('"max_tokens":9.0'),
    },
    { name: "the number of answers", body: having('"n":3'), fields: { candidateCount: 1 }, want: having('"n":1') },
    {
      name: "usage of a stream",
      body: having('"stream":true'),
      fields: { stream: true },
      want: having('"stream":true,"stream_options":{"include_usage":true}'),
    },
    {
      name: "usage beside other options",
      body: having('"stream":true,"stream_options": { "include_obfuscation":false }'),
      fields: { stream: true },
      want: having('"stream":true,"stream_options": { "include_obfuscation":false,"include_usage":true }'),
    },
    {
      name: "usage that was refused",
      body: having('"stream_options":{"include_usage":false},"stream":true'),
      fields: { stream: true },
      want: having('"stream_options":{"include_usage":true},"stream":true'),
    },
    {
      name: "options that are null",
      body: having('"stream_options":null,"stream":true'),
      fields: { stream: true },
      want: having('"stream_options":{"include_usage":true},"stream":true'),
    },
    {
      name: "no usage where the upstream has none",
      body: having('"stream":true'),
      fields: { stream: true },
      dialect: { streamUsage: false },
      want: having('"stream":true'),
    },
    {
      name: "a stream that is made whole",
      body: having('"stream":true,"stream_options":{"include_usage":true},"x":1'),
      fields: { stream: false },
      want: having('"stream":false,"x":1'),
    },
    {
      name: "an answer that is made a stream",
      body: having('"x":1'),
      fields: { stream: true },
      want: having('"x":1,"stream":true,"stream_options":{"include_usage":true}'),
    },
  ])("changes $name", ({ body, fields, dialect, want }) => {
    expect(encode(body, fields, dialect)).toBe(want);
  });

  test("is the client's own buffer where nothing differs", () => {
    const body = Buffer.from(having('"stream":true,"stream_options":{"include_usage":true},"max_tokens":7'));
    const request = wire.readRequest({ wire: wire.name, body, headers: {} });
    expect(wire.encodeRequest(request, owned({ stream: true, outputTokensMax: 7 }), openAiChatDialect)).toBe(body);
  });

  test("is read from the body alone where another reader made the request", () => {
    const { facts, source } = read(having('"x":12345678901234567890'));
    const request: WireRequest = { facts, source, prompt: () => expect.unreachable() };
    const got = wire.encodeRequest(request, owned({ model: "other" }), openAiChatDialect).toString();
    expect(got).toBe(having('"x":12345678901234567890').replace('"model":"m"', '"model":"other"'));
  });

  test("keeps every byte that the gateway does not own", () => {
    const field = fc.tuple(fc.stringMatching(/^[a-z]{1,6}$/), jsonText).map(([key, value]) => `"x-${key}":${value}`);
    const space = fc.constantFrom("", " ", "\n\t");
    const message = fc.array(field, { maxLength: 3 }).map((fields) => `{${['"role":"user"', ...fields].join(" ,")}}`);
    const limits = fc.constantFrom("", '"max_tokens" : 100', '"max_completion_tokens":100');
    fc.assert(
      fc.property(
        fc.uniqueArray(field, { maxLength: 5, selector: (text) => text.split(":")[0] }),
        fc.array(message, { minLength: 1, maxLength: 3 }),
        fc.array(space, { minLength: 12, maxLength: 12 }),
        limits,
        fc.nat(),
        (fields, messages, gaps, limit, turn) => {
          const own = ['"model": "m"', `"messages":[ ${messages.join(" , ")} ]`, ...(limit === "" ? [] : [limit])];
          const members = [...fields, ...own];
          const first = turn % members.length;
          const turned = [...members.slice(first), ...members.slice(0, first)];
          const text = `${gaps[0]}{${turned.map((member, at) => `${gaps[at + 1]}${member}`).join(",")}${gaps[11]}}`;
          const change = { model: 'n"é', outputTokensMax: 50 };
          const want = text.replace('"model": "m"', `"model": ${JSON.stringify(change.model)}`);
          const limited =
            limit === ""
              ? want.replace(new RegExp(`${gaps[11]}}$`), () => `,"max_completion_tokens":50${gaps[11]}}`)
              : want.replace(limit, limit.replace("100", "50"));
          expect(encode(text, change)).toBe(limited);
          expect(encode(text, { outputTokensMax: limit === "" ? undefined : 100 })).toBe(text);
        },
      ),
    );
  });
});

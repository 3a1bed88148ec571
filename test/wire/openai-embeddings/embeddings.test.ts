/** The wire of vectors: what it reads of a request, and that no vector changes on its way. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { NO_USAGE } from "../../../src/api/usage.js";
import { wire } from "../../../src/wire/openai-embeddings/index.js";
import type { WireRequest } from "../../../src/wire/wire.js";

const OWNED = { model: "m", outputTokensMax: 0, stream: false, candidateCount: 1 };

function read(body: unknown): WireRequest {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return wire.readRequest({ wire: wire.name, body: bytes, headers: {} });
}

function refusal(body: unknown): unknown {
  try {
    return read(body).facts;
  } catch (error) {
    return error;
  }
}

describe("requests", () => {
  test.each([
    { name: "a text", input: "hé\n", count: 1, textBytes: '"hé\\n"'.length + 1, inputs: ["hé\n"] },
    { name: "texts", input: ["ab", ""], count: 2, textBytes: 4 + 2, inputs: ["ab", ""] },
    { name: "tokens", input: [7, 8, 9], count: 1, textBytes: 3 + 2, inputs: [[7, 8, 9]] },
    { name: "arrays of tokens", input: [[7], [8, 9]], count: 2, textBytes: 3 + 4, inputs: [[7], [8, 9]] },
  ])("$name: how many inputs, and no fewer bytes than tokens", ({ input, count, textBytes, inputs }) => {
    const request = read({ model: "m", input });
    expect(request.facts).toMatchObject({
      model: "m",
      inputCount: count,
      textBytes,
      outputTokensMax: 0,
      stream: false,
    });
    expect(request.embedding?.inputs()).toEqual(inputs);
    expect(request.embedding).toMatchObject({ encoding: "float", dimensions: undefined });
  });

  test.each([
    { name: "no model", body: { input: "x" }, param: "model" },
    { name: "an empty model", body: { model: "", input: "x" }, param: "model" },
    { name: "no input", body: { model: "m", input: null }, param: "input" },
    { name: "an empty array", body: { model: "m", input: [] }, param: "input" },
    { name: "an empty array of tokens", body: { model: "m", input: [[]] }, param: "input" },
    { name: "a mix", body: { model: "m", input: ["x", 1] }, param: "input" },
    { name: "a token below zero", body: { model: "m", input: [-1] }, param: "input" },
    { name: "half a token", body: { model: "m", input: [[1.5]] }, param: "input" },
    { name: "an object", body: { model: "m", input: {} }, param: "input" },
    { name: "too many", body: { model: "m", input: Array.from({ length: 2_049 }, () => "") }, param: "input" },
    { name: "an unknown encoding", body: { model: "m", input: "x", encoding_format: "hex" }, param: "encoding_format" },
    { name: "an encoding of no kind", body: { model: "m", input: "x", encoding_format: 1 }, param: "encoding_format" },
    { name: "no dimensions", body: { model: "m", input: "x", dimensions: 0 }, param: "dimensions" },
    { name: "half a dimension", body: { model: "m", input: "x", dimensions: "3" }, param: "dimensions" },
    { name: "a user of no kind", body: { model: "m", input: "x", user: 1 }, param: "user" },
    { name: "an equal key", body: '{"model":"m","input":"x","input":"y"}', param: null },
    { name: "no JSON", body: '{"model":1,', param: null },
    { name: "nothing", body: "", param: null },
  ])("$name is refused", ({ body, param }) => {
    expect(refusal(body)).toMatchObject({ http: 400, param });
  });

  test("a body goes upstream as it came, but for the model's name", () => {
    const raw = '{ "x":[1.0, 2],"model" : "m", "input":["a"],\n"user":null}';
    expect(wire.encodeRequest(read(raw), OWNED, {}).toString()).toBe(raw);
    const renamed = wire.encodeRequest(read(raw), { ...OWNED, model: 'a"b' }, {}).toString();
    expect(renamed).toBe(raw.replace('"m"', '"a\\"b"'));
  });
});

/** Numbers that a float32 holds. */
const vectors = fc.array(fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 8 }), {
  minLength: 1,
  maxLength: 5,
});

describe("answers", () => {
  test("what is written is read again, in either encoding, and converted without loss", () => {
    fc.assert(
      fc.property(vectors, fc.constantFrom("float", "base64"), fc.constantFrom("float", "base64"), (values, a, b) => {
        const embeddings = values.map((one) => ({ values: one.map((value) => value + 0) }));
        const usage = { ...NO_USAGE, inputTokens: 9n };
        const told = { embeddings, model: "m", usage, costNanos: 0n, source: Buffer.alloc(0) };
        const asked = (encoding_format: string): WireRequest =>
          read({ model: "m", input: values.map(() => "x"), encoding_format });
        const body = wire.encodeAnswer(told, asked(a));
        const answer = wire.decodeAnswer(body, asked(b));
        expect(answer.report).toMatchObject({ usage, complete: true });
        expect(numbers(answer.embeddings?.())).toEqual(numbers(embeddings));
        expect(answer.source === undefined).toBe(a === b);
        const converted = wire.decodeAnswer(answer.source ?? body, asked(b));
        expect(converted.source).toBeUndefined();
        expect(numbers(converted.embeddings?.())).toEqual(numbers(embeddings));
      }),
    );
  });

  test.each([
    { name: "spaces everywhere", data: '[ { "embedding" :\n [ 1 , -2.5e0 ] , "index" : 0 } ]', want: [[1, -2.5]] },
    { name: "another order", data: '[{"index":1,"embedding":[2]},{"index":0,"embedding":[1]}]', want: [[1], [2]] },
    { name: "no numbers of place", data: '[{"embedding":[1]},{"embedding":[2]}]', want: [[1], [2]] },
    { name: "the key in a text", data: '[{"x":"\\"embedding\\":[9]","embedding":[1],"index":0}]', want: [[1]] },
  ])("$name is read", ({ data, want }) => {
    expect(numbers(wire.decodeAnswer(Buffer.from(`{"data":${data}}`)).embeddings?.())).toEqual(want);
  });

  test.each([
    { name: "a page", body: "<html>" },
    { name: "no vectors", body: '{"data":[]}' },
    { name: "half an answer", body: '{"data":[{"embedding":[1,2' },
    { name: "a vector of nothing", body: '{"data":[{"embedding":[],"index":0}]}' },
    { name: "a vector of texts", body: '{"data":[{"embedding":["1"],"index":0}]}' },
    { name: "base64 that is no float32", body: '{"data":[{"embedding":"AAA=","index":0}]}' },
    { name: "one place twice", body: '{"data":[{"embedding":[1],"index":0},{"embedding":[1],"index":0}]}' },
    { name: "a place that is none", body: '{"data":[{"embedding":[1],"index":7}]}' },
    { name: "several vectors for one input", body: '{"data":[{"embedding":[[1],[2]],"index":0}]}' },
  ])("$name is no answer for a typed caller", ({ body }) => {
    expect(() => wire.decodeAnswer(Buffer.from(body)).embeddings?.()).toThrow(/upstream/);
  });

  test.each([
    { name: "beside the vector", body: `{"data":[{"embedding":[1]}],"x":[${"{},".repeat(3_000_000)}{}]}` },
    { name: "as entries", body: `{"data":[${"{},".repeat(3_000_000)}{}]}` },
    { name: "as several vectors", body: `{"data":[{"embedding":[${"[1],".repeat(3_000_000)}[1]]}]}` },
  ])("millions of values $name are not read", ({ body }) => {
    expect(() => wire.decodeAnswer(Buffer.from(body))).toThrow(/too many values/);
  });

  test("many long vectors are no such values", () => {
    const vector = `{"embedding":[${"0.5,".repeat(3_071)}0.5]}`;
    const body = Buffer.from(`{"data":[${`${vector},`.repeat(1_499)}${vector}]}`);
    const input = Array.from({ length: 1_500 }, () => "x");
    expect(wire.decodeAnswer(body, read({ model: "m", input })).source).toBeUndefined();
  });

  test("several vectors for one input pass to a client of the wire", () => {
    const body = Buffer.from('{"data":[{"embedding":[[1],[2]],"index":0}]}');
    expect(wire.decodeAnswer(body, read({ model: "m", input: "x" })).source).toBeUndefined();
  });
});

/** As float32, whose shortest decimals are told. A zero has no sign here: decimals keep none. */
function numbers(embeddings: readonly { readonly values: readonly number[] }[] | undefined): number[][] | undefined {
  return embeddings?.map(({ values }) => values.map((value) => Math.fround(value) + 0));
}

const folder =
  process.env["TOLLGATE_RECORDINGS"] ?? fileURLToPath(new URL("../../../../shared/recordings", import.meta.url));
const note = existsSync(folder) ? "recordings" : "recordings (absent: none of them was run)";

/** Read off the raw files by hand: tokens, vectors and their lengths. */
const RECORDED = [
  { name: "openai/embedding.json", encoding: "float", tokens: 12n, lengths: [5, 5], first: 0.0057293195 },
  { name: "cassettes/embeddings-basic.yaml", encoding: "float", tokens: 7n, lengths: [1536], first: 0.017608326 },
  { name: "cassettes/embeddings-base64.yaml", encoding: "base64", tokens: 7n, lengths: [1536], first: 0.017608326 },
];

describe(note, () => {
  test.skipIf(!existsSync(folder)).each(RECORDED)("$name", ({ name, encoding, tokens, lengths, first }) => {
    const text = readFileSync(join(folder, name), "utf8");
    const body = Buffer.from(name.endsWith(".yaml") ? bodyIn(text) : text);
    for (const asked of ["float", "base64"]) {
      const input = lengths.map(() => "x");
      const answer = wire.decodeAnswer(body, read({ model: "m", input, encoding_format: asked }));
      expect(answer.report.usage).toEqual({ ...NO_USAGE, inputTokens: tokens });
      expect(answer.embeddings?.().map(({ values }) => values.length)).toEqual(lengths);
      expect(Math.fround(answer.embeddings?.()[0]?.values[0] ?? 0)).toBe(Math.fround(first));
      expect(answer.source === undefined).toBe(asked === encoding);
      if (answer.source === undefined) continue;
      const converted = wire.decodeAnswer(answer.source, read({ model: "m", input, encoding_format: asked }));
      expect(numbers(converted.embeddings?.())).toEqual(numbers(answer.embeddings?.()));
    }
  });
});

interface Cassette {
  readonly interactions: readonly { readonly response: { readonly body: string } }[];
}

function bodyIn(text: string): string {
  return (parse(text) as Cassette).interactions[0]?.response.body ?? "";
}

/** JSON that a template recognizes is, for a parser, the earlier one with another text: whatever its bytes are. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { TextTemplate } from "../../../src/wire/json/text-template.js";
import { parsed } from "../../../src/wire/json/value.js";
import { bySweep } from "../../support/sweep.js";

const TEXT = ["choices", 0, "delta", "content"] as const;
const NOISE = ["noise"] as const;

function templateOf(json: string): TextTemplate | undefined {
  return TextTemplate.of(Buffer.from(json), TEXT, [NOISE]);
}

function chunk(content: string, more = ""): string {
  return `{"id":"a", "choices" : [ {"index":0,"delta":{"content":${content}},"end":null}]${more}}`;
}

describe("a chunk like the one before", () => {
  test.each([
    { name: "another text", json: chunk('"of it"'), want: "of it" },
    { name: "no text", json: chunk('""'), want: "" },
    { name: "signs of several bytes", json: chunk('"é😀\u2028"'), want: "é😀\u2028" },
    { name: "escapes", json: chunk('"a\\n\\"\\u00e9\\\\"'), want: 'a\n"é\\' },
    { name: "half a pair", json: chunk('"\\ud83d"'), want: "\ud83d" },
    { name: "an escape that is none", json: chunk('"\\x"'), want: undefined },
    { name: "an escape that is cut", json: chunk('"\\u12"'), want: undefined },
    { name: "a line end in the text", json: chunk('"a\nb"'), want: undefined },
    { name: "no string", json: chunk("null"), want: undefined },
    { name: "another space", json: chunk(' "x"'), want: undefined },
    { name: "another end", json: chunk('"x"').replace("null", '"stop"'), want: undefined },
    { name: "another member", json: chunk('"x","content":"y"'), want: undefined },
    { name: "more behind it", json: `${chunk('"x"')} `, want: undefined },
    { name: "a piece of it", json: chunk('"x"').slice(0, -1), want: undefined },
    { name: "no end of the text", json: chunk('"x').slice(0, 60), want: undefined },
  ])("$name", ({ json, want }) => {
    expect(templateOf(chunk('"first"'))?.read(Buffer.from(json))).toBe(want);
  });

  test("text beside what always differs and means nothing", () => {
    const template = templateOf(chunk('"first"', ',"noise":"abc"'));
    expect(template?.read(Buffer.from(chunk('"x"', ',"noise":"\\u0064"')))).toBe("x");
    expect(template?.read(Buffer.from(chunk('"x"', ',"noise":1')))).toBeUndefined();
  });
});

test.each([
  { name: "a text twice", json: chunk('"a","content":"b"') },
  { name: "a text twice, once escaped", json: chunk('"a","\\u0063ontent":"b"') },
  { name: "choices twice", json: chunk('"a"', ',"choices":[]') },
  { name: "two choices", json: chunk('"a"').replace("]", ",1]") },
  { name: "no choice", json: '{"choices":[]}' },
  { name: "a text that is none", json: chunk("{}") },
  { name: "no object", json: "[]" },
  { name: "no JSON", json: chunk('"a"').slice(1) },
  { name: "bytes that are no text", json: Buffer.from(chunk('"a\xff"'), "latin1") },
])("there is no template of $name", ({ json }) => {
  expect(TextTemplate.of(Buffer.from(json), TEXT)).toBeUndefined();
});

/** A string, spelled in one of the ways in which JSON can. */
const spelled = fc
  .array(fc.tuple(fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), fc.boolean()), { maxLength: 8 })
  .map((signs) => {
    const texts = signs.map(([sign, isEscaped]) => {
      const hex = (at: number): string => sign.charCodeAt(at).toString(16).padStart(4, "0");
      if (isEscaped) return Array.from({ length: sign.length }, (_, at) => `\\u${hex(at)}`).join("");
      return JSON.stringify(sign).slice(1, -1);
    });
    return `"${texts.join("")}"`;
  });
const space = fc.constantFrom("", "", " ", "\t", "\r\n  ");
const members = fc.dictionary(fc.constantFrom("a", "id", "usage", "index", 'q"', "é"), fc.jsonValue({ maxDepth: 2 }));

/** A chunk with anything around its text, which is left open. */
const frames = fc
  .record({ before: members, after: members, beside: members, gap: space })
  .map(({ before, after, beside, gap }) => {
    const told = (object: object): string => JSON.stringify(object, undefined, gap).slice(1, -1).trim();
    const list = (...texts: readonly string[]): string => texts.filter((text) => text !== "").join(`,${gap}`);
    return (content: string, noise: string): string => {
      const delta = `{${list(told(beside), `"content"${gap}:${gap}${content}`)}}`;
      const choice = `{${list(`"delta":${gap}${delta}`, told(after))}${gap}}`;
      return `${gap}{${list(told(before), `"choices":[${gap}${choice}${gap}]`, `"noise":${noise}`)}}${gap}`;
    };
  });

/** What a parser makes of a chunk, its text and its noise apart. */
function readings(value: unknown): { readonly text: unknown; readonly rest: string } {
  let text: unknown;
  const rest = JSON.stringify(value, (key, inner: unknown) => {
    if (key === "content" && text === undefined) text = inner;
    return key === "content" || key === "noise" ? 0 : inner;
  });
  return { text, rest };
}

test("what is recognized is for a parser the same but for its text, whichever bytes were changed", () => {
  let recognized = 0;
  const bytes = fc.uint8Array({ maxLength: 3 }).map(Buffer.from);
  const edit = fc.record({
    at: fc.nat(),
    cut: fc.nat({ max: 3 }),
    put: fc.oneof(fc.constantFrom("", '"', "\\", ",", "}", "]", " ", "\n").map(Buffer.from), bytes),
  });
  fc.assert(
    fc.property(
      frames,
      fc.array(spelled, { minLength: 4, maxLength: 4 }),
      fc.option(edit),
      (frame, strings, change) => {
        const [first = "", firstNoise = "", text = "", noise = ""] = strings;
        const earlier = Buffer.from(frame(first, firstNoise));
        let bytes = Buffer.from(frame(text, noise));
        if (change !== null) {
          const at = change.at % bytes.length;
          bytes = Buffer.concat([bytes.subarray(0, at), change.put, bytes.subarray(at + change.cut)]);
        }
        const template = TextTemplate.of(earlier, TEXT, [NOISE]);
        const read = template?.read(bytes);
        if (template !== undefined && change === null) expect(read).toBe(JSON.parse(text));
        if (read === undefined) return;
        recognized++;
        const told = readings(parsed(bytes.toString()));
        expect(told.text).toBe(read);
        expect(told.rest).toBe(readings(parsed(earlier.toString())).rest);
      },
    ),
    { numRuns: bySweep({ short: 500, long: 2_000, all: 2_000 }) },
  );
  expect(recognized).toBeGreaterThan(100);
});
